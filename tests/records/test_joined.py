"""Events of clusters that are joined from subclusters."""

import numpy as np

from dynmeans.records.events import Event
from dynmeans.records.joined import join_records
from dynmeans.records.step_record import StepRecord


def record(step, ids, events):
    n = len(ids)
    ones = np.ones(n)
    return StepRecord(
        step, step + 1.0, np.array(ids), np.array(ids), 3 * ones, np.zeros((n, 1)), ones, 0 * ones,
        ones, n, tuple(events),
    )  # fmt: skip


def test_subclusters_that_go_into_the_same_cluster_at_once_are_one_merge():
    """Clusters 0 and 1 have three subclusters each: 0, 2, 4 and 1, 3, 5."""
    merges = [Event("merged", old, other_id=new) for old, new in ((1, 0), (3, 2), (5, 4))]
    records = [record(0, range(6), []), record(1, [0, 2, 4], merges)]
    *_, last = join_records(records, lambda ids: np.asarray(ids) % 2)
    told = [(e.kind, e.cluster_id, e.other_id) for e in last.events if e.kind == "merged"]
    assert told == [("merged", 1, 0)]
