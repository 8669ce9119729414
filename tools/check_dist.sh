#!/bin/sh
# Install one distribution file into an empty environment and run the README's examples there.
set -eu
readme=$(pwd)/README.md
# Anything larger has taken a build folder or data along.
test "$(wc -c <"$1")" -lt 4000000 || { echo "$1 is larger than 4 MB" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/env"
# A wheel must do without a compiler, or any other program.
path=$PATH
case "$1" in *.whl) path=$folder/env/bin ;; esac
PATH=$path "$folder/env/bin/pip" install --quiet "$1"
# The estimators need no extra; the README's examples need the one it names.
"$folder/env/bin/python" -c "from dynmeans import DynamicMeans; DynamicMeans(1.0).fit([[0.0], [9.0]])"
PATH=$path "$folder/env/bin/pip" install --quiet "$1[runs]"
cd "$folder"
PATH=$path env/bin/dynmeans demo >/dev/null
PATH=$path env/bin/dynmeans try -o try.html >/dev/null
test -s try.html
env/bin/python -m doctest "$readme"
env/bin/python -c "
import pathlib, dynmeans
folder = pathlib.Path(dynmeans.__file__).parent
size = sum(f.stat().st_size for f in folder.rglob('*') if f.is_file() and '__pycache__' not in f.parts)
assert size < 9e6, size
assert (folder / 'report' / 'page' / 'page.html').exists(), 'the page of the report is missing'
from dynmeans.engine.wasm import WASM_MODULE
assert WASM_MODULE.read_bytes()[:4] == b'\\0asm', 'the engine for browsers is missing'
print(f'$1'.split('/')[-1], dynmeans.__version__, f'{size / 1e6:.2f} MB installed, README examples run')
"
