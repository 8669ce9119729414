#!/bin/sh
# Write requirements/*.txt: one version of every package, with the hashes of all its files, for
# Python 3.11 and newer on any system. The sets agree: demo and docs take the versions of dev.
set -eu
cd "$(dirname "$0")/.."

lock() {
    name=$1
    shift
    uv pip compile --quiet --no-config --upgrade --universal --python-version 3.11 --generate-hashes \
        --no-annotate --custom-compile-command "make lock" --no-emit-package dynmeans \
        --output-file "requirements/$name.txt" pyproject.toml requirements/build.in "$@"
}

lock dev --extra dev
lock demo --extra runs --constraint requirements/dev.txt
lock docs --extra docs --constraint requirements/dev.txt
# A lock names packages and hashes; where they were downloaded from stays out of it.
! grep -nE '://|--(extra-)?index-url|--find-links|@ ' requirements/*.txt
