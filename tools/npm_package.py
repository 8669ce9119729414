"""Put the npm package together in a folder: the page's engine as a module, its types, the binary.

Usage: ``python tools/npm_package.py build/npm``. Nothing is published.
"""

import shutil
import sys
from pathlib import Path

import dynmeans
from dynmeans.engine.wasm import WASM_MODULE

ROOT = Path(__file__).parents[1]
PARTS = ROOT / "native" / "wasm" / "npm"
ENGINE = ROOT / "src" / "dynmeans" / "report" / "page" / "engine" / "engine.js"


def make_package(folder: Path) -> Path:
    """Write the package into the folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.js").write_text(ENGINE.read_text() + (PARTS / "exports.js").read_text())
    package = (PARTS / "package.json").read_text()
    (folder / "package.json").write_text(package.replace("{{ version }}", dynmeans.__version__))
    for part in (PARTS / "index.d.ts", PARTS / "README.md", ROOT / "LICENSE"):
        shutil.copy(part, folder)
    shutil.copy(WASM_MODULE, folder / "engine.wasm")
    return folder


if __name__ == "__main__":
    print(make_package(Path(sys.argv[1])))
