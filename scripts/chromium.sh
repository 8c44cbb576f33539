#!/bin/sh
# Have a Chromium for the browser tests: the one that is there, else Debian's.
set -eu
cd "$(dirname "$0")/.."
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
exec sh scripts/debian.sh chromium fonts-dejavu-core
