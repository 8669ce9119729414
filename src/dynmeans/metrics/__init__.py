"""Scores: pure functions of true and found labels, one array for each batch."""

from dynmeans.metrics.accuracy import accuracy_frozen, accuracy_global, accuracy_per_step
from dynmeans.metrics.agreement import ami_global, ami_per_step, ari_global, ari_per_step
from dynmeans.metrics.identity import HotaScores, fragmentations, hota, id_switches, idf1
from dynmeans.metrics.report import tracking_report

__all__ = [
    "HotaScores",
    "accuracy_frozen",
    "accuracy_global",
    "accuracy_per_step",
    "ami_global",
    "ami_per_step",
    "ari_global",
    "ari_per_step",
    "fragmentations",
    "hota",
    "id_switches",
    "idf1",
    "tracking_report",
]
