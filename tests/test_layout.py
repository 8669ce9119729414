"""The floor plan: folders, the import contract and CONTRIBUTING's map say the same."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dynmeans.engine.compiled import compiled

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dynmeans"
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
CONTRACTS = TOOLS["importlinter"]["contracts"]
LAYERS = [re.findall(r"\w+", layer) for layer in CONTRACTS[0]["layers"]]


def packages():
    return {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_root_of_the_repository_holds_no_stray_files():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("this tree is not a checkout")
    files = {name for name in listed.stdout.split() if "/" not in name and name[0] != "."}
    known = {
        "CMakeLists.txt",
        "LICENSE",
        "Makefile",
        "CITATION.cff",
        "pyproject.toml",
        "conftest.py",
    }
    assert {name for name in files - known if not name.endswith(".md")} == set()


def test_every_package_has_its_layer():
    assert {name for layer in LAYERS for name in layer} == packages()


def test_map_of_the_code_is_the_contract_from_top_to_bottom():
    table = (ROOT / "CONTRIBUTING.md").read_text().split("## The map of the code")[1]
    first_cells = re.findall(r"^\| (`[a-z].*?) \|", table.split("**The walk")[0], re.MULTILINE)
    assert [re.findall(r"`(\w+)/`", cell) for cell in first_cells] == LAYERS


def _imports(path):
    """Every module that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def test_every_outside_library_is_imported_in_its_homes_and_nowhere_else():
    found = {}
    for path in PACKAGE.rglob("*.py"):
        for name in _imports(path):
            library = name if name == "dynmeans.engine.compiled" else name.partition(".")[0]
            if library not in sys.stdlib_module_names | {"dynmeans", "numpy"}:
                found.setdefault(library, set()).add(path.relative_to(PACKAGE).parts[0])
    assert {name: sorted(users) for name, users in found.items()} == TOOLS["dynmeans"]["homes"]


def test_specification_loads_numpy_and_no_other_library():
    packages = ("algorithm", "spaces", "records", "inputs")
    files = [path for one in packages for path in sorted((PACKAGE / one).rglob("*.py"))]
    names = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in files]
    libraries = sorted(TOOLS["dynmeans"]["homes"])
    code = (
        "import importlib, sys\n"
        f"for name in {names}: importlib.import_module(name)\n"
        f"print([name for name in {libraries} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# The loader of public names, of which the stubs say where they are; of commands by their names; of
# the compiled module for the instruction set at hand.
LOADERS = {"_lazy.py", "app.py", "compiled.py"}


def test_modules_are_loaded_by_name_in_three_places_only():
    found = {path.name for path in PACKAGE.rglob("*.py") if "importlib" in set(_imports(path))}
    assert found == LOADERS


def test_compiled_module_is_imported_in_one_file_only():
    importing = re.compile(r"^\s*(?:import|from) dynmeans\._native", re.MULTILINE)
    found = [path.name for path in PACKAGE.rglob("*.py") if importing.search(path.read_text())]
    assert found == ["compiled.py"]


def _layer_of(package):
    return next(n for n, layer in enumerate(LAYERS) if package in layer)


STUBS = sorted(PACKAGE.rglob("*/__init__.pyi"))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_public_names_of_a_package_come_from_it_or_from_below(stub):
    for name in _imports(stub):
        source, target = stub.relative_to(PACKAGE).parts[0], name.split(".")[1]
        assert source == target or _layer_of(source) < _layer_of(target)


@pytest.mark.parametrize("folder", [p for p in PACKAGE.rglob("*") if p.is_dir()], ids=str)
def test_folder_has_at_most_twenty_files(folder):
    suffixes = (".py", ".pyi")
    files = [p for p in folder.iterdir() if p.suffix in suffixes and p.stem != "__init__"]
    assert len(files) <= 20


# No machine with a card was at hand to check this one after a change of its parts.
LONG_FILES = {"src/dynmeans/engine/gpu/cuda/border.cu"}
SOURCES = (".py", ".pyi", ".hpp", ".cpp", ".cu", ".js", ".css", ".html", ".sh")


def test_no_source_file_has_more_than_500_lines():
    folders = ("src", "native", "tests", "benchmarks", "paper", "tools", "examples", "docs")
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in SOURCES and "node_modules" not in path.parts
    }
    assert {name for name, n_lines in lengths.items() if n_lines > 500} == LONG_FILES


def test_tables_of_a_run_are_read_and_written_in_the_store_alone():
    schema = (PACKAGE / "runs" / "store" / "schema.py").read_text(encoding="utf-8")
    tables = "|".join(re.findall(r"CREATE TABLE (\w+)", schema))
    sql = re.compile(rf"\b(FROM|INTO|UPDATE|JOIN) ({tables})\b")
    others = [path for path in PACKAGE.rglob("*.py") if "store" not in path.parts]
    found = [path.name for path in others if sql.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_contract_has_no_exceptions():
    assert not any("ignore_imports" in contract for contract in CONTRACTS)


def test_package_imports_without_the_folders_beside_it(tmp_path):
    copy = tmp_path / "dynmeans"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for module in Path(compiled.__file__).parent.glob("_native*.so"):
        shutil.copy(module, copy)
    code = (
        # An editable install finds its own copy before any path is looked at.
        "import sys; sys.meta_path = [f for f in sys.meta_path if isinstance(f, type)]\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import importlib, pkgutil, dynmeans\n"
        "from importlib.util import find_spec\n"
        f"assert dynmeans.__file__.startswith({str(tmp_path)!r}), dynmeans.__file__\n"
        "for found in pkgutil.walk_packages(dynmeans.__path__, 'dynmeans.'):\n"
        "    if found.name.endswith('__main__'):\n"
        "        continue\n"
        "    try:\n"
        "        importlib.import_module(found.name)\n"
        "    except ModuleNotFoundError as error:\n"
        "        assert error.name in ('cupy', 'anywidget'), error\n"
        "        assert not find_spec(error.name), error\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
