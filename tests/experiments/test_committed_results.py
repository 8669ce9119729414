"""The results in the repository: of the default size, finished, and as good as the docs say."""

from pathlib import Path

import pytest

from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.experiments.results_file import read_results
from dynmeans.experiments.synthetic.config import SyntheticConfig
from dynmeans.experiments.synthetic.experiment import EXPERIMENT
from dynmeans.experiments.synthetic.summary import authors_table, speed_table
from dynmeans.experiments.synthetic.tasks import (
    KEY,
    best_settings,
    comparison_tasks,
    search_tasks,
)

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


@pytest.fixture(params=NOISES)
def results(request):
    return read_results(RESULTS / f"synthetic-{request.param}.parquet", EXPERIMENT)


def test_they_are_of_the_default_size(results):
    noise = results.configuration["noise"]
    expected = SyntheticConfig.of_size("default", noise=noise)
    assert SyntheticConfig.from_dict(results.configuration) == expected


def test_no_trial_is_missing(results):
    config = SyntheticConfig.from_dict(results.configuration)
    tasks = [*search_tasks(config), *comparison_tasks(config, best_settings(results.frame))]
    assert len(results.frame) == len({tuple(task[name] for name in KEY) for task in tasks})


def test_means_of_the_authors_program_are_met_within_three_standard_errors(results):
    table = authors_table(results.frame, results.configuration["noise"])
    assert len(table) == 15
    assert table["errors_off"].abs().max() <= 3


@pytest.mark.parametrize("origin", ["paper", "found"])
def test_gibbs_takes_a_hundred_times_longer_everywhere(results, origin):
    table = speed_table(results.frame, origin).query("method == 'gibbs'")
    assert (table["times_faster"] >= 100).all()
