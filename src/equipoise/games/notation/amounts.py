"""Amounts as players write them, in big blinds or in chips, decimals included, kept exactly.

Betting counts whole chips. An amount with decimals is counted in parts: hundredths of its unit, or smaller
ones where it needs them, so that `97.5` big blinds are 9,750 and nothing is rounded on the way in or out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from equipoise.errors import GameError
from equipoise.settings import brief

#: What amounts may be counted in.
UNITS = ("chips", "bb")
#: Parts of a unit: the least where there are decimals, and the most.
_PARTS, _MOST_PARTS = 100, 10**6
_AMOUNT = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?")


def parts_of(unit: str, amounts: Iterable[object]) -> int:
    """Into how many parts a unit is cut so that all of these amounts are whole numbers of them.

    >>> parts_of("chips", [100, 200]), parts_of("chips", [100, 97.5]), parts_of("bb", [6.5, 0.125])
    (1, 100, 1000)
    """
    exact = [amount for amount in map(_exact, amounts) if amount is not None]
    whole = all(amount.denominator == 1 for amount in exact)
    parts = 1 if unit == "chips" and whole else _PARTS
    while parts < _MOST_PARTS and any((amount * parts).denominator > 1 for amount in exact):
        parts *= 10
    return parts


def in_parts(value: object, key: str, parts: int) -> object:
    """An amount in parts of its unit; what is no number stays as it is, for its reader to refuse."""
    amount = _exact(value)
    if amount is None or (parts == 1 and isinstance(value, float)):
        return value
    counted = amount * parts
    if counted.denominator > 1:
        raise GameError(f"{key} = {brief(value)}: amounts have at most six decimals")
    return int(counted)


def amount_of(chips: int, parts: int) -> int | float:
    """The amount that so many parts are, as a file holds it.

    >>> amount_of(9750, 100), amount_of(300, 100), amount_of(7, 1)
    (97.5, 3, 7)
    """
    return chips // parts if chips % parts == 0 else chips / parts


def amount_text(chips: int, parts: int) -> str:
    """The same as text: all decimals it has, and no more.

    >>> amount_text(325, 100), amount_text(9750, 100), amount_text(200, 100), amount_text(50, 1)
    ('3.25', '97.5', '2', '50')
    """
    whole, rest = divmod(chips, parts)
    if not rest:
        return str(whole)
    return f"{whole}.{str(parts + rest)[1:].rstrip('0')}"


def read_amount(text: str, parts: int) -> int | None:
    """Parts that an amount in a text is; None if it is no amount, or has too many decimals.

    >>> read_amount("3.25", 100), read_amount("3", 100), read_amount("3.255", 100), read_amount("1e3", 1)
    (325, 300, None, None)
    """
    if not _AMOUNT.fullmatch(text):
        return None
    counted = Fraction(text) * parts
    return int(counted) if counted.denominator == 1 else None


def _exact(value: object) -> Fraction | None:
    """A number as it is written in decimals; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != value or abs(value) > 10**18:
        return None
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
