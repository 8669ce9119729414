"""InputError: what is wrong with an argument, as fields that a command line can render."""

from typing import Any

from dynmeans.inputs.argument_text import ArgumentText

_NOTHING = object()


class InputError(ValueError):
    """An argument breaks a rule; the message has the rule, the value and the way out.

    `argument` is its name in Python, empty where the fault is in the data. `rule`, without a full
    stop, and `hint`, whole sentences, are templates as of `ArgumentText`; a rule that begins with a
    colon speaks of what the argument leads to. Without a rule the argument is the whole text.

    >>> error = InputError("max_gap", "must be greater than 1", got=0.5)
    >>> error
    InputError('max_gap must be greater than 1, got 0.5.')
    >>> error.argument, error.rule, error.value, error.hint
    ('max_gap', 'must be greater than 1', 0.5, '')
    """

    def __init__(
        self,
        argument: str,
        rule: str | None = None,
        *values: Any,
        got: Any = _NOTHING,
        hint: str = "",
    ) -> None:
        if rule is None:
            super().__init__(argument)
            self.argument, self.rule, self.value, self.hint = "", argument, None, ""
            return
        begin = f"{{{argument}}}" + ("" if rule.startswith(":") else " ") if argument else ""
        tail = "" if got is _NOTHING else ", got {!r}"
        end = "." if not rule.endswith("?") else ""
        filled = (*values, *(() if got is _NOTHING else (got,)))
        template = hint.template if isinstance(hint, ArgumentText) else hint
        extra = hint.values if isinstance(hint, ArgumentText) else ()
        way_out = f" {template}" if template else ""
        super().__init__(ArgumentText(f"{begin}{rule}{tail}{end}{way_out}", *filled, *extra))
        self.argument, self.value = argument, None if got is _NOTHING else got
        self.rule, self.hint = str(ArgumentText(rule, *values)), str(ArgumentText(template, *extra))

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickle: by its text, then its fields."""
        return _again, (self.args, self.__dict__)


def _again(args: tuple[Any, ...], fields: dict[str, Any]) -> InputError:
    error = InputError.__new__(InputError, *args)
    error.args = args
    error.__dict__.update(fields)
    return error
