"""ReadingOptions: what cannot be read from a source itself."""

import codecs
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from dynmeans.inputs.fields import one_of, option
from dynmeans.inputs.input_error import InputError

UTF8 = "utf-8"
_DECIMALS = (".", ",")


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Options for reading a source: formats, and which rows are read.

    The `metadata` of each field has its meaning, which `dynmeans cluster --help` prints.

    See Also
    --------
    dynmeans.runs.Source : Takes them.

    Examples
    --------
    >>> from dynmeans.runs import ReadingOptions
    >>> ReadingOptions(decimal=",").decimal
    ','
    """

    sql: str | None = option(None, "One SELECT to read; the input is called source.")
    decimal: str = option(".", "Decimal mark of numbers in text.", choices=_DECIMALS)
    encoding: str = option(
        UTF8,
        "Encoding of CSV and JSON Lines files: cp1252, utf-16 or any other that Python supports.",
    )

    def __post_init__(self) -> None:
        """Check what can be checked before a file is opened."""
        one_of("decimal", self.decimal, _DECIMALS)
        try:
            known = codecs.lookup(self.encoding)
        except (LookupError, ValueError) as error:
            rule = "must be an encoding supported by Python, such as cp1252 or utf-16"
            raise InputError("encoding", rule, got=self.encoding) from error
        object.__setattr__(self, "encoding", known.name)

    def non_default_fields(self) -> list[str]:
        """Return the names of the fields that are not at their default."""
        return [one.name for one in fields(self) if getattr(self, one.name) != one.default]

    def to_fields(self) -> dict[str, Any]:
        """Return what a run stores of it."""
        return asdict(self)

    @classmethod
    def from_fields(cls, stored: Mapping[str, Any]) -> "ReadingOptions":
        """Read what a run has stored."""
        return cls(**{one.name: stored[one.name] for one in fields(cls) if one.name in stored})


AS_USUAL = ReadingOptions()
