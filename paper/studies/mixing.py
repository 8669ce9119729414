"""Does the Gibbs sampler mix? Effective samples and agreement of four chains, batch by batch.

Run as ``python -m paper.studies.mixing``. Four chains of 1,000 sweeps on every batch of streams of
five clusters, from the same memory and different seeds; the most probable sample of the first chain
is carried on. Of the log posterior: split R-hat and effective size (Gelman et al., Bayesian Data
Analysis, 3rd ed., Sec. 11.4 and 11.5), and by how much the best of the chains differ. Writes
paper/results/mixing.parquet, a row for each stream.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.mixture.carried_sample import remember
from dynmeans.mixture.gibbs import gibbs
from dynmeans.mixture.model import batch_prior, center_posteriors
from dynmeans.records.arrays import FloatArray
from dynmeans.records.mixture import MixtureParameters, MixtureState
from paper.results_file import Row
from paper.studies.found import found_settings
from paper.studies.rows import run_study
from paper.synthetic.config import SyntheticConfig
from paper.synthetic.streams import PRIOR_MEAN, PRIOR_VARIANCE, stream_of
from paper.synthetic.tasks import DEVIATION, FOUND

EXPERIMENT = "mixing"
N_CHAINS, N_SWEEPS, N_STREAMS, N_CLUSTERS = 4, 1000, 4, 5
KEY = ("noise", "origin", "trial")
SCHEMA = pa.schema(
    [
        *(("noise", pa.string()), ("origin", pa.string()), ("trial", pa.int64())),
        ("r_hat", pa.float64()),  # median over batches
        ("r_hat_high", pa.float64()),  # share of batches above 1.1
        ("effective", pa.float64()),  # median effective size of all chains, in samples
        ("best_apart", pa.float64()),  # share of batches whose chains find different best samples
    ]
)


def tasks() -> list[Row]:
    """Return the first streams of both noises, at the true motion and at the parameters found."""
    return [
        dict(zip(KEY, (noise, origin, trial), strict=True))
        for trial in range(N_STREAMS)
        for noise in NOISES
        for origin in (DEVIATION, FOUND)
    ]


def run(task: Row) -> dict[str, Any]:
    """Return the diagnostics of one stream."""
    config = SyntheticConfig.of_size("full", noise=task["noise"])
    parameters = MixtureParameters(
        **found_settings(task["noise"], task["origin"])["gibbs"],
        noise_variance=config.noise_variance,
        prior_mean=PRIOR_MEAN,
        prior_variance=PRIOR_VARIANCE,
    )
    state, found = MixtureState.empty(2), []
    for step, points in enumerate(stream_of(config, 0, N_CLUSTERS, task["trial"]).batches):
        prior = batch_prior(state, parameters)
        seeds = [1000 * step + chain for chain in range(N_CHAINS)]
        chains = [gibbs(points, prior, n_samples=N_SWEEPS, seed=seed) for seed in seeds]
        logs = np.array([chain.log_posteriors for chain in chains])
        half = logs[:, N_SWEEPS // 2 :]  # the first half warms up
        best = half.max(axis=1)
        found.append((split_r_hat(half), effective_size(half), float(np.ptp(best) > 1e-6)))
        labels = chains[0].labels[logs[0].argmax()]
        seen = center_posteriors(points, labels, prior)
        state, _ = remember(state, labels, seen, parameters, 1.0, -logs[0][[logs[0].argmax()]])
    r_hat, effective, apart = np.array(found).T
    medians = {"r_hat": np.median(r_hat), "r_hat_high": np.mean(r_hat > 1.1)}
    medians |= {"effective": np.median(effective), "best_apart": np.mean(apart)}
    return {name: task[name] for name in KEY} | {k: float(v) for k, v in medians.items()}


def split_r_hat(chains: FloatArray) -> float:
    """Return the potential scale reduction of chains cut in halves; 1 where all are constant."""
    parts = np.concatenate(np.array_split(chains, 2, axis=1))
    n, within = parts.shape[1], parts.var(axis=1, ddof=1).mean()
    between = parts.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((n - 1) / n + between / within))


def effective_size(chains: FloatArray) -> float:
    """Return the effective number of samples, autocorrelations summed while pairs are positive."""
    m, n = chains.shape
    centered = chains - chains.mean(axis=1, keepdims=True)
    within = chains.var(axis=1, ddof=1).mean()
    total = (n - 1) / n * within + chains.mean(axis=1).var(ddof=1)
    if total == 0:
        return float(m * n)
    spectrum = np.abs(np.fft.rfft(centered, 2 * n, axis=1)) ** 2
    covariances = np.fft.irfft(spectrum, axis=1)[:, :n].mean(axis=0) / n
    correlations = 1 - (within - covariances) / total
    pairs = correlations[1 : n - 1 - (n % 2)].reshape(-1, 2).sum(axis=1)
    is_positive = np.cumprod(pairs > 0).astype(bool)
    return float(m * n / max(1 + 2 * pairs[is_positive].sum(), 1 / (m * n)))


if __name__ == "__main__":
    about = {"n_chains": N_CHAINS, "n_sweeps": N_SWEEPS, "n_clusters": N_CLUSTERS}
    run_study(EXPERIMENT, run, tasks(), schema=SCHEMA, key=KEY, configuration=about)
