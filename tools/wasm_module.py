"""Build the engine for browsers and write it into the package: ``make wasm``.

The module is committed, with the digest of the sources it was built from, so that nobody needs a
compiler for WebAssembly to install the package. ``ziglang`` from PyPI, at the version locked in
``requirements/platforms.txt``, builds the same bytes on every machine.
"""

import gzip
import hashlib
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
NATIVE = ROOT / "native"
MODULE = ROOT / "src" / "dynmeans" / "engine" / "engine.wasm"
RECORD = NATIVE / "wasm" / "engine.json"
SOURCE = "wasm/module.cpp"
# One unit: what the files share is compiled once.
INCLUDED = ("engine/step_double.cpp", "moves/set_moves.cpp", "passes/run_small.cpp")
# A contracted multiply-add would change results, as everywhere.
FLAGS = (
    "--target=wasm32-wasi",
    "-mexec-model=reactor",
    "-std=c++17",
    "-O3",
    "-msimd128",
    "-ffp-contract=off",
    "-fno-exceptions",
    "-fno-rtti",
    "-Wall",
    "-Wextra",
    "-Wl,--strip-all",
)
MAX_COMPRESSED_BYTES = 250_000


def source_files() -> list[str]:
    """Return the files that the module is built from, with all that they include, sorted."""
    found: set[str] = set()
    waiting = [SOURCE, *INCLUDED]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            text = (NATIVE / name).read_text(encoding="utf-8")
            waiting += re.findall(r'^\s*#\s*include "([^"]+)"', text, flags=re.MULTILINE)
    return sorted(found)


def digest_of_sources() -> str:
    """Return the digest of the flags and of the sources, by name and content."""
    digest = hashlib.sha256(json.dumps([FLAGS, INCLUDED]).encode())
    for name in source_files():
        text = (NATIVE / name).read_text(encoding="utf-8")
        digest.update(f"{name}\0{len(text)}\0{text}".encode())
    return digest.hexdigest()


def compile_module(output: Path) -> None:
    """Compile the module to `output`."""
    includes = [word for name in INCLUDED for word in ("-include", name)]
    compiler = [sys.executable, "-m", "ziglang", "c++"]
    sources = [f"-I{NATIVE}", *includes, str(NATIVE / SOURCE)]
    subprocess.run([*compiler, *FLAGS, *sources, "-o", str(output)], check=True)
    output.chmod(0o644)


def main() -> None:
    """Write the module and its record."""
    compile_module(MODULE)
    module = MODULE.read_bytes()
    n_bytes = len(gzip.compress(module, 9))
    if n_bytes > MAX_COMPRESSED_BYTES:
        raise SystemExit(f"The module has {n_bytes} bytes compressed; the limit is 250,000.")
    record = {
        "compiler": f"ziglang {version('ziglang')}",
        "sources": digest_of_sources(),
        "module": hashlib.sha256(module).hexdigest(),
    }
    RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"{MODULE.relative_to(ROOT)}: {len(module):,} bytes, {n_bytes:,} compressed")


if __name__ == "__main__":
    main()
