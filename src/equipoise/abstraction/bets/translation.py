"""Bet translation: which size of a menu an opponent's bet is taken for.

A bet `x` lies between neighbouring sizes `A <= x <= B` of the menu, a check or call being size 0.
A mapping gives `f(x)`, the probability that it is taken for `A`. Sizes are in pots, the pot being
what it is after a call, or in chips with that pot given. The seven mappings (Schnizlein, Bowling
and Szafron 2009; Ganzfried and Sandholm 2013):

    arithmetic, randomised       (B - x) / (B - A)
    arithmetic, deterministic    A up to x* = (A + B) / 2
    geometric, deterministic     A up to x* = sqrt(AB)
    geometric 1, randomised      g / (g + h),   g = (A/x - A/B) / (1 - A/B),   h = (x - A) / (B - A)
    geometric 2, randomised      AB(A + B) / ((B - A)(x² + AB)) - A / (B - A)
    pseudo-harmonic, randomised  (B - x)(pot + A) / ((B - A)(pot + x))
    pseudo-harmonic, determ.     A up to x* = (A + B + 2AB) / (A + B + 2)

Four properties are asked of a mapping: f(A) = 1; f(B) = 0; f falls from A to B; and f does not
change when A, B and x are scaled together. Three notes on them. A deterministic mapping falls in
one step. The geometric mappings are 0/0 where a check is the smaller size, A = x = 0: here f = 1
there and 0 for every x above it, so that the smallest bet is taken for B. And the pseudo-harmonic
mapping, which makes a caller defend 1/(1 + x) against every size, is invariant only when the pot
scales too: of bets in pots it is not a function of ratios. It is Lipschitz in A and B, so nearly
the same menus treat a bet nearly alike; the geometric ones are not, near A = 0.

A bet that stands at the threshold of a deterministic mapping is taken for A.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from equipoise.errors import GameError
from equipoise.settings import shown

#: Chips, or pots: whole numbers and fractions keep thresholds exact.
Amount = int | float | Fraction


@dataclass(frozen=True)
class Mapping:
    """One way to translate bets."""

    #: What it is called: `pseudo-harmonic`.
    name: str
    #: Whether f takes values other than 0 and 1.
    randomised: bool
    _formula: Callable[[Amount, Amount, Amount, Amount], Amount]

    def smaller(self, bet: Amount, small: Amount, large: Amount, pot: Amount = 1) -> float:
        """f: the probability that `bet`, between `small` and `large`, is taken for `small`.

        >>> MAPPINGS["pseudo-harmonic"].smaller(0.9, 0.5, 2)
        0.5789473684210528
        >>> MAPPINGS["pseudo-harmonic"].smaller(9, 5, 20, pot=10)
        0.5789473684210527
        """
        if not 0 <= small <= bet <= large < math.inf or small == large:
            raise GameError(
                f"a bet of {bet} between {small} and {large}: give 0 <= smaller <= bet <= larger, "
                "two different sizes"
            )
        if not 0 < pot < math.inf:
            raise GameError(f"pot = {pot}: bets are measured against a pot of more than nothing")
        if bet == small:
            return 1.0
        if bet == large:
            return 0.0
        return min(1.0, max(0.0, float(self._formula(bet, small, large, pot))))

    def weights(
        self, bet: Amount, sizes: Sequence[Amount], pot: Amount = 1
    ) -> tuple[tuple[int, float], ...]:
        """Which of the ascending `sizes` a bet may be taken for, and with what probability.

        A bet below the smallest size is taken for it, and one above the largest for that.

        >>> MAPPINGS["arithmetic"].weights(0.25, [0, 1, 3])
        ((0, 0.75), (1, 0.25))
        """
        if not sizes or any(a >= b for a, b in pairwise(sizes)):
            raise GameError(f"sizes {list(sizes)}: give one or more, from small to large")
        if not 0 <= bet < math.inf:
            raise GameError(f"bet = {bet}: give 0 or more")
        above = bisect_right(sizes, bet)
        if above == 0:
            return ((0, 1.0),)
        if above == len(sizes) or sizes[above - 1] == bet:
            return ((above - 1, 1.0),)
        kept = self.smaller(bet, sizes[above - 1], sizes[above], pot)
        both = ((above - 1, kept), (above, 1.0 - kept))
        return tuple(pair for pair in both if pair[1] > 0)

    def translate(self, bet: Amount, sizes: Sequence[Amount], draw: float, pot: Amount = 1) -> int:
        """Number of the size that `bet` is taken for, given a uniform `draw` from [0, 1).

        Draw once for each bet and remember it for the hand.

        >>> MAPPINGS["pseudo-harmonic"].translate(20, [0, 25], draw=0.16, pot=100)
        0
        >>> MAPPINGS["pseudo-harmonic"].translate(20, [0, 25], draw=0.17, pot=100)
        1
        """
        if not 0 <= draw < 1:
            raise GameError(f"draw = {draw}: give a number from 0 to less than 1")
        first, *second = self.weights(bet, sizes, pot)
        return second[0][0] if second and draw >= first[1] else first[0]


def _arithmetic(x: Amount, a: Amount, b: Amount, pot: Amount) -> Amount:
    return (b - x) / (b - a)


def _arithmetic_deterministic(x: Amount, a: Amount, b: Amount, pot: Amount) -> Amount:
    return int(2 * x <= a + b)


def _geometric_deterministic(x: Amount, a: Amount, b: Amount, pot: Amount) -> Amount:
    return int(x * x <= a * b)


def _geometric_1(x: Amount, a: Amount, b: Amount, pot: Amount) -> Amount:
    # g and h, both times x(b - a): the common factor drops out of g / (g + h).
    g, h = a * (b - x), x * (x - a)
    return g / (g + h)


def _geometric_2(x: Amount, a: Amount, b: Amount, pot: Amount) -> Amount:
    # The formula over one denominator, where nothing cancels when the sizes are close.
    return a * (b - x) * (b + x) / ((b - a) * (x * x + a * b))


def _pseudo_harmonic(x: Amount, a: Amount, b: Amount, pot: Amount) -> Amount:
    return (b - x) * (pot + a) / ((b - a) * (pot + x))


def _pseudo_harmonic_deterministic(x: Amount, a: Amount, b: Amount, pot: Amount) -> Amount:
    return int(2 * (b - x) * (pot + a) >= (b - a) * (pot + x))


#: The mappings by name.
MAPPINGS = {
    mapping.name: mapping
    for mapping in (
        Mapping("arithmetic-deterministic", False, _arithmetic_deterministic),
        Mapping("arithmetic", True, _arithmetic),
        Mapping("geometric-deterministic", False, _geometric_deterministic),
        Mapping("geometric-1", True, _geometric_1),
        Mapping("geometric-2", True, _geometric_2),
        Mapping("pseudo-harmonic-deterministic", False, _pseudo_harmonic_deterministic),
        Mapping("pseudo-harmonic", True, _pseudo_harmonic),
    )
}


def mapping(name: str) -> Mapping:
    """A mapping by name.

    >>> mapping("geometric-2").randomised
    True
    >>> mapping("harmonic")
    Traceback (most recent call last):
        ...
    equipoise.errors.GameError: no translation 'harmonic': use one of arithmetic-deterministic, ...
    """
    if name not in MAPPINGS:
        raise GameError(f"no translation {shown(name)}: use one of {', '.join(MAPPINGS)}")
    return MAPPINGS[name]
