"""What the synthetic experiment is asked for: its data, its settings and its sizes (Sec. 6.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.inputs.input_error import InputError

Setting = dict[str, Any]

METHODS = ("dynamic_means", "gibbs", "variational", "particle")
SAMPLERS = METHODS[1:]
# The paper's own choices. Its "transition distribution variance of 0.05" is printed as a variance;
# read as a deviation, like the 0.05 of the data, it is the motion that the clusters have.
PAPER_PENALTIES: Setting = {"new_penalty": 0.04, "max_gap": 6.8, "reach": 1.01}
PAPER_MIXTURE: Setting = {"concentration": 1.0, "survival": 0.05, "motion_variance": 0.05}
DEVIATION_MIXTURE: Setting = {**PAPER_MIXTURE, "motion_variance": 0.0025}
SEARCH_MEASURES = ("frozen", "global")
N_INIT, N_SWEEPS, N_PARTICLES, MAX_ITER = 3, 5000, 100, 5000
THIN = 5
TOL = 1e-20


@dataclass(frozen=True, slots=True)
class SyntheticConfig:
    """One run of the experiment; by default of a size for some twenty minutes on two cores.

    Attributes
    ----------
    noise : {"isotropic", "radial"}
        As in `dynmeans.datasets.moving_gaussians`.
    seed : int
        Of everything.
    n_steps, points_per_cluster, spread, motion, death
        Of the streams.
    new_penalties, max_gaps, reaches : tuple of float
        The grid searched for Dynamic Means.
    concentrations, survivals, motion_variances : tuple of float
        The grid searched for the samplers.
    search_by : {"frozen", "global"}
        The accuracy with tracking that the search maximizes and the figures show.
    search_clusters : int
        Clusters in the streams of the search.
    search_streams, search_kept, search_sweeps : tuple of int, float, int
        The rungs of the search, by successive halving: streams of each rung, share of all
        settings that is tried in it at most, and sweeps of the Gibbs sampler. Dynamic Means is
        tried at every setting of its grid in all rungs.
    n_clusters : tuple of int
        Clusters in the streams of the comparison.
    n_trials : mapping of method to tuple of int
        Streams of the comparison, for each entry of `n_clusters`.
    restarts, sweeps : tuple of int
        What is varied in accuracy against time, on streams of `search_clusters`.
    tradeoff_trials : int
        Streams for each of those.
    """

    noise: str = "isotropic"
    seed: int = 0
    n_steps: int = 100
    points_per_cluster: int = 15
    spread: float = 0.05
    motion: float = 0.05
    death: float = 0.05
    new_penalties: tuple[float, ...] = (0.02, 0.03, 0.04, 0.05, 0.06, 0.075, 0.1, 0.14, 0.2)
    max_gaps: tuple[float, ...] = (1.5, 2.0, 2.5, 3.5, 5.0, 6.8, 10.0)
    reaches: tuple[float, ...] = (1.01, 1.1, 1.25, 1.5, 2.5)
    concentrations: tuple[float, ...] = (0.01, 1.0, 100.0)
    survivals: tuple[float, ...] = (0.001, 0.05, 0.95)
    motion_variances: tuple[float, ...] = (0.00003, 0.0001, 0.0003, 0.001, 0.0025, 0.05)
    search_by: str = "frozen"
    search_clusters: int = 5
    search_streams: tuple[int, ...] = (2, 10)
    search_kept: tuple[float, ...] = (1.0, 0.1)
    search_sweeps: tuple[int, ...] = (100, 250)
    n_clusters: tuple[int, ...] = (2, 5, 10, 20, 50)
    n_trials: Mapping[str, tuple[int, ...]] = field(
        default_factory=lambda: {
            "dynamic_means": (20, 20, 20, 20, 20),
            "gibbs": (6, 6, 4, 2, 0),
            "variational": (10, 10, 10, 5, 0),
            "particle": (10, 10, 10, 10, 5),
        }
    )
    restarts: tuple[int, ...] = (1, 3, 10, 30)
    sweeps: tuple[int, ...] = (50, 250, 1000, 5000)
    tradeoff_trials: int = 5

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        if self.noise not in NOISES:
            raise InputError("noise", f"must be one of {', '.join(NOISES)}", got=self.noise)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InputError("seed", "must be a whole number, 0 or more", got=self.seed)
        if self.search_by not in SEARCH_MEASURES:
            raise InputError(
                "search_by", f"must be one of {', '.join(SEARCH_MEASURES)}", got=self.search_by
            )
        if not len(self.search_streams) == len(self.search_kept) == len(self.search_sweeps):
            raise ValueError(
                "search_streams, search_kept and search_sweeps must have one entry for each rung, "
                f"got {self.search_streams!r}, {self.search_kept!r} and {self.search_sweeps!r}."
            )
        for method in METHODS:
            if len(self.n_trials[method]) != len(self.n_clusters):
                raise ValueError(
                    f"n_trials must have one number for each of {len(self.n_clusters)} entries of "
                    f"n_clusters, got {self.n_trials[method]!r} for {method}."
                )

    @classmethod
    def of_size(
        cls, size: str, *, noise: str = "isotropic", seed: int = 0, search_by: str = "frozen"
    ) -> "SyntheticConfig":
        """Return the configuration of a size: "quick", "default" or "full", as published."""
        if size not in _SIZES:
            raise ValueError(f"size must be one of {', '.join(_SIZES)}, got {size!r}.")
        return cls(noise=noise, seed=seed, search_by=search_by, **_SIZES[size])

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "SyntheticConfig":
        """Return the configuration that `asdict` was taken of, JSON or not."""
        tuples: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in values.items()
        }
        tuples["n_trials"] = {k: tuple(v) for k, v in values["n_trials"].items()}
        return cls(**tuples)

    @property
    def score(self) -> str:
        """The column that the search maximizes and the figures show."""
        return f"accuracy_{self.search_by}"

    @property
    def noise_variance(self) -> float:
        """sigma: the true variance of the points around their center, along each axis."""
        return self.spread**2 if self.noise == "isotropic" else self.spread**2 / 2


_SIZES: dict[str, dict[str, Any]] = {
    "quick": {
        "new_penalties": (0.02, 0.04, 0.06, 0.1, 0.2),
        "max_gaps": (1.5, 2.5, 6.8, 10.0),
        "reaches": (1.01, 1.25, 2.0),
        "concentrations": (1.0,),
        "survivals": (0.05, 0.95),
        "motion_variances": (0.0003, 0.0025, 0.05),
        "search_streams": (2, 4),
        "search_kept": (1.0, 0.5),
        "search_sweeps": (100, 250),
        "n_clusters": (2, 5, 10),
        "n_trials": {
            "dynamic_means": (8, 8, 8),
            "gibbs": (2, 2, 2),
            "variational": (8, 8, 8),
            "particle": (8, 8, 8),
        },
        "restarts": (1, 3, 10),
        "sweeps": (50, 250, 1000),
        "tradeoff_trials": 2,
    },
    "default": {},
    "full": {
        "new_penalties": (0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.075, 0.1, 0.14, 0.2),
        "max_gaps": (1.2, 1.5, 2.0, 2.5, 3.5, 5.0, 6.8, 10.0, 15.0),
        "reaches": (1.0, 1.01, 1.1, 1.25, 1.5, 2.5),
        "concentrations": (0.00001, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0),
        "survivals": (0.0001, 0.001, 0.01, 0.05, 0.3, 0.95),
        "motion_variances": (0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.0025, 0.01, 0.05),
        "search_streams": (2, 8, 20, 50),
        "search_kept": (1.0, 0.15, 0.04, 0.015),
        "search_sweeps": (50, 250, 1000, N_SWEEPS),
        "n_trials": dict.fromkeys(METHODS, (50,) * 5),
        "restarts": (1, 3, 10, 30, 100),
        "sweeps": (50, 250, 1000, 5000),
        "tradeoff_trials": 50,
    },
}
