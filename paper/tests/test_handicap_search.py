"""The samplers searched with the handicap: rung after rung, one sampler after the other."""

import numpy as np
import pandas as pd
import pytest

from paper.studies import handicap_search as study
from paper.synthetic.tasks import HANDICAP


def scored(tasks, best=1e-4):
    """Rows of all these trials, the better the closer their motion variance is to the best."""
    frame = pd.DataFrame(tasks, columns=study.KEY)
    closeness = -np.abs(np.log(frame["motion_variance"].astype(float) / best))
    return frame.assign(accuracy_frozen=1 + 0.01 * closeness + 1e-4 * frame["trial"])


def test_the_search_begins_with_all_settings_of_the_first_sampler():
    tasks = study.known_tasks(scored([]))
    assert {task["method"] for task in tasks} == {"particle"}
    assert len(tasks) == 2 * 384 * 2


def test_a_rung_follows_when_the_one_before_is_done():
    first = scored(study.known_tasks(scored([])))
    second = study.known_tasks(first)
    counts = pd.DataFrame(second).groupby("noise").size()
    assert (counts == 384 * 2 + 58 * 8).all()
    assert len(study.known_tasks(first.drop(index=0))) < len(second)


def test_the_best_setting_follows_streams_of_the_comparison_and_the_next_sampler_begins():
    frame = scored([])
    while "gibbs" not in set(frame["method"]):
        frame = scored(study.known_tasks(frame))
    for noise in study.NOISES:
        assert study.found(noise, frame)["particle"]["motion_variance"] == pytest.approx(1e-4)
    compared = frame[frame["part"] == "comparison"]
    assert set(compared["n_clusters"]) == set(study.N_CLUSTERS)
    assert (compared.groupby(["noise", "n_clusters"]).size() == study.N_STREAMS).all()


def test_every_trial_has_the_handicap(monkeypatch):
    asked = []

    def run_trial(config, task):
        asked.append((config.noise, task["choice"]))
        return dict.fromkeys(study.SCORES, 0.5)

    monkeypatch.setattr(study, "run_trial", run_trial)
    task = study.known_tasks(scored([]))[-1]
    assert study.run(task) == {**task, **dict.fromkeys(study.SCORES, 0.5)}
    assert asked == [("radial", HANDICAP)]
