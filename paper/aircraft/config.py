"""What the aircraft experiment is asked for: its data, features, methods and sizes (Sec. 6.2)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dynmeans.inputs.input_error import InputError

METHODS = ("dynamic_means", "dp_means", "gibbs")
# The paper's feature, and one on which flows lie farther apart (decision 0402).
PLAIN, SCALED = "plain", "scaled"
FEATURES = (PLAIN, SCALED)
# Where parameters come from: a fixed recipe, the data alone, or labels that are not scored.
RECIPE, SUGGESTED, TUNED = "recipe", "suggested", "tuned"
ORIGINS = (RECIPE, SUGGESTED, TUNED)
HAVE_UNITS = ("time", "speed", "heading")
HONEST, HANDICAP = "honest", "handicap"
WEEK, WHOLE = "week", "whole"

N_INIT, N_SAMPLES = 3, 50
DAY = 86400.0


@dataclass(frozen=True, slots=True)
class AircraftConfig:
    """One run of the experiment.

    Attributes
    ----------
    messages, flights : str, optional
        Files of messages and of flights with labels. Without messages the simulator makes both.
    columns : mapping of str to str, optional
        Columns of the messages, as in `read_trajectories`.
    units : mapping of str to str, optional
        Units of "time", "speed" and "heading" that are stated, as in `read_trajectories`; those
        not given are detected.
    flight_id, label, scored, confidence : str, optional
        Columns of the file of flights: the id, the true flow, whether the label can be trusted,
        and its weight from 0 to 1.
    area : tuple of float
        South, north, west, east.
    n_flights : int
        Of the simulator.
    n_labeled : int, optional
        Labels that are scored, drawn at random; None takes all. By default 600 of the
        simulator, as in the paper, and all of a file.
    tuning_share : float
        Share of the labels that are kept apart for tuning, and never scored.
    windows : tuple of float
        Hours of a batch.
    features, origins : tuple of str
        Which features, and where the parameters come from.
    length_scale : float
        Of the Gaussian processes, in degrees.
    plain_noise_ratio, scaled_noise_ratio : float
        Of the two features. A plain one of None has it and the length found by marginal
        likelihood.
    is_gp_own : bool
        Whether the plain feature has length and noise found for each trajectory by itself.
    max_points : int
        Points of a trajectory that the Gaussian process sees.
    n_components : int
        Of the scaled feature.
    penalty_share : float
        lambda of the recipe, as a share of the total variance of the feature.
    memory_days : float
        max_gap of the recipe.
    reach : float
        Of the recipe, for windows of two hours; its distance from 1 grows with the window.
    n_trials, gibbs_trials : int
        Trials of each row of the table; of the sampler, which takes most of the time, and may have
        none. More can be added to a results file later.
    tuning_trials : int
        Settings tried when tuning.
    seed : int
        Of everything.
    is_quick : bool
        Whether it is the small form, which has files of its own.
    """

    messages: str | None = None
    flights: str | None = None
    columns: Mapping[str, str] | None = None
    units: Mapping[str, str] | None = None
    flight_id: str = "flight"
    label: str = "flow"
    scored: str | None = None
    confidence: str | None = None
    area: tuple[float, float, float, float] = (24.0, 50.0, -126.0, -66.0)
    n_flights: int = 17_895
    n_labeled: int | None = None
    tuning_share: float = 0.2
    windows: tuple[float, ...] = (0.5, 2.0)
    features: tuple[str, ...] = FEATURES
    origins: tuple[str, ...] = ORIGINS
    length_scale: float = 2.5
    plain_noise_ratio: float | None = None
    is_gp_own: bool = False
    scaled_noise_ratio: float = 1.0
    max_points: int = 64
    n_components: int = 40
    penalty_share: float = 0.56
    memory_days: float = 7.0
    reach: float = 1.003
    n_trials: int = 20
    gibbs_trials: int = 20
    tuning_trials: int = 32
    seed: int = 0
    is_quick: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be run."""
        for name, allowed in (("features", FEATURES), ("origins", ORIGINS), ("units", HAVE_UNITS)):
            unknown = [value for value in getattr(self, name) or () if value not in allowed]
            if unknown or not (getattr(self, name) or name == "units"):
                raise ValueError(f"{name} must be of {', '.join(allowed)}, got {unknown}.")
        if not self.windows or not all(0 < hours < math.inf for hours in self.windows):
            raise ValueError(f"windows must be hours above 0, got {self.windows!r}.")
        if not 0 < self.tuning_share < 1:
            raise ValueError(f"tuning_share must lie between 0 and 1, got {self.tuning_share!r}.")
        for name, least in (
            ("n_trials", 1),
            ("gibbs_trials", 0),
            ("tuning_trials", 1),
            ("n_flights", 1),
        ):
            if getattr(self, name) < least:
                raise InputError(name, f"must be at least {least}", got=getattr(self, name))
        if self.flights is not None and self.messages is None:
            raise InputError("", "flights need messages: give both files, or none")

    def quick(self) -> "AircraftConfig":
        """Return the same with few trials and the paper's windows alone."""
        return replace(
            self, windows=(0.5,), n_trials=3, gibbs_trials=2, tuning_trials=16, is_quick=True
        )

    @property
    def name(self) -> str:
        """What the files of the run are called."""
        return ("simulated" if self.messages is None else "real") + "-quick" * self.is_quick
