"""Three answers side by side: subclusters as found, the default clusters, and coarse ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynmeans.families.contact import FARTHEST
from dynmeans.families.evidence import Evidence
from dynmeans.families.find import build_families
from dynmeans.inputs.format_count import format_count
from dynmeans.records.arrays import IntArray
from dynmeans.records.families import APART, Families

LEVELS = FINE, DEFAULT, COARSE = "fine", "default", "coarse"
_SIMILAR = 0.8  # of the default clusters: so many left is no coarser answer
_FEW = 2.5  # clusters of even size in a batch, where contact alone gives no coarser answer
_WHAT = {
    FINE: "as found, not merged",
    DEFAULT: "of subclusters that touch",
    COARSE: "of subclusters that touch or lie near each other",
}


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One answer: the cluster of each subcluster, named after its oldest one."""

    name: str
    subcluster_ids: IntArray  # ascending
    cluster_ids: IntArray  # of each subcluster; -1 for noise
    mean_per_batch: float  # clusters in a batch, on average
    noise: float  # share of the rows

    @property
    def n_clusters(self) -> int:
        """Clusters over all time."""
        return len(np.unique(self.cluster_ids[self.cluster_ids >= 0]))

    @property
    def renamed(self) -> dict[int, int]:
        """The cluster of each subcluster that has another number than itself."""
        pairs = zip(self.subcluster_ids.tolist(), self.cluster_ids.tolist(), strict=True)
        return {k: cluster for k, cluster in pairs if cluster != k}

    def to_json(self, batch: str = "window") -> dict[str, Any]:
        """Return the level as JSON values, with a sentence about it."""
        return {
            "name": self.name,
            "n_clusters": self.n_clusters,
            f"n_per_{batch}": round(self.mean_per_batch, 2),
            "noise": round(self.noise, 4),
            "sentence": self.sentence(batch),
            "clusters": {str(k): cluster for k, cluster in self.renamed.items()},
        }

    def sentence(self, batch: str = "window") -> str:
        """Return how many clusters there are, and how they were made."""
        noise = f"; {self.noise:.1%} of the rows are noise" if self.noise else ""
        return (
            f"{format_count(self.n_clusters, 'cluster')} {_WHAT[self.name]}, "
            f"{self.mean_per_batch:.3g} in a {batch}{noise}."
        )


def find_levels(
    evidence: Evidence, families: Families | None = None, **options: Any
) -> Mapping[str, Level]:
    """Return the three levels of the evidence so far; options of `build_families`.

    `families` are the default ones, if they are known.
    """
    default = build_families(evidence, **options) if families is None else families
    return {name: _level(name, families_at(name, evidence, default, **options)) for name in LEVELS}


def families_at(name: str, evidence: Evidence, default: Families, **options: Any) -> Families:
    """Return the families of a level, of which those of the default one are known."""
    if name == FINE:
        return replace(default, level=2 * APART, nearest_family=default.tree.ids)
    kept = {name: options[name] for name in ("noise",) if name in options}
    return default if name == DEFAULT else _coarse(evidence, default, kept)


def _coarse(evidence: Evidence, default: Families, options: Mapping[str, Any]) -> Families:
    """Join up to the largest contact index; if that joins nothing more, or all, two or three."""
    farther = build_families(evidence, threshold=FARTHEST, **options)
    if 1 < farther.n_families < _SIMILAR * default.n_families:
        return farther
    if default.effective_n_families <= _FEW:
        return default
    fewer = default.about_even(_FEW)
    return fewer if fewer.level > default.level else default


def _level(name: str, families: Families) -> Level:
    names = families.family_of_cluster
    noise = families.counts[names < 0].sum() / max(float(families.counts.sum()), 1.0)
    return Level(name, families.tree.ids, names, families.mean_per_batch, float(noise))
