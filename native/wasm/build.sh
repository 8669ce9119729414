#!/bin/sh
# Compile the engine to WebAssembly: build.sh OUTPUT. Needs clang, lld, wasi-libc and libc++ for
# wasm32 (make system-deps); with --check it only says, by its exit status, whether they are there.
set -eu
native=$(cd "$(dirname "$0")/.." && pwd)
cxx=${WASM_CXX:-clang++}
if [ "$1" = --check ]; then
    printf '#include <vector>\nint main() { return std::vector<int>(3)[1]; }\n' |
        "$cxx" --target=wasm32-wasi -fno-exceptions -x c++ - -o /dev/null 2>/dev/null
    exit
fi
output=$1
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
launcher=$(command -v ccache || true)
# One unit: what the files share is compiled once. A contracted multiply-add would change results,
# as everywhere.
$launcher "$cxx" --target=wasm32-wasi -std=c++17 -O3 -msimd128 -ffp-contract=off -fno-exceptions \
    -fno-rtti -Wall -Wextra -I"$native" -include engine/step_double.cpp \
    -include moves/set_moves.cpp -include passes/run_small.cpp \
    -c "$native/wasm/module.cpp" -o "$objects/engine.o"
"$cxx" --target=wasm32-wasi -mexec-model=reactor -Wl,--strip-all "$objects/engine.o" -o "$output"
