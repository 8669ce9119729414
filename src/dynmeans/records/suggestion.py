"""Parameters chosen from data alone, and what they were chosen among."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from dynmeans.inputs.plural import counted
from dynmeans.records.penalties import Penalties


class SuggestionWarning(UserWarning):
    """Parameters were chosen from data that say little about them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One choice of parameters that was tried on the batches.

    Attributes
    ----------
    penalties : Penalties
        The choice.
    bits : float
        Length of the stream's description, in bits for each point; lower is better. It may be
        negative: the unit of length of the data is arbitrary.
    n_clusters : float
        Clusters seen in a batch, on average.
    n_identities : int
        Different clusters over all batches.
    """

    penalties: Penalties
    bits: float
    n_clusters: float
    n_identities: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What `suggest_details` found.

    Attributes
    ----------
    chosen : Candidate
        The best choice of parameters.
    candidates : tuple of Candidate
        Every choice that was tried, in the order of trial.
    n_batches, n_points : int
        What the choice was made on.
    is_scale_known : bool
        Whether the points differ at all. If not, new_penalty is a placeholder.
    doubts : tuple of str
        Why the choice should not be trusted, a sentence or two each; empty where nothing is wrong.
    """

    chosen: Candidate
    candidates: tuple[Candidate, ...]
    n_batches: int
    n_points: int
    is_scale_known: bool = True
    doubts: tuple[str, ...] = ()

    @property
    def penalties(self) -> Penalties:
        """The best choice of parameters."""
        return self.chosen.penalties

    @property
    def explanation(self) -> str:
        """What was chosen and what it means, in words."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """The explanation, one parameter a sentence."""
        if not self.is_scale_known:
            return [
                f"All {self.n_points} points are alike, so nothing can be learned from them: "
                f"new_penalty {self.penalties.new_penalty:g} is a placeholder."
            ]
        return [*self._parameters_in_words(), self._result_in_words()]

    def _parameters_in_words(self) -> list[str]:
        p = self.penalties
        distance = math.sqrt(p.new_penalty)
        words = [
            f"new_penalty {p.new_penalty:.4g}: a point farther than {distance:.3g} from every "
            "cluster starts a new one."
        ]
        if self.n_batches == 1:
            words.append(
                f"max_gap {p.max_gap:.3g} and reach {p.reach:.3g} are not learned: a single batch "
                "says nothing about gaps and moves."
            )
            return words
        words.append(
            f"max_gap {p.max_gap:.3g}: after that much time unseen a cluster is forgotten."
        )
        since = "since the last batch" if p.motion == "still" else "off its course"
        words.append(
            f"reach {p.reach:.3g}: one that has moved by up to "
            f"{math.sqrt(max(p.reach, 0.0)) * distance:.3g} {since} is recognised."
        )
        if p.motion == "steady":
            words.append("motion steady: clusters are expected where their velocity takes them.")
        return words

    def _result_in_words(self) -> str:
        batches = f"{self.n_batches} batches" if self.n_batches > 1 else "batch"
        clusters = counted(self.chosen.n_clusters, "cluster")
        return (
            f"So the {batches} given ({counted(self.n_points, 'point')}) hold {clusters} on "
            f"average, {counted(self.chosen.n_identities, 'identity')} in all. "
            f"{counted(len(self.candidates), 'choice')} were tried; this one describes the points "
            "most briefly."
        )


def warn_of_doubts(doubts: Iterable[str]) -> None:
    """Warn whoever called the function that calls this one."""
    for doubt in doubts:
        warnings.warn(
            f"the suggested penalties are doubtful: {doubt}", SuggestionWarning, stacklevel=3
        )
