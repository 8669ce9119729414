"""Tables of the comparisons show means of the same streams, and dynmeans in each."""

from collections import defaultdict

import pytest

from benchmarks.compare.__main__ import TABLES as TABLES_OF_ROWS
from benchmarks.compare.drifting_suite import FIRST_SEED
from benchmarks.pages import compare_tables, real_tables

TABLES = {name: text for name, text in compare_tables.tables().items() if "compare" in name}


def row(data, method, accuracy):
    return {
        **{"data": data, "method": method, "accuracy": accuracy, "ami": accuracy, "seed": 0},
        **{"n_tried": 1, "n_rows": 1000, "seconds": 0.002},
    }


def lines(monkeypatch, rows):
    monkeypatch.setattr(compare_tables, "_rows", lambda name: rows)
    return compare_tables._peers("given").splitlines()[2:]


def test_a_stream_with_more_seeds_counts_once_and_ours_come_first(monkeypatch):
    rows = [row("given, a", "x", 1.0)] * 3 + [row("given, b", "x", 0.0)]
    rows += [row("given, a", "dynmeans", 0.5), row("given, b", "dynmeans", 0.5)]
    ours, theirs = lines(monkeypatch, rows)
    assert ours == "| **dynmeans** | 1 | 0.500 | 0.500 | - | 2 |"
    assert theirs == "| x | 1 | 0.500 | 0.500 | - | 2 |"


def test_a_method_without_rows_of_a_stream_has_no_mean(monkeypatch):
    rows = [row("given, a", "x", 1.0), row("given, a", "y", 1.0), row("given, b", "y", 0.0)]
    assert lines(monkeypatch, rows)[0] == "| x | 1 |  |  | - | 2 |"


def test_streams_are_counted_on_which_another_method_is_more_accurate(monkeypatch):
    ours = "dynmeans, online, defaults"
    rows = [row("given, a", ours, 0.500), row("given, b", ours, 0.5), row("given, c", ours, 0.5)]
    rows += [row("given, a", "x", 0.504), row("given, b", "x", 0.6), row("given, c", "x", 0.4)]
    first, second = lines(monkeypatch, rows)
    assert first == f"| **{ours}** | 1 | 0.500 | 0.500 | - | 2 |"
    assert second == "| x | 1 | 0.501 | 0.501 | 1 of 3 | 2 |"


def cells(text):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[2:]]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_a_row_of_dynmeans_and_no_measured_row_has_an_empty_cell(name):
    found = cells(TABLES[name])
    assert any(row[0].startswith("**dynmeans") for row in found)
    empty = [row[0] for row in found if not all(row) and "published" not in row[0]]
    assert not empty, "measure the missing rows: make compare"


@pytest.mark.parametrize("name", TABLES_OF_ROWS)
def test_every_method_is_measured_on_the_same_sets(name):
    sets = defaultdict(set)
    for one in compare_tables._rows(name):
        is_generated = one["seed"] >= FIRST_SEED  # others repeat a method with another seed
        sets[one["method"]].add((one["data"], one["seed"] if is_generated else None))
    assert len(set(map(frozenset, sets.values()))) == 1


def test_the_table_of_real_streams_has_every_figure():
    found = cells(real_tables.tables()["real streams"])
    assert any(row[0] == "**label-free**" for row in found)
    assert not [row[0] for row in found if not all(row[:-1])]
