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
# Names of two packages with one meaning: a reader who knows one knows the other.
ONE_NAME_TWO_LEVELS = {
    "cluster": "the command, the function that it calls, and Algorithm 2 in each backend",
    "step": "Algorithm 1 in the specification and in each backend, of the same arguments",
    "predict_labels": "the labels of rows without learning, in the specification and each backend",
    "serve": "the command, and the function that it calls",
    "suggest": "the command, and the function that it calls",
}


def trees():
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE), ast.parse(path.read_text())


# Words of a private dialect with a plain counterpart: beside (next to, with), so many (this many),
# asked for (requested), by itself (separately), taken in (processed), at hand (present).
PRIVATE = re.compile(
    r"\b(beside|so many|asked|at hand|by itself|by themselves|plainly|hardly|taken for|takes? in"
    r"|taken in|took in|anew|goes on|go on|whom|but for|in place of)\b",
    re.IGNORECASE,
)


def test_docstrings_use_few_words_of_a_private_dialect():
    found = [
        f"{path}: {line.strip()}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for line in (ast.get_docstring(node) or "").splitlines()
        if PRIVATE.search(line)
    ]
    assert len(found) <= 10, "\n".join(found)


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


# Messages, help and texts of the report page: programs print, warn and report, and rows have no
# opinions. What a reader would look up has one name.
PERSONIFIED = re.compile(
    r"\b(told|tells?|says?|said|knows?|knew|speaks?|whoever|nobody|somebody|everybody|anew|asked"
    r"|wants?|taken in|takes? in|took in|in sight|out of sight|lives of|beside|but for|by itself"
    r"|goes on|hardly|plainly|so many|whom|in place of|mergers?|identity|identities|comes? round"
    r"|come too late|point nowhere|exclude each other|out of reach)\b",
    re.IGNORECASE,
)
MESSAGES_KEPT = {
    "words/stop_words.py": "words of the texts of users",
}
COMMANDS = PACKAGE / "cli" / "commands"
PAGE = PACKAGE / "report" / "page"


def strings_of_code():
    """Return every string with a space that is neither a docstring nor of an assertion."""
    for path, tree in trees():
        if str(path) in MESSAGES_KEPT:
            continue
        hidden = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert) and node.msg is not None:
                hidden |= {id(part) for part in ast.walk(node.msg)}
            is_command = (PACKAGE / path).parent == COMMANDS and isinstance(node, ast.FunctionDef)
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and not is_command:
                hidden.add(id(body[0].value))  # a docstring, but for the help of a command
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and id(node) not in hidden and " " in node.value.strip():
                yield f"{path}:{node.lineno}", re.sub(r'id="[^"]*"', "", node.value)


def strings_of_the_page():
    """Return the texts of the page: strings of three words or more, and what HTML shows."""
    for path in sorted(PAGE.rglob("*.js")):
        code = re.sub(r"/\*.*?\*/|(?<![:'\"])//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        for found in re.findall(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`', code):
            text = re.sub(r"\$\{[^}]*\}", "", found)
            if len(text.split()) >= 3:
                yield path.name, text
    for path in sorted(PAGE.rglob("*.html")):
        html = re.sub(r"<!--.*?-->|\{\{.*?\}\}", "", path.read_text(), flags=re.DOTALL)
        yield from ((path.name, text) for text in re.findall(r">([^<>]+)<", html))
        yield from (
            (path.name, text)
            for text in re.findall(r'(?:title|placeholder|aria-label)="([^"]*)"', html)
        )


def test_texts_that_users_read_are_in_plain_words():
    texts = [*strings_of_code(), *strings_of_the_page()]
    assert len(texts) > 2000
    found = [f"{place}: {text}" for place, text in texts if PERSONIFIED.search(text)]
    assert not found, "\n".join(found)


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
    assert set(twice) <= set(ONE_NAME_TWO_LEVELS), twice
