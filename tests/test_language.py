"""The language of the code: plain docstrings, functions named by verbs, one meaning for a name."""

import ast
import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "dynmeans"
# Words that make a reader look for a person: state who or what does it, or what a value is.
DIALECT = re.compile(r"\b(told|tells?|says?|said|nobody|whoever)\b", re.IGNORECASE)
# A function is named by what it does or returns: `joined_labels`, `join`, never `joined`.
IRREGULAR = {"begun", "built", "chosen", "drawn", "found", "given", "grown", "kept", "known"} | {
    *("left", "lost", "made", "seen", "sent", "shown", "taken", "written")
}
PARTICIPLES_KEPT = {
    "selected": "of a view in a notebook, as other widgets have it",
    "renamed": "a property that holds the clusters with another number",
    "feed": "a verb",
    "bound": "a noun",
}
# A name of the specification is that of its fast version, a command that of the function it calls,
# and a file of one package may have a helper for another.
ONE_NAME_TWO_LEVELS = {
    *("cluster", "step", "predict_labels", "run_deep_search", "follow", "distances"),
    *("serve", "suggest"),
}


def trees():
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE), ast.parse(path.read_text())


def test_docstrings_use_few_words_of_speech():
    found = [
        f"{path}: {line.strip()}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for line in (ast.get_docstring(node) or "").splitlines()
        if DIALECT.search(line)
    ]
    assert len(found) <= 10, "\n".join(found)


def is_participle(name):
    return name.endswith("ed") or name in IRREGULAR


def test_no_function_is_named_by_a_participle_alone():
    found = {
        f"{path}: {node.name}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and "_" not in node.name.strip("_")
        and is_participle(node.name.strip("_"))
        and node.name not in PARTICIPLES_KEPT
    }
    assert not found


def test_a_public_name_is_defined_in_one_package():
    packages = defaultdict(set)
    for path, tree in trees():
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                packages[node.name].add(path.parts[0])
    twice = {name: found for name, found in packages.items() if len(found) > 1}
    assert set(twice) <= ONE_NAME_TWO_LEVELS, twice


def test_no_file_of_the_package_has_more_than_500_lines_besides_docstrings():
    lengths = {}
    for path, tree in trees():
        texts = [
            node.body[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node)
        ]
        in_docstrings = sum(text.end_lineno - text.lineno + 1 for text in texts)
        lengths[path] = len((PACKAGE / path).read_text().splitlines()) - in_docstrings
    assert max(lengths.values()) <= 500
