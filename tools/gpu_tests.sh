#!/bin/sh
# All GPU tests and random streams beside compiled code, on a machine with a card that may have no
# test tools and no way to download any.
#
#   sh tools/gpu_tests.sh prepare   anywhere: wheels and headers of its Python into build/gpu_tests
#   sh tools/gpu_tests.sh           on the machine, in a checkout with that folder: under 8 minutes
#
# The machine needs CuPy, NumPy, SciPy, CMake and a compiler for C++. Logs go to $OUT.
set -eu
cd "$(dirname "$0")/.."
kit=build/gpu_tests
tools="pytest pluggy iniconfig pygments packaging hypothesis sortedcontainers pytest-xdist execnet nanobind"
libraries="psutil attrs scikit-learn joblib cloudpickle threadpoolctl narwhals"

if [ "${1:-run}" = prepare ]; then
    version=${2:-3.12}  # of Python on the machine
    rm -rf "$kit" && mkdir -p "$kit/include"
    for platform in manylinux_2_28_x86_64 manylinux_2_17_x86_64 manylinux2014_x86_64 any; do
        platforms="${platforms:-} --platform $platform"
    done
    # shellcheck disable=SC2086
    "${PIP:-pip}" download --quiet --no-deps --only-binary=:all: --python-version "$version" $platforms \
        --dest "$kit/wheels" $tools $libraries
    headers=$(find / -path "*/include/python$version/Python.h" -print -quit 2> /dev/null || true)
    [ -z "$headers" ] || cp -r "$(dirname "$headers")" "$kit/include/"
    du -sh "$kit"
    exit
fi

out=${OUT:-$kit/out}
work=$(mktemp -d)
python=${PYTHON:-python3}
mkdir -p "$out" "$work/site"
# Libraries that the machine has are kept; the tools are ours.
"$python" - "$kit/wheels" "$work/site" $libraries << 'END'
import sys, zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
wheels, site, *libraries = sys.argv[1:]
for wheel in sorted(Path(wheels).glob("*.whl")):
    name = wheel.name.split("-")[0].replace("_", "-").lower()
    try:
        if name in libraries:
            print(name, version(name))
            continue
    except PackageNotFoundError:
        pass
    zipfile.ZipFile(wheel).extractall(site)
END
export PYTHONPATH="$work/site:$PWD/src:$PWD/tools" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export CUPY_CACHE_DIR="$work/kernels" OMP_NUM_THREADS=2

began=$(date +%s)
include=$("$python" -c "import sysconfig; print(sysconfig.get_paths()['include'])")
[ -e "$include/Python.h" ] || include=$(ls -d "$PWD/$kit"/include/python*)
cmake -S . -B "$work/objects" -DPython_EXECUTABLE="$("$python" -c 'import sys; print(sys.executable)')" \
    -DPython_INCLUDE_DIR="$include" -DDYNMEANS_INSTRUCTION_SETS=native > "$out/build.log" 2>&1
cmake --build "$work/objects" --parallel >> "$out/build.log" 2>&1
cp "$work"/objects/_native*.so src/dynmeans/
"$python" -c "import dynmeans, cupy; print('dynmeans on', cupy.cuda.runtime.getDeviceProperties(0)['name'])"
echo "built in $(($(date +%s) - began)) s"

status=0
# Warnings of other versions of packages are no failures here.
# A test run that takes too long is interrupted, so that it still says what failed.
timeout --signal=INT --kill-after=15 "${TEST_SECONDS:-230}" "$python" -m pytest -q -m gpu -n "${PROCESSES:-6}" -o filterwarnings=default \
    -p no:cacheprovider tests/engine/gpu > "$out/tests.log" 2>&1 || status=$?
tail -n 25 "$out/tests.log"
echo "tests until $(($(date +%s) - began)) s, status $status"

for seed in $(seq 1 "${PROCESSES:-6}"); do
    "$python" -m attack --target gpu --target gpu-sphere --target gpu-borders --rounds 1 --minutes "${STREAM_MINUTES:-2.5}" --seed "$seed" \
        --journal "$work/journal-$seed" > "$out/streams-$seed.log" 2>&1 || touch "$out/streams-failed" &
done
wait
cat "$out"/streams-*.log
[ ! -e "$out/streams-failed" ] || status=1
echo "all until $(($(date +%s) - began)) s, status $status"
exit "$status"
