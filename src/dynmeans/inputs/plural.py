"""Numbers with their nouns, as people say them."""


def counted(n: float, noun: str) -> str:
    """Return a number and its noun, in the plural unless the number is shown as 1.

    Examples
    --------
    >>> counted(1, "window"), counted(2803, "cluster"), counted(2, "batch"), counted(1.25, "point")
    ('1 window', '2,803 clusters', '2 batches', '1.25 points')
    """
    number = f"{n:,.0f}" if n >= 100 or n == int(n) else f"{n:.3g}"
    if number == "1":
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"
