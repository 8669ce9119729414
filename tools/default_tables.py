"""Tables of the defaults of each interface, from the one table in `dynmeans.follow.defaults`."""

from dynmeans.follow.defaults import INTERFACES, defaults_of
from dynmeans.follow.model_config import PARAMETERS

# Interfaces that have a page of their own.
_ON_PAGES = ("cluster", "Run", "foreach_batch", "tune")


def tables() -> dict[str, str]:
    """Return every table by its name."""
    own = {f"defaults of {name}": _table([name]) for name in _ON_PAGES}
    return {"defaults": _table(list(INTERFACES))} | own


def _table(interfaces: list[str]) -> str:
    names = list(dict.fromkeys(n for one in interfaces for n in _differing(one)))
    is_one = len(interfaces) == 1
    head = ["Rows" if is_one else "Interface", *(f"`{name}`" for name in names)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for interface in interfaces:
        for rows in INTERFACES[interface]:
            told = defaults_of(interface, rows)
            label = rows if is_one else f"`{interface}`, {rows}"
            lines.append(f"| {' | '.join([label, *(_shown(told, name) for name in names)])} |")
    return "\n".join(lines)


def _differing(interface: str) -> list[str]:
    return [name for own in INTERFACES[interface].values() for name in own]


def _shown(told: dict[str, object], name: str) -> str:
    if name not in told and name not in PARAMETERS:
        return "-"
    value = told[name] if name in told else PARAMETERS[name].default
    return f"`{value!r}`".replace("'", '"')
