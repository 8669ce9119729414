"""Gibbs sampling of many chains on a GPU: the rows of one chain after the other on a processor.

The card is played by the compiled sampler; that the kernel draws the same is measured where there
is one (`python -m paper.gibbs_gpu.run merge` compares rows of both).
"""

import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dynmeans.mixture.gibbs import gibbs
from dynmeans.mixture.model import BatchPrior
from paper.gibbs_gpu import run
from paper.synthetic.config import METHODS, SyntheticConfig
from paper.synthetic.tasks import DEVIATION, comparison_tasks, paper_settings
from paper.synthetic.trial import run_trial

SWEEPS = 20


class OnCard(np.ndarray):
    """An array with CuPy's way back."""

    def get(self, out, *, blocking):
        assert not blocking
        out[...] = self


class Stream:
    def __init__(self, *, non_blocking):
        assert non_blocking

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Kernel:
    def __init__(self, width):
        self.width = width
        self.n_full = 0

    def compile(self):
        pass

    def __call__(self, grid, _block, arguments, *, shared_mem):
        assert shared_mem > 0
        points, n_old, *old = (np.asarray(a) for a in arguments[:6])
        log_new, noise, mean, variance, seeds, n, n_samples, thin = arguments[6:14]
        samples, log_posteriors, is_full = arguments[14:]
        for c in range(grid[0]):
            kept = [np.ascontiguousarray(a[c, : n_old[c]]) for a in old]
            center = np.full(2, mean)
            prior = BatchPrior(*kept, float(log_new[c]), center, float(variance), float(noise[c]))
            draws = {"n_samples": int(n_samples), "thin": int(thin), "seed": int(seeds[c])}
            found = gibbs(np.ascontiguousarray(points[c, :n]), prior, **draws)
            samples[c], log_posteriors[c] = found.labels, found.log_posteriors
            # The narrowest kernel runs out of slots, as with very many clusters.
            is_full[c] = self.width == 1 and found.labels.max() >= 11


def card():
    def on_card(array):
        return np.asarray(array).view(OnCard)

    return SimpleNamespace(
        uint16=np.uint16,
        int32=np.int32,
        asarray=on_card,
        arange=np.arange,
        empty=lambda shape, dtype: on_card(np.empty(shape, dtype)),
        zeros=lambda shape, dtype=np.float64: on_card(np.zeros(shape, dtype)),
        RawModule=lambda code, options: SimpleNamespace(
            get_function=lambda _: Kernel(int(options[0].removeprefix("-DJ=")))
        ),
        cuda=SimpleNamespace(
            Stream=Stream,
            Event=lambda: SimpleNamespace(record=lambda: None, done=True),
            alloc_pinned_memory=bytearray,
            runtime=SimpleNamespace(hostRegister=lambda *_: None),
        ),
    )


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", card())
    return run


def tasks_of(gpu, noise):
    config = replace(
        SyntheticConfig.of_size("full", noise=noise),
        n_steps=4,
        n_clusters=(5, 10),
        n_trials=dict.fromkeys(METHODS, (1, 1)),
        sweeps=(SWEEPS,),
        tradeoff_trials=1,
    )
    tasks = comparison_tasks(config, [paper_settings(DEVIATION)])
    short = [{**t, "effort": SWEEPS} for t in tasks if t["method"] == "gibbs"]
    return [(config, {**t, "entropy": gpu._entropy_of(config, t)}) for t in short]


def test_chains_side_by_side_give_the_rows_of_one_after_the_other(gpu):
    tasks = [task for noise in ("isotropic", "radial") for task in tasks_of(gpu, noise)]
    configs = {config.noise: config for config, _ in tasks}
    groups = gpu.groups_of(tasks)
    rows = [row for rows in gpu.run_groups(groups, time.monotonic() + 60) for row in rows]
    assert len(rows) == len(tasks)
    assert {row["choice"] for row in rows} == {"honest", "handicap", "handicap_per_step"}
    for row in rows:
        wanted = run_trial(configs[row["noise"]], row)
        assert [row[name] for name in gpu.SCORES] == [wanted[name] for name in gpu.SCORES]
    widths = {group.width for group in groups}
    assert max(widths) > 1, "no group needed more slots than it had"
