"""Messages in the words of the command line: options where Python has arguments."""

import re
from collections.abc import Iterable, Mapping

import typer

from dynmeans.cli.app import app

# Arguments whose option has another name.
_OTHER_NAMES = {"random_state": "seed", "n_threads": "threads", "path": "output"}
# No words of English that a message could hold by chance; so are all names with an underscore.
_UNMISTAKABLE = {"drift", "reach", "standardise"}
# After a name that is a word of English: what shows that the argument is meant.
_SPOKEN_OF = r"(?= must | needs | is for | was |: )"
_QUOTED = re.compile(r"""((?<!\w)(?:'[^']*'|"[^"]*")(?!\w))""")


def with_flags(message: str, words: Iterable[str]) -> str:
    """Name options where the message names arguments.

    Parameters
    ----------
    message : str
        What was raised below; what stands in quotes is left alone.
    words : iterable of str
        The command line, which says whose options they are.

    Examples
    --------
    >>> with_flags("max_gap must be greater than 1, got 0.5.", ["cluster"])
    '--max-gap must be greater than 1, got 0.5.'
    >>> with_flags("truth: there is no column 'max_gap'.", ["cluster", "rows.csv"])
    "--truth: there is no column 'max_gap'."
    """
    flags = _flags_of(words)
    if not flags:
        return message
    every = "|".join(flags)
    sure = "|".join(name for name in flags if "_" in name or name in _UNMISTAKABLE)
    pattern = re.compile(
        rf"(?:^|(?<=[.:;] ))(?P<subject>{every}){_SPOKEN_OF}"
        rf"|(?<![-\w])(?:(?P<argument>{every})(?:=\.\.\.|(?==))|(?P<sure>{sure or '(?!)'})\b)"
    )
    pieces = _QUOTED.split(message)
    for i in range(0, len(pieces), 2):  # every other piece is in quotes
        pieces[i] = pattern.sub(lambda found: flags[found[found.lastgroup or 0]], pieces[i])
    return "".join(pieces)


def _flags_of(words: Iterable[str]) -> Mapping[str, str]:
    """Return the options of the command that was called, by the names that Python has for them."""
    command = typer.main.get_command(app)
    for word in words:
        commands = getattr(command, "commands", {})
        if word not in commands:
            break
        command = commands[word]
    options = (option for parameter in command.params for option in parameter.opts)
    flags = {name[2:].replace("-", "_"): name for name in options if name.startswith("--")}
    others = {name: flags[option] for name, option in _OTHER_NAMES.items() if option in flags}
    return flags | others
