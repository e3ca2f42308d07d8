"""Numbers in texts that others wrote: files, lines of a peer, what a person typed.

Python's own `int` and `float` take more than a format means (`nan`, `1_000`, the digits of every
script) and raise errors of their own on numbers of thousands of digits. Here a number is plain
decimal digits, few enough to be exact in 64 bits; anything else is None, and the reader says in its
own words what was expected.
"""

from __future__ import annotations

import re

#: Digits that fit into 64 bits, whatever they are.
MOST_DIGITS = 18

_DECIMAL = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,9})?")


def read_whole(text: str) -> int | None:
    """A whole number of 0 or more; None if the text is none.

    >>> read_whole("300"), read_whole("-3"), read_whole("3_0"), read_whole("9" * 5000)
    (300, None, None, None)
    """
    if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS:
        return int(text)
    return None


def read_decimal(text: str) -> float | None:
    """A number with or without a sign and decimals; None if the text is none.

    >>> read_decimal("-12.5"), read_decimal("50"), read_decimal("nan"), read_decimal("1e9")
    (-12.5, 50.0, None, None)
    """
    return float(text) if _DECIMAL.fullmatch(text) else None
