"""What each cluster of a run is, in sentences for the panel and the search of a page."""

import numpy as np

from dynmeans.runs.analysis.profiles import Profiles

# Of the page's 5 MB; clusters with the most points come first.
DESCRIPTION_BYTES = 250_000
_MANY_DEVIATIONS = 0.5  # less sets nothing apart
_N_APART = 3


def descriptions(profiles: Profiles, n_bytes: int = DESCRIPTION_BYTES) -> dict[int, list[str]]:
    """Return distinctive features and typical rows of clusters, as far as there is room."""
    by_cluster: dict[int, list[str]] = {}
    for row in np.argsort(-np.asarray(profiles.lifetimes.n_points), kind="stable").tolist():
        sentences = [
            *_apart(profiles, row),
            *_format_terms(profiles, row),
            *_typical(profiles, row),
        ]
        n_bytes -= 16 + sum(len(sentence.encode()) + 4 for sentence in sentences)
        if n_bytes < 0:
            break
        if sentences:
            by_cluster[int(profiles.ids[row])] = sentences
    return by_cluster


def _apart(profiles: Profiles, row: int) -> list[str]:
    means = dict(
        zip(profiles.features, profiles.format_values(row, profiles.means[row]), strict=True)
    )
    return [
        f"{name} {means[name]}, {abs(by):.1f} standard deviations "
        f"{'above' if by > 0 else 'below'} the others"
        for name, by in profiles.largest_differences(row)[:_N_APART]
        if abs(by) >= _MANY_DEVIATIONS
    ]


def _format_terms(profiles: Profiles, row: int) -> list[str]:
    cluster_id = int(profiles.ids[row])
    lines = []
    for name, telling in profiles.terms.items():
        if values := telling.values_of(cluster_id):
            lines.append(f"{name}: {', '.join(values)}")
    return lines


def _typical(profiles: Profiles, row: int) -> list[str]:
    """Write the text nearest to the center, where there is text."""
    k = int(profiles.ids[row])
    return [f"typical: {t.typical[k]}" for t in profiles.terms.values() if k in t.typical][:1]
