#!/bin/sh
# Install the programs that some tests call and pip does not bring; what is there is left alone.
# With "arm", those that compile and emulate for ARM as well.
set -eu
missing=

# need PACKAGE COMMAND...: the package is missing if none of the commands, or files, is there.
need() {
    package=$1
    shift
    for command in "$@"; do
        if command -v "$command" >/dev/null || [ -f "$command" ]; then return; fi
    done
    missing="$missing $package"
}

need g++ g++                                           # the build
need clang clang++                                     # the same tests on clang's build
need chromium chromium chromium-browser google-chrome  # tests of the report's page
need chromium-driver chromedriver chromium.chromedriver
need default-jre-headless java                         # tests of Spark streams
need redis-server redis-server                         # tests of streams
need mosquitto mosquitto /usr/sbin/mosquitto
if [ "${1:-}" = arm ]; then
    need g++-aarch64-linux-gnu aarch64-linux-gnu-g++
    need qemu-user qemu-aarch64
fi

if [ -z "$missing" ]; then
    echo "All system packages are there."
elif command -v apt-get >/dev/null; then
    as_root=
    if [ "$(id -u)" -ne 0 ]; then as_root=sudo; fi
    $as_root apt-get -o DPkg::Lock::Timeout=300 update --quiet
    $as_root apt-get -o DPkg::Lock::Timeout=300 install --yes --quiet --no-install-recommends $missing
else
    echo "Please install, in the names of Debian:$missing" >&2
    exit 1
fi
