"""How far the results files are: 100 % is said of all tasks, and of nothing less."""

from types import SimpleNamespace

import pytest

from paper import status
from paper.pages.tables import config_of, synthetic
from paper.studies import vanishing


@pytest.mark.parametrize(("share", "told"), [(1.0, "100 %"), (0.9999, "99 %"), (0.58, "58 %")])
def test_shares_are_rounded_down(share, told):
    assert status.percent(share) == told


def test_share_is_of_the_tasks_and_not_of_the_rows():
    asked = vanishing.tasks()
    more = [{**task, "trial": 1000 + task["trial"]} for task in asked]
    study = SimpleNamespace(
        EXPERIMENT=vanishing.EXPERIMENT, KEY=vanishing.KEY, tasks=lambda: [*asked, *more]
    )
    assert status.share_of(vanishing)[1] == 1.0
    assert status.share_of(study)[1] == 0.5


def test_one_trial_that_is_missing_is_not_all_of_the_experiment():
    results = synthetic("radial")
    config = config_of("radial")
    assert status.share_of_stages(config, results.frame) == 1.0
    assert status.share_of_stages(config, results.frame.drop(index=[30_000])) < 1.0


def test_every_results_file_is_named_once():
    names = [name for name, _, _ in status.shares()]
    committed = {path.name for path in status.RESULTS.glob("*.parquet")}
    committed |= {"evolutionary.json"}
    assert sorted(names) == sorted(committed - {"aircraft-real-own-gp.parquet"})
