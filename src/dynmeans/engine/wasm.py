"""The engine for a browser: where its module lies, if it was built."""

from pathlib import Path

from dynmeans import _native_cpu

# None is there where the package was built without a compiler for WebAssembly.
WASM_MODULE = Path(_native_cpu.__file__).with_name("engine.wasm")
