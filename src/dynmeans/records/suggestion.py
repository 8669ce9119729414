"""Parameters chosen from data alone, and what they were chosen among."""

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.format_count import format_count, plural
from dynmeans.records.penalties import Penalties

_ABOUT_AS_MANY = 1.15  # clusters in a batch, over those where there are fewer


class SuggestionWarning(UserWarning):
    """Parameters were chosen from data that contain little information about them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One choice of parameters that was tried on the batches.

    Attributes
    ----------
    penalties : Penalties
        The choice.
    description_bits : float
        Length of the stream's description, in bits for each point; lower is better. It may be
        negative: the unit of length of the data is arbitrary.
    n_clusters_per_batch : float
        Mean number of clusters in a batch.
    n_clusters_total : int
        Number of different clusters over all batches.
    """

    penalties: Penalties
    description_bits: float
    n_clusters_per_batch: float
    n_clusters_total: int


def _plain_distance(squared: float) -> str:
    return f"{math.sqrt(squared):.3g}"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What `suggest` found.

    Attributes
    ----------
    chosen : Candidate
        The best choice of parameters.
    candidates : tuple of Candidate
        Every choice that was tried, in the order of trial.
    n_batches, n_points : int
        What was given.
    n_sampled_points : int
        Points that the choice was made on; the others are much like them.
    has_scale : bool
        Whether the points differ at all. If not, new_penalty is a placeholder.
    warnings : tuple of ArgumentText
        Why the choice should not be trusted, a sentence or two each; empty where nothing is wrong.
    batch_noun : str
        What a batch is called where it came from: "window" where rows were cut into windows.
    uses_matching : bool
        Whether the clusters are those of another clusterer, and only matched.
    is_of_objects : bool
        Whether each row is one object, which is matched by itself.
    is_joined : bool
        Whether close clusters will be merged into families, so that their number is not the final
        one.
    reason : str
        Why it was chosen, if not for the length of a description.
    format_distance : callable
        Formats a squared distance in the unit of the space.
    """

    chosen: Candidate
    candidates: tuple[Candidate, ...]
    n_batches: int
    n_points: int
    n_sampled_points: int = 0
    has_scale: bool = True
    has_lasting_clusters: bool = True
    warnings: tuple[ArgumentText, ...] = ()
    batch_noun: str = "batch"
    uses_matching: bool = False
    is_of_objects: bool = False
    is_joined: bool = False
    reason: str = ""
    format_distance: Callable[[float], str] = _plain_distance

    @property
    def penalties(self) -> Penalties:
        """The best choice of parameters."""
        return self.chosen.penalties

    @property
    def explanation(self) -> str:
        """What was chosen and what it means, in words."""
        return " ".join(self.explanation_lines)

    @property
    def explanation_lines(self) -> list[ArgumentText]:
        """The explanation, one parameter a sentence."""
        if not self.has_scale:
            alike = "All points are equal, so no scale can be learned from them: "
            message = f"{{new_penalty}} {self.penalties.new_penalty:g} is a placeholder."
            return [ArgumentText(alike + message)]
        return [*self._parameters_in_words(), self._describe_result()]

    def compare_n_clusters(self, n_clusters: float, n_batches: int) -> ArgumentText | None:
        """Return a sentence if all batches have another number than the sampled ones."""
        looked_at = self.chosen.n_clusters_per_batch
        if max(looked_at, n_clusters) <= _ABOUT_AS_MANY * min(looked_at, n_clusters):
            return None
        batches = plural(self.batch_noun)
        return ArgumentText(
            f"{{new_penalty}} was chosen on the first {self.n_batches:,} {batches}, which have "
            f"{format_count(looked_at, 'cluster')} on average; "
            f"all {n_batches:,} have {n_clusters:.3g}."
        )

    def _parameters_in_words(self) -> list[ArgumentText]:
        is_matched = self.uses_matching and not self.is_of_objects
        p, who = self.penalties, "cluster" if is_matched else "point"
        known = "remembered cluster" if self.uses_matching else "cluster"
        words = [
            f"{{new_penalty}} {p.new_penalty:.4g}: a {who} farther than "
            f"{self.format_distance(p.new_penalty)} from every {known} starts a new one."
        ]
        if self.n_batches == 1:
            words.append(
                f"{{max_gap}} {p.max_gap:.3g} and {{reach}} {p.reach:.3g} are not learned: "
                f"a single {self.batch_noun} contains no information about gaps and motion."
            )
            return [ArgumentText(text) for text in words]
        forgotten = "a cluster without points for this many steps is forgotten."
        message = "no cluster is ever forgotten." if p.max_gap == math.inf else forgotten
        since = (
            f"since the last {self.batch_noun}"
            if p.motion == "random_walk"
            else "from the prediction"
        )
        moved = self.format_distance(max(p.reach, 0.0) * p.new_penalty)
        words.append(f"{{max_gap}} {p.max_gap:.3g}: {message}")
        words.append(
            f"{{reach}} {p.reach:.3g}: one that has moved by up to {moved} {since} is recognized."
        )
        if p.motion == "constant_velocity":
            words.append(
                "{motion=constant_velocity}: positions are predicted from the velocity of clusters."
            )
        return [ArgumentText(text) for text in words]

    def _reason_in_words(self) -> str:
        if self.reason:
            return self.reason
        if self.uses_matching:
            return "The distance is half of the usual one between neighbors."
        why = "has the shortest description" if self.has_lasting_clusters else "is the safest"
        return f"{format_count(len(self.candidates), 'setting')} were tried; this one {why}."

    def _describe_result(self) -> ArgumentText:
        is_one = self.n_batches == 1
        batches = self.batch_noun if is_one else f"{self.n_batches} {plural(self.batch_noun)}"
        clusters = format_count(self.chosen.n_clusters_per_batch, "cluster")
        points = format_count(self.n_points, "point")
        if 0 < self.n_sampled_points < self.n_points:
            points += f", {self.n_sampled_points:,} of them used"
        return ArgumentText(
            f"So the {batches} ({points}) have {clusters} on "
            f"average, {format_count(self.chosen.n_clusters_total, 'cluster')} over all time"
            f"{', before they are merged' if self.is_joined else ''}. "
            f"{self._reason_in_words()}"
        )


def emit_warnings(doubts: Iterable[str]) -> None:
    """Warn the caller of the function that calls this one."""
    for doubt in doubts:
        warnings.warn(
            f"the suggested penalties may be poor: {doubt}", SuggestionWarning, stacklevel=3
        )
