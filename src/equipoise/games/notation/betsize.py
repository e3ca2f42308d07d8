"""Bet sizes as text: a number and a unit, as :mod:`equipoise.games.menu` explains them.

Numbers are exact fractions, and their text is exact too: what is written is read again as it was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from equipoise.errors import GameError
from equipoise.settings import brief

_UNITS = "50%, 2.5x, 50c, e or a"
_NUMBER = r"\d+/\d+|\d+(?:\.\d*)?|\.\d+"
_SIZE = re.compile(rf"({_NUMBER})(%|x|c)|(\d*)e(?:({_NUMBER})%)?|a|\*", re.ASCII)
#: Characters of a size, and sizes of a list.
_MOST_CHARACTERS, _MOST_SIZES = 100, 200


@dataclass(frozen=True, slots=True)
class BetSize:
    """One bet size.

    >>> str(BetSize.parse("33.3%")), BetSize.parse("2.5x").number
    ('33.3%', Fraction(5, 2))
    >>> BetSize.parse("50")
    Traceback (most recent call last):
        ...
    equipoise.errors.GameError: '50': a size needs a unit: 50%, 2.5x, 50c, e or a
    """

    #: `%`, `x`, `c`, `e`, `a` or `*`.
    unit: str
    #: Pots for `%`, multiples for `x`, chips for `c`, streets for `e` (0 is all that remain).
    number: Fraction = Fraction(0)
    #: For `e`: the most that is bet, in pots.
    cap: Fraction | None = None

    @classmethod
    def parse(cls, text: str) -> BetSize:
        """Read one size."""
        word = text.strip().lower()
        if len(word) > _MOST_CHARACTERS:
            raise GameError(f"{brief(word)!r}: a size is a few digits and a unit: {_UNITS}")
        match = _SIZE.fullmatch(word)
        if match is None:
            cure = (
                "a size needs a unit"
                if re.fullmatch(_NUMBER, word, re.ASCII)
                else "a size is a number and unit"
            )
            raise GameError(f"{brief(text.strip())!r}: {cure}: {_UNITS}")
        number, unit, streets, cap = match.groups()
        try:
            value, most = Fraction(number or 0), Fraction(cap) / 100 if cap else None
        except ZeroDivisionError:
            raise GameError(f"{word!r}: nothing is divided by 0: {_UNITS}") from None
        if unit is None:
            if word in ("a", "*"):
                return cls(word)
            if streets and not int(streets):
                raise GameError(
                    f"{word!r}: geometric over 0 streets: write 1e, 2e or 3e, or just e"
                )
            return cls("e", Fraction(streets or 0), most)
        if unit == "%":
            value /= 100
        if value <= 0:
            raise GameError(f"{word!r}: a size is more than nothing: drop it")
        if unit == "x" and value <= 1:
            raise GameError(f"{word!r}: a raise is to more than 1x the bet it answers")
        if unit == "c" and value.denominator > 1:
            raise GameError(f"{word!r}: chips are whole numbers")
        return cls(unit, value)

    def __str__(self) -> str:
        if self.unit == "%":
            return f"{_decimal(self.number * 100)}%"
        if self.unit == "e":
            streets = str(self.number) if self.number else ""
            return f"{streets}e" + (f"{_decimal(self.cap * 100)}%" if self.cap is not None else "")
        return f"{_decimal(self.number)}{self.unit}" if self.unit in "xc" else self.unit


def _decimal(number: Fraction) -> str:
    """Decimal text of a number, exactly; a fraction where decimals never end.

    >>> _decimal(Fraction("16.666666666666668")), _decimal(Fraction(100, 3))
    ('16.666666666666668', '100/3')
    """
    places, rest = 0, number.denominator
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            count, rest = count + 1, rest // prime
        places = max(places, count)
    if rest > 1:
        return f"{number.numerator}/{number.denominator}"
    digits = f"{number.numerator * 10**places // number.denominator:0{places + 1}d}"
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


Sizes = tuple[BetSize, ...]


def parse_sizes(text: str) -> Sizes:
    """Read sizes separated by commas; empty text is no sizes.

    >>> [str(size) for size in parse_sizes("50%, 100%, a")]
    ['50%', '100%', 'a']
    """
    if not text.strip():
        return ()
    words = text.split(",", _MOST_SIZES)
    if len(words) > _MOST_SIZES:
        raise GameError(f"a list of over {_MOST_SIZES} sizes: name those that matter")
    return tuple(BetSize.parse(word) for word in words)


def sizes_text(sizes: Sizes) -> str:
    """Write sizes separated by commas."""
    return ",".join(str(size) for size in sizes)
