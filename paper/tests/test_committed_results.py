"""The results in the repository: of the present configuration, and as good as the docs say."""

import numpy as np
import pytest

from dynmeans.datasets.moving_gaussians import NOISES
from paper.pages.tables import read_rows, times
from paper.results_file import RESULTS, read_results
from paper.studies import first_trials
from paper.synthetic.config import METHODS, SyntheticConfig
from paper.synthetic.experiment import EXPERIMENT, stages
from paper.synthetic.summary import authors_table, settings_of
from paper.synthetic.tasks import DEVIATION, FOUND, KEY, PAPER


@pytest.fixture(params=NOISES)
def results(request):
    return read_results(RESULTS / f"synthetic-{request.param}-full.parquet", EXPERIMENT)


def test_search_is_done(results):
    config = SyntheticConfig.from_dict(results.configuration)
    assert set(settings_of(config, results.frame, FOUND)) == set(METHODS)


def test_every_trial_is_one_of_the_experiment(results):
    config = SyntheticConfig.from_dict(results.configuration)
    tasks = [task for stage in stages(config) for task in stage(results.frame)]
    frame = results.frame[list(KEY)].astype(object)
    rows = frame.where(frame.notna(), None).itertuples(index=False, name=None)
    assert set(rows) <= {tuple(task[name] for name in KEY) for task in tasks}


def test_means_of_the_authors_program_are_met_within_three_standard_errors(results):
    table = authors_table(results.frame, results.configuration["noise"])
    assert len(table) == 15
    assert table["errors_off"].abs().max() <= 3


@pytest.mark.parametrize("origin", [PAPER, DEVIATION, FOUND])
@pytest.mark.parametrize("noise", NOISES)
def test_gibbs_takes_a_hundred_times_longer_everywhere(noise, origin):
    rows = times()
    rows = rows[(rows["noise"] == noise) & (rows["origin"] == origin)]
    assert len(rows)
    assert (rows["gibbs"] >= 100 * rows["dynamic_means"]).all()


@pytest.mark.parametrize("data", sorted(first_trials.FILES))
def test_first_trials_run_again_are_those_of_table_1(data):
    again = read_rows(first_trials.EXPERIMENT).frame.query("data == @data")
    rows = first_trials.committed(data).frame.query("trial == 0")
    both = again.merge(rows, on=list(first_trials.ROW), suffixes=("", "_committed"))
    assert len(both) == len(again) > 0
    np.testing.assert_allclose(both["accuracy"], both["accuracy_committed"], rtol=1e-12)
