"""The meaning of each score, in a few words."""

from collections.abc import Mapping

from dynmeans.report.data import Score

_MEANINGS = {
    "accuracy_per_step": "points in the matching cluster, each batch separately",
    "accuracy_frozen": "points that keep the ID of their first match",
    "accuracy_global": "points that keep one ID over all batches",
    "idf1": "agreement of found IDs and true IDs (F1)",
    "hota": "partition and IDs over time, together",
    "assa": "IDs over time, the association part of HOTA",
    "deta": "partition, the detection part of HOTA",
    "id_switches": "times a true cluster got another ID",
    "fragmentations": "times a true cluster was lost and found again",
    "ari_per_step": "pairs of points correctly together or apart, adjusted for chance, per batch",
    "ari_global": "the same over all batches, IDs included",
}


def format_scores(scores: Mapping[str, float]) -> tuple[Score, ...]:
    """Join each score with its meaning; one that is not known here has none."""
    return tuple(
        Score(str(name), float(value), _MEANINGS.get(name, "")) for name, value in scores.items()
    )
