"""Public names listed once, in a package's ``__init__.pyi``, and loaded when first used.

Type checkers read the stub; at run time it says which module each name comes from. So
``import dynmeans`` stays light, and optional packages are needed only by those who use them.
"""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def public_names(package: str, init_file: str) -> tuple[list[str], Callable[[str], Any]]:
    """Return the names that the stub beside `init_file` lists, and a `__getattr__` for them."""
    homes = _homes(Path(init_file).with_suffix(".pyi"))

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        if home == package:  # A package within this one.
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return sorted(homes), load


def _homes(stub: Path) -> dict[str, str]:
    """Read ``from home import name as name`` lines."""
    lines = ast.parse(stub.read_text(encoding="utf-8")).body
    imports = [line for line in lines if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in imports for alias in line.names}
