"""The report: every score, each the one its own function gives."""

import json
import math

import numpy as np
import pytest

from dynmeans import metrics
from dynmeans.metrics import tracking_report

KEYS = [
    "accuracy_per_step",
    "accuracy_frozen",
    "accuracy_global",
    "idf1",
    "hota",
    "assa",
    "deta",
    "id_switches",
    "fragmentations",
    "ari_per_step",
    "ari_global",
]
RNG = np.random.default_rng(0)
TRUE = [RNG.integers(-1, 4, size=20) for _ in range(8)]
FOUND = [np.where(RNG.random(20) < 0.8, labels, RNG.integers(-1, 6, size=20)) for labels in TRUE]
WEIGHTS = [RNG.integers(0, 3, size=20) for _ in TRUE]
OWN_FUNCTION = [key for key in KEYS if key not in {"hota", "assa", "deta"}]
UNWEIGHTED = [key for key in KEYS if key.startswith("ari")]


def test_report_has_every_score_in_order():
    assert list(tracking_report(TRUE, FOUND)) == KEYS


@pytest.mark.parametrize("key", OWN_FUNCTION)
def test_score_is_that_of_the_function_of_its_name(key):
    assert tracking_report(TRUE, FOUND)[key] == getattr(metrics, key)(TRUE, FOUND)


@pytest.mark.parametrize("key", ["hota", "assa", "deta"])
def test_hota_scores_are_those_of_hota(key):
    assert tracking_report(TRUE, FOUND)[key] == getattr(metrics.hota(TRUE, FOUND), key)


@pytest.mark.parametrize("key", [key for key in OWN_FUNCTION if key not in UNWEIGHTED])
def test_weights_reach_accuracy_and_identity(key):
    expected = getattr(metrics, key)(TRUE, FOUND, WEIGHTS)
    assert tracking_report(TRUE, FOUND, WEIGHTS)[key] == expected


@pytest.mark.parametrize("key", UNWEIGHTED)
def test_agreement_counts_every_labeled_point_even_of_weight_zero(key):
    assert tracking_report(TRUE, FOUND, WEIGHTS)[key] == getattr(metrics, key)(TRUE, FOUND)


def test_counts_are_int_and_the_rest_float_so_that_the_report_can_be_written_as_json():
    report = tracking_report(TRUE, FOUND)
    counts = {"id_switches", "fragmentations"}
    assert all(type(report[key]) is (int if key in counts else float) for key in KEYS)
    assert json.loads(json.dumps(report)) == report


def test_perfect_labels_score_one_and_count_nothing():
    labels = [[0, 0, 1, 1], [1, 1, 2, 2, 2], []]
    report = tracking_report(labels, labels)
    assert report.pop("id_switches") == report.pop("fragmentations") == 0
    assert report == pytest.approx(dict.fromkeys(report, 1.0), rel=1e-12)


def test_nothing_found_gives_no_nan():
    report = tracking_report([[0, 1, 1], [], [0]], [[-1, -1, -1], [], [-1]])
    assert not any(math.isnan(score) for score in report.values())


def test_weights_of_extreme_range_give_no_nan():
    true, found = [[0, 0, 1, 1], [0, 1]], [[5, 6, 6, 5], [5, 5]]
    weights = [[1e-308, 1e300, 1e-160, 1.0], [1e-300, 1e-320]]
    report = tracking_report(true, found, weights)
    assert not any(math.isnan(score) for score in report.values())
