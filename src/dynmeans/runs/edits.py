"""Names, mergers and pins that people put on top of the identities of a run (decision 0207).

Every function here may be called while another process writes windows.
"""

import getpass
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import IntArray
from dynmeans.runs.levels import StoredLevels, read_levels, show_level
from dynmeans.runs.store.edit_log import append_edits, read_edits
from dynmeans.runs.store.run_tables import topic_names
from dynmeans.runs.store.store import Store
from dynmeans.runs.unconfirmed import unconfirmed_ids

WORDS = "words"  # of the manifest: names that clusters have until people give them others
GROUPS = "groups"  # of the manifest: clusters that are shown as others, by `n_clusters`
NOISE = "noise"  # what has the label -1
CLUSTERS_HINT = "Use `dynmeans clusters RUN` to list the IDs."
NAME, MERGE, SPLIT, PIN, UNDO = KINDS = ("name", "merge", "split", "pin", "undo")
MAX_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit."""

    edit_id: int  # Its place in the log, from 1
    kind: str  # {"name", "merge", "split", "pin", "undo"}; what was done
    # To whom; of a merger the identity that stays; None where an edit is undone.
    cluster_id: int | None
    # Of a merger the identity that is shown as the other; of "undo" the number of the edit.
    other_id: int | None
    text: str | None  # The name; empty where it was taken away
    # author, created_at: who made the edit, and when, in UTC.
    author: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Edits:
    """What the edits of a run come to.

    Examples
    --------
    >>> edits = replay([
    ...     Edit(1, "name", 7, None, "TUG 17", "ann", "2026-11-16T02:00:00+00:00"),
    ...     Edit(2, "merge", 7, 9, None, "ann", "2026-11-16T02:01:00+00:00"),
    ... ])
    >>> edits.resolve_ids(np.array([7, 8, 9])).tolist(), edits.name_of(9)
    ([7, 8, 7], 'TUG 17')
    """

    log: tuple[Edit, ...] = ()  # All of them, those that were undone too
    names: Mapping[int, str] = field(default_factory=dict)  # Names by identity
    # The identity that each merged one is shown as.
    merged: Mapping[int, int] = field(default_factory=dict)
    # Identities that count as confirmed, however small or short-lived.
    pinned: frozenset[int] = frozenset()

    def resolve_ids(self, ids: IntArray) -> IntArray:
        """Return identities as they are shown: merged ones under the number that stays."""
        if not self.merged:
            return ids
        known = np.array(sorted(self.merged))
        targets = np.array([self.merged[k] for k in known.tolist()])
        places = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        return np.where(known[places] == ids, targets[places], ids)

    def name_of(self, cluster_id: int) -> str | None:
        """Return the name under which a cluster is shown, if it has one."""
        return self.names.get(self.merged.get(cluster_id, cluster_id))

    def display_names(self) -> dict[int, str]:
        """Return a name for each identity that is not shown as its own number."""
        roots = {k: self.merged.get(k, k) for k in {*self.names, *self.merged}}
        named = {k: NOISE if root < 0 else self.names.get(root) for k, root in roots.items()}
        return {k: name or f"as {roots[k]}" for k, name in named.items() if name or roots[k] != k}

    def without(self, cluster_ids: IntArray) -> "Edits":
        """Return the same edits with some clusters shown as noise."""
        hidden = set(cluster_ids.tolist())
        merged = {k: -1 if root in hidden else root for k, root in self.merged.items()}
        return replace(self, merged=MappingProxyType(merged | dict.fromkeys(hidden, -1)))

    def undone_edits(self) -> frozenset[int]:
        """Return the numbers of the edits that were undone."""
        numbers = (edit.other_id for edit in self.log if edit.kind == UNDO)
        return frozenset(edit_id for edit_id in numbers if edit_id is not None)


def replay(log: Iterable[Edit], groups: Mapping[int, int] | None = None) -> Edits:
    """Apply the edits one after the other, without those that were undone.

    `groups` are clusters that are shown as others before any edit.
    """
    every = Edits(tuple(log))
    undone = every.undone_edits()
    names, merged, pinned = dict[int, str](), dict(groups or {}), set[int]()
    for edit in every.log:
        k, other = edit.cluster_id, edit.other_id
        if k is None or edit.edit_id in undone:
            continue
        if edit.kind == NAME:
            names.pop(k, None)
            names |= {k: edit.text} if edit.text else {}
        elif edit.kind == PIN:
            pinned.add(k)
        elif edit.kind == SPLIT:
            merged = {i: root for i, root in merged.items() if root != k}
        elif edit.kind == MERGE and other is not None:
            root, leaf = merged.get(k, k), merged.get(other, other)
            group = [leaf, *(i for i, shown in merged.items() if shown == leaf)]
            merged |= {i: root for i in group if i != root}
    for k in sorted(names):  # at another level a cluster may have another oldest member
        names.setdefault(merged.get(k, k), names[k])
    return Edits(every.log, MappingProxyType(names), MappingProxyType(merged), frozenset(pinned))


def _check_name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"name must be text, got {name!r}.")
    text = " ".join(name.split())
    if len(text) > MAX_CHARACTERS:
        rule = f"must have at most {MAX_CHARACTERS} characters"
        raise InputError("name", rule, got=f"{text[:40]}...")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError("name", "must be text that UTF-8 can hold", got=text) from error
    return text


def _append(
    store: Store, author: str | None, make: Callable[[Edits], list[dict[str, Any]]]
) -> list[Edit]:
    """Add the edits that `make` returns for those in force; what it raises changes nothing."""
    signed = {
        "author": _check_author(author),
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    rows = append_edits(store, lambda rows: [e | signed for e in make(_replay_rows(rows))])
    return [Edit(**row) for row in rows]


def _replay_rows(rows: list[dict[str, Any]]) -> Edits:
    return replay(Edit(**row) for row in rows)


def _check_author(author: str | None) -> str:
    if author is not None:
        return _check_name(author[:MAX_CHARACTERS])
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a process of no known user
        return "unknown"


def _check_known(store: Store, cluster_id: int) -> None:
    if isinstance(cluster_id, bool) or not isinstance(cluster_id, int | np.integer):
        raise TypeError(f"cluster_id must be an integer, got {cluster_id!r}.")
    is_id = 0 <= cluster_id < 2**63
    if not is_id or not list(store.rows("clusters", "WHERE cluster_id = ?", [int(cluster_id)])):
        rule = ": cluster {} does not exist"
        raise InputError("cluster", rule, cluster_id, hint=CLUSTERS_HINT)


class Editing:
    """Names, mergers and pins of a run; also while another process writes to it."""

    _store: Store
    config: Any

    def lock(self) -> None:
        """Keep others from writing, until the run is closed."""
        raise NotImplementedError

    @property
    def edits(self) -> Edits:
        """Names, mergers and pins that are in force, and the log of all edits.

        A cluster that has no name from people has that of its words, if any. Of joined clusters
        those that are not confirmed yet are shown as noise.
        """
        edits = self.edits_at(None)
        if self.levels is None:
            return edits
        hidden = unconfirmed_ids(self._store, edits.resolve_ids, edits.pinned)
        return edits.without(hidden)

    def edits_at(self, level: str | None) -> Edits:
        """Return the edits over all clusters of a level, by default of the one shown."""
        groups, levels = self.groups.merged, self.levels
        if level is not None and levels is not None:
            groups = levels.clusters.get(level, {})
        edits = replay((Edit(**row) for row in read_edits(self._store)), groups)
        words = topic_names(self._store)
        words |= {int(k): name for k, name in (self._store.manifest(WORDS) or {}).items()}
        return replace(edits, names=MappingProxyType(words | dict(edits.names))) if words else edits

    @property
    def groups(self) -> Edits:
        """The clusters at the level shown, as mergers of subclusters before any edit."""
        if (levels := self.levels) is not None:
            return replay((), levels.joins)
        kept = self._store.manifest(GROUPS) or {}
        return replay((), {int(k): root for k, root in kept.items()})

    @property
    def levels(self) -> StoredLevels | None:
        """Three answers, fine, default and coarse, and which one is shown; None without."""
        return read_levels(self._store)

    def choose_level(self, name: str) -> None:
        """Show clusters at another level: "fine", "default" or "coarse"; edits stay."""
        if self.levels is None:
            hint = "Cluster with {level='default'}."
            raise InputError("level", "needs a run of joined clusters", got=name, hint=hint)
        self.lock()
        show_level(self._store, name)

    def split_cluster(self, cluster_id: int, *, author: str | None = None) -> Edit:
        """Show the subclusters of a cluster separately; no label is modified."""
        _check_known(self._store, cluster_id)
        if cluster_id not in self.edits.merged.values():
            hint = "A smaller {new_penalty} finds more."
            raise InputError("cluster", ": {} has no subclusters", cluster_id, hint=hint)
        row = {"kind": SPLIT, "cluster_id": int(cluster_id)}
        return _append(self._store, author, lambda _: [row])[0]

    def name_cluster(self, cluster_id: int, name: str, *, author: str | None = None) -> Edit:
        """Give a cluster a name of at most 200 characters; an empty one takes it away.

        `who` is the author; by default the user of this computer.
        """
        return self.name_clusters({cluster_id: name}, author=author)[0]

    def name_clusters(self, names: Mapping[int, str], *, author: str | None = None) -> list[Edit]:
        """Give several clusters names; if one is refused, none is given."""
        texts = {k: _check_name(name) for k, name in names.items()}

        def make(edits: Edits) -> list[dict[str, Any]]:
            for cluster_id in texts:
                _check_known(self._store, cluster_id)
                if cluster_id in edits.merged:
                    rule = ": {} is shown as {}; name that one, or undo the merge first"
                    raise InputError("cluster", rule, cluster_id, edits.merged[cluster_id])
            return [{"kind": NAME, "cluster_id": int(k), "text": text} for k, text in texts.items()]

        return _append(self._store, author, make)

    def merge_clusters(self, kept_id: int, other_id: int, *, author: str | None = None) -> Edit:
        """Show `other_id`, and all that are shown as it, as `kept_id`; no label is modified."""
        for cluster_id in (kept_id, other_id):
            _check_known(self._store, cluster_id)

        def make(edits: Edits) -> list[dict[str, Any]]:
            kept, other = (edits.merged.get(k, k) for k in (kept_id, other_id))
            if kept == other:
                rule = ": {} and {} are shown as one cluster already"
                raise InputError("clusters", rule, kept_id, other_id)
            return [{"kind": MERGE, "cluster_id": int(kept_id), "other_id": int(other_id)}]

        return _append(self._store, author, make)[0]

    def pin_cluster(self, cluster_id: int, *, author: str | None = None) -> Edit:
        """Keep a cluster confirmed, however small or short-lived it is."""
        _check_known(self._store, cluster_id)
        pinned = {"kind": PIN, "cluster_id": int(cluster_id)}
        return _append(self._store, author, lambda _: [pinned])[0]

    def undo_edit(self, edit_id: int | None = None, *, author: str | None = None) -> Edit:
        """Undo an edit, by default the last one that is in force; the log keeps both."""

        def make(edits: Edits) -> list[dict[str, Any]]:
            undone = edits.undone_edits()
            in_force = [e.edit_id for e in edits.log if e.kind != UNDO and e.edit_id not in undone]
            if not in_force:
                raise InputError("", "there is no edit to undo")
            if edit_id is not None and edit_id not in in_force:
                rule = ": there is no edit {} to undo; the edits that can be undone are {}"
                raise InputError("edit_id", rule, edit_id, ", ".join(map(str, in_force)))
            return [{"kind": UNDO, "other_id": in_force[-1] if edit_id is None else edit_id}]

        return _append(self._store, author, make)[0]
