"""Numbers with their nouns."""


def format_count(n: float, noun: str) -> str:
    """Return a number and its noun, in the plural unless the number is shown as 1.

    >>> format_count(1, "window"), format_count(2803, "cluster"), format_count(1.25, "point")
    ('1 window', '2,803 clusters', '1.25 points')
    """
    number = f"{n:,.0f}" if n >= 100 or n == int(n) else f"{n:.3g}"
    return f"{number} {noun if number == '1' else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> plural("window"), plural("batch"), plural("identity")
    ('windows', 'batches', 'identities')
    """
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}{'es' if noun.endswith('ch') else 's'}"
