#!/bin/sh
# Make .venv with a Python of at least 3.11, and install the pinned packages of the files named.
# Usage: scripts/venv.sh requirements.txt [requirements-dev.txt]
set -eu
cd "$(dirname "$0")/.."

usable() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

python=""
for name in "${PYTHON:-}" python3 python3.11 python3.12 python3.13; do
    if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1 && usable "$name"; then
        python=$name
        break
    fi
done
if [ -z "$python" ]; then
    echo "Python 3.11 or newer was not found: install it, or name it with PYTHON=/path/to/python3." >&2
    exit 1
fi

if [ ! -x .venv/bin/pip ]; then
    # Debian keeps venv in a package of its own.
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        sh scripts/debian.sh "python$version-venv"
    fi
    "$python" -m venv --clear .venv
fi

# llama.cpp, which serves the embedded model, needs it.
if [ "$(uname -s)" = Linux ] && ! /sbin/ldconfig -p | grep -q libgomp.so.1; then
    sh scripts/debian.sh libgomp1
fi

for file in "$@"; do
    echo "Installing $file, which may take some minutes ..."
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$file" -c constraints.txt
done
