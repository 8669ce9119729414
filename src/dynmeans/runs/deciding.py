"""Deciding: a run whose penalties are chosen on rows that it must keep until then."""

from typing import Any

from dynmeans.records.penalties import Penalties
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.store.store import Store

# In the configuration until the choice is made; no window is clustered with them.
UNDECIDED = Penalties(1.0, max_gap=2, reach=2.0)
_ENTRY = "is_undecided"


class Deciding:
    """The choice of the penalties, as methods of the run."""

    _store: Store
    config: RunConfig
    _fields: dict[str, Any]
    _stepper: Any

    @property
    def is_undecided(self) -> bool:
        """Whether rows are still waited for that the penalties are chosen on."""
        return bool(self._store.manifest(_ENTRY))

    def leave_undecided(self) -> None:
        """Take in messages alone, until `decide` is called."""
        self._store.note({_ENTRY: True})

    def decide(self, config: RunConfig) -> None:
        """Fix the configuration; only before the first window."""
        self._fields = config.to_fields()
        self._store.configure(self._fields, {_ENTRY: False})
        self.config, self._stepper = config, None
