"""The engine for a browser: one WebAssembly module, part of every build."""

from pathlib import Path

WASM_MODULE = Path(__file__).with_name("engine.wasm")
