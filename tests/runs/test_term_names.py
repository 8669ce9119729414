"""Names of clusters from a column: what most of their rows share, never a rare word."""

import numpy as np
import pandas as pd
import pytest

import dynmeans


def named(values, **options):
    """Cluster two far places over two windows; `values` of the rows of each."""
    rows = [
        {"window": k % 2, "x": 9.0 * place, "value": value}
        for place, own in enumerate(values)
        for k, value in enumerate(own)
    ]
    found = dynmeans.cluster(
        pd.DataFrame(rows), features=["x"], window_column="window", new_penalty=1.0,
        name_by="value", **options,
    )  # fmt: skip
    return found.clusters["name"].where(found.clusters["name"].notna(), "").tolist()


def test_a_value_that_most_rows_share_names_the_cluster():
    harbor = ["tug"] * 13 + ["ferry"] * 7
    assert named([harbor, ["tanker"] * 20]) == ["tug", "tanker"]


def test_a_value_of_half_the_rows_or_fewer_names_nothing():
    # Each value is in one of the clusters only, and so tells it from the other.
    harbor = ["tug"] * 10 + ["ferry"] * 10
    assert named([harbor, ["tanker"] * 20]) == ["", "tanker"]


@pytest.mark.parametrize("size", [2, 5, 9, 30])
def test_a_rare_word_names_no_cluster(size):
    rng = np.random.default_rng(0)
    rare = [" ".join(f"w{n}" for n in rng.integers(0, 10**9, 6)) for _ in range(size)]
    common = [f"quake near the coast {k}" for k in range(200)]
    names = named([rare, common])
    assert names[0] == ""
    assert names[1].startswith(("quake", "near", "coast", "the"))


def test_a_word_of_few_rows_does_not_hide_one_that_most_share():
    # Five rare words score above the shared one, which most rows elsewhere lack only just.
    here = ["storm common"] * 40 + ["alpha beta gamma delta epsilon storm"] * 6
    elsewhere = ["common " + "storm" * (k % 3 == 0) + f" n{k}" for k in range(90)]
    assert "alpha" not in named([here, elsewhere])[0]
    assert "storm" in named([here, elsewhere])[0]


def test_a_name_has_at_most_thirty_characters():
    long = "a very long value that no label has room for"
    (first, second) = named([[long] * 20, ["b"] * 20])
    assert (len(first), first[-1], second) == (30, "…", "b")
