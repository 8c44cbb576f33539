#!/bin/sh
# Install Debian packages, with sudo where that is needed; say which are missing where it cannot.
# Usage: scripts/debian.sh PACKAGE...
set -eu
run=""
if [ "$(id -u)" -ne 0 ]; then
    run="sudo -n"
fi
if ! command -v apt-get >/dev/null 2>&1 || { [ -n "$run" ] && ! sudo -n true 2>/dev/null; }; then
    echo "Missing on this machine: $*. Install it (on Debian: sudo apt-get install $*) and run this again." >&2
    exit 1
fi
echo "Installing $* ..."
$run apt-get update -qq
$run env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
