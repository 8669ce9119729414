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
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
LAYERS = [re.findall(r"\w+", layer) for layer in CONTRACTS[0]["layers"]]
HOMES = [contract for contract in CONTRACTS if contract.get("allow_indirect_imports")]


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


@pytest.mark.parametrize("contract", HOMES, ids=lambda contract: contract["name"])
def test_library_contract_names_every_package_but_its_homes(contract):
    named = {module.removeprefix("dynmeans.") for module in contract["source_modules"]}
    users = {path.relative_to(PACKAGE).parts[0] for path in _users(contract)}
    assert packages() - named == users & packages()


def _users(contract):
    names = "|".join(map(re.escape, contract["forbidden_modules"]))
    pattern = re.compile(rf"^\s*(?:import|from) (?:{names})\b", re.MULTILINE)
    return [path for path in PACKAGE.rglob("*.py") if pattern.search(path.read_text())]


def test_compiled_module_is_imported_in_one_file_only():
    importing = re.compile(r"^\s*(?:import|from) dynmeans\._native", re.MULTILINE)
    found = [path.name for path in PACKAGE.rglob("*.py") if importing.search(path.read_text())]
    assert found == ["compiled.py"]


def _late_imports():
    """Every module of ours that is named in text, to be loaded later: by whom, and which."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            if ast.unparse(node.func).rpartition(".")[2] not in ("import_module", "__import__"):
                continue
            name = "".join(
                str(part.value) for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant)
            )
            if name.startswith("dynmeans."):
                yield path, name
    for stub in sorted(PACKAGE.rglob("__init__.pyi")):  # what `_lazy` loads when it is asked for
        for line in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.ImportFrom) and stub.parent != PACKAGE:
                yield stub, str(line.module)


def _layer_of(package):
    return next(n for n, layer in enumerate(LAYERS) if package in layer)


@pytest.mark.parametrize(
    ("path", "name"), [pytest.param(*one, id=f"{one[0].stem}-{one[1]}") for one in _late_imports()]
)
def test_module_that_is_loaded_late_lies_below_or_beside_the_one_that_loads_it(path, name):
    source, target = path.relative_to(PACKAGE).parts[0], name.split(".")[1]
    if source != target:
        assert _layer_of(source) < _layer_of(target), f"{path} loads {name} from above"


@pytest.mark.parametrize("folder", [p for p in PACKAGE.rglob("*") if p.is_dir()], ids=str)
def test_folder_has_at_most_twenty_files(folder):
    files = [p for p in folder.iterdir() if p.is_file() and p.suffix in (".py", ".pyi")]
    assert len(files) <= 20


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
        "        assert error.name == 'cupy' and not find_spec('cupy'), error\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
