"""The meaning of each score, in a few words."""

from collections.abc import Mapping

from dynmeans.report.data import Score

_MEANINGS = {
    "accuracy_per_step": "points with their own kind, each batch separately",
    "accuracy_frozen": "points that keep the identity they were first matched with",
    "accuracy_global": "points that keep their identity over all batches",
    "idf1": "balance of identities found and identities true",
    "hota": "division into clusters and identity over time, together",
    "assa": "identity over time, the association part of HOTA",
    "deta": "division into clusters, the detection part of HOTA",
    "id_switches": "times a true cluster was given another identity",
    "fragmentations": "times a true cluster was lost and found again",
    "ari_per_step": "pairs of points rightly together or apart, chance removed, per batch",
    "ari_global": "the same over all batches, identity included",
}


def format_scores(scores: Mapping[str, float]) -> tuple[Score, ...]:
    """Put each score beside its meaning; one that is not known here has none."""
    return tuple(
        Score(str(name), float(value), _MEANINGS.get(name, "")) for name, value in scores.items()
    )
