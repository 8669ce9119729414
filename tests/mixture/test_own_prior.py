"""The three samplers on streams from their own prior, told its parameters or wrong ones."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dynmeans import DDPMixture
from dynmeans.datasets import dependent_dirichlet
from dynmeans.metrics import accuracy_global
from dynmeans.mixture.model import batch_prior
from dynmeans.records.mixture import MixtureParameters, MixtureState
from paper.label_mass import log_label_mass

MODEL = MixtureParameters(
    concentration=0.5,
    survival=0.9,
    noise_variance=0.01,
    motion_variance=0.02,
    prior_variance=25.0,
)
STREAM = dependent_dirichlet(MODEL, 20, 30, rng=np.random.default_rng(7))


def found_with(inference, parameters):
    model = DDPMixture(
        inference, parameters=parameters, n_samples=40, burn_in=20, thin=1, random_state=0
    )
    labels, _ = model.fit_sequence(STREAM.batches)
    return model, labels


@pytest.mark.parametrize("inference", ["gibbs", "variational", "particle"])
def test_sampler_that_is_told_the_model_finds_the_clusters(inference):
    _, labels = found_with(inference, MODEL)
    assert accuracy_global(STREAM.labels, labels) > 0.9


@pytest.mark.parametrize("inference", ["gibbs", "variational", "particle"])
def test_sampler_that_is_told_a_wrong_noise_does_worse(inference):
    _, labels = found_with(inference, MODEL)
    _, wrong = found_with(inference, replace(MODEL, noise_variance=1.0))
    assert accuracy_global(STREAM.labels, wrong) < accuracy_global(STREAM.labels, labels) - 0.1


@cache
def log_evidence(name, factor):
    """Log density of the stream by particle learning, one batch after the other."""
    parameters = replace(MODEL, **{name: factor * getattr(MODEL, name)})
    model = DDPMixture("particle", parameters=parameters, n_particles=50, random_state=0)
    state, total = MixtureState.empty(2), 0.0
    for points in STREAM.batches:
        mass = log_label_mass(batch_prior(state, parameters), len(points))
        model.partial_fit(points)
        total += model.result_.log_evidence - mass
        state = model.state_
    return total


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noise_variance", "motion_variance", "prior_variance"])
@pytest.mark.parametrize("factor", [0.2, 5.0])
def test_evidence_is_highest_at_the_true_parameters(name, factor):
    assert log_evidence("noise_variance", 1.0) > log_evidence(name, factor)
