"""Tables of the comparisons show means of the same streams only."""

from benchmarks.pages import compare_tables


def row(data, method, accuracy):
    return {
        **{"data": data, "method": method, "accuracy": accuracy, "ami": accuracy, "seed": 0},
        **{"n_tried": 1, "n_rows": 1000, "seconds": 0.002},
    }


def lines(monkeypatch, rows):
    monkeypatch.setattr(compare_tables, "_rows", lambda name: rows)
    return compare_tables._peers().splitlines()[2:]


def test_a_stream_with_more_seeds_counts_once_and_ours_come_first(monkeypatch):
    rows = [row("given, a", "x", 1.0)] * 3 + [row("given, b", "x", 0.0)]
    rows += [row("given, a", "dynmeans", 0.5), row("given, b", "dynmeans", 0.5)]
    ours, theirs = lines(monkeypatch, rows)
    assert ours == "| **dynmeans** | 1 | 0.500 | 0.500 |  |  | 2 |"
    assert theirs == "| x | 1 | 0.500 | 0.500 |  |  | 2 |"


def test_a_method_without_rows_of_a_stream_has_no_mean(monkeypatch):
    rows = [row("given, a", "x", 1.0), row("given, a", "y", 1.0), row("given, b", "y", 0.0)]
    assert lines(monkeypatch, rows)[0] == "| x | 1 |  |  |  |  | 2 |"
