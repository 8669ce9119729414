#!/bin/sh
# Write requirements/*.txt: one version of every package, with the hashes of all its files, for
# Python 3.11 and newer on any system.
set -eu
cd "$(dirname "$0")/.."

# lock NAME SOURCE...
lock() {
    name=$1
    shift
    uv pip compile --quiet --no-config --upgrade --universal --python-version 3.11 \
        --generate-hashes --no-annotate --custom-compile-command "make lock" \
        --no-emit-package dynmeans --output-file "requirements/$name.txt" "$@"
}

package="pyproject.toml requirements/build.in"
lock dev $package --extra dev
# The same versions as in dev; what compiles the package comes first, the rest while it does.
lock build requirements/build.in --constraint requirements/dev.txt
lock demo $package --extra runs --constraint requirements/dev.txt
lock docs $package --extra docs --constraint requirements/dev.txt
lock release requirements/release.in
lock platforms requirements/platforms.in
# The oldest versions that pyproject.toml allows, for the test workflow: of what users install, not
# of what develops it.
extras=""
for extra in runs tune notebook redis kafka mqtt postgresql remote serve dask spark; do
    extras="$extras --extra $extra"
done
lock oldest pyproject.toml requirements/oldest.in $extras --resolution lowest-direct

if grep -nE '://|--(extra-)?index-url|--find-links' requirements/*.txt; then
    echo "A lock names packages and hashes; where they were downloaded from stays out of it." >&2
    exit 1
fi
