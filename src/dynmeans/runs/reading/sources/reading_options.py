"""ReadingOptions: what a file does not say about itself."""

import codecs
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dynmeans.inputs.input_error import InputError

UTF8 = "utf-8"
_DECIMALS = (".", ",")


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How the rows of a source are written, and which of them are wanted.

    Attributes
    ----------
    decimal : {".", ","}
        What stands before the decimals of a number that is written as text.
    encoding : str
        Encoding of CSV files and JSON lines, by a name that Python knows: ``cp1252``, ``utf-16``.
    distinct : bool
        Leave out rows that equal an earlier one in every column.
    network : bool
        Whether ``https://`` and ``s3://`` may be read; a run folder never says so by itself.

    Examples
    --------
    >>> ReadingOptions(decimal=",").to_source_fields()
    {'decimal': ','}
    """

    decimal: str = "."
    encoding: str = UTF8
    distinct: bool = False
    network: bool = False

    def __post_init__(self) -> None:
        """Check what can be checked before a file is opened."""
        if self.decimal not in _DECIMALS:
            raise InputError("decimal", "must be . or ,", got=self.decimal)
        try:
            known = codecs.lookup(self.encoding)
        except (LookupError, ValueError) as error:
            rule = "must be an encoding that Python knows, such as cp1252 or utf-16"
            raise InputError("encoding", rule, got=self.encoding) from error
        object.__setattr__(self, "encoding", known.name)

    def to_source_fields(self) -> dict[str, Any]:
        """Return what a run stores of it: what was chosen, and nothing that opens the network."""
        chosen = asdict(self)
        del chosen["network"]
        return {name: value for name, value in chosen.items() if value != getattr(AS_USUAL, name)}

    @classmethod
    def from_source_fields(
        cls, fields: Mapping[str, Any], *, network: bool = False
    ) -> "ReadingOptions":
        """Read what a run has stored."""
        names = ("decimal", "encoding", "distinct")
        return cls(network=network, **{name: fields[name] for name in names if name in fields})


AS_USUAL = ReadingOptions()
