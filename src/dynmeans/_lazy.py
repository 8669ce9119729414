"""Public names listed once, in a package's ``__init__.pyi``, and loaded when first used.

Type checkers read the stub; at run time it maps each name to its module. So
``import dynmeans`` stays light, and optional packages are needed only by those who use them.
"""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dynmeans.inputs.old_names import suggest_attribute

# The package that is missing, and the extra that brings it.
EXTRAS = {
    "aiohttp": "remote",
    "confluent_kafka": "kafka",
    "dask": "dask",
    "distributed": "dask",
    "duckdb": "runs",
    "fsspec": "remote",
    "matplotlib": "plots",
    "optuna": "tune",
    "paho": "mqtt",
    "pandas": "frames",
    "prometheus_client": "serve",
    "psycopg": "postgresql",
    "pyarrow": "runs",
    "pyspark": "spark",
    "redis": "redis",
    "rich": "runs",
    "river": "river",
    "starlette": "serve",
    "typer": "runs",
    "uvicorn": "serve",
}


def public_names(
    package: str, init_file: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return the names in the stub of `init_file`, with `__getattr__` and `__dir__` for them."""
    homes = _homes(Path(init_file).with_suffix(".pyi"))

    def load(name: str) -> Any:
        if name not in homes:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(f"{message}.{suggest_attribute(name)}")
        home = homes[name]
        if home == package:  # A package within this one.
            return importlib.import_module(f"{package}.{name}")
        try:
            value = getattr(importlib.import_module(home), name)
        except ModuleNotFoundError as error:
            if not (sentence := what_is_needed(error)):
                raise
            raise ModuleNotFoundError(f"{package}.{name} {sentence}", name=error.name) from error
        setattr(sys.modules[package], name, value)
        return value

    return sorted(homes), load, lambda: sorted(homes)


def what_is_needed(error: ModuleNotFoundError) -> str | None:
    """Return which package is missing and how to get it, where an extra of ours brings it."""
    missing = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(missing)
    message = f"needs {missing}: pip install 'dynmeans[{extra}]', or '.[{extra}]' in a checkout."
    return message if extra else None


def _homes(stub: Path) -> dict[str, str]:
    """Read ``from home import name as name`` lines."""
    lines = ast.parse(stub.read_text(encoding="utf-8")).body
    imports = [line for line in lines if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in imports for alias in line.names}
