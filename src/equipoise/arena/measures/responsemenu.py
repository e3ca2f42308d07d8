"""What a local best response may do, street by street.

A menu is written in letters: `c` checks and calls, which is always allowed, `f` folds, `p` bets the pot
and `a` all-in; `56` folds, calls, and has 56 sizes, the totals that lie evenly on a logarithmic scale
from the smallest legal raise to all-in. One menu holds on all streets, as `fcpa`, or there is one for each,
as `c,56,fc,fc`; `c` alone never folds. In limit games `p`, `a` and `56` have the one raise there is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equipoise.errors import EquipoiseError
from equipoise.games.rules import CALL, FOLD, Action, State, raise_to
from equipoise.settings import shown

_LETTERS = "fcpa"
_MANY = "56"


class ResponseMenu(NamedTuple):
    """The menu of each street.

    >>> menu = ResponseMenu.parse("c,56,fc,fc", 4)
    >>> str(menu), str(ResponseMenu.parse("fc,fc", 2))
    ('c,56,fc,fc', 'fc')
    """

    streets: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, rounds: int) -> ResponseMenu:
        """Read the menus of a game of so many streets."""
        words = text.split(",")
        for word in words:
            letters = set(word)
            well = letters <= set(_LETTERS) and "c" in letters and len(letters) == len(word)
            if word != _MANY and not well:
                raise EquipoiseError(
                    f"no menu {shown(word)}: write 56, or c with any of f, p and a, as fcpa; one for "
                    "all streets, or one for each, as c,56,fc,fc"
                )
        if len(words) not in (1, rounds):
            raise EquipoiseError(
                f"menu = {shown(text)} is for {len(words)} streets: this game has {rounds}, give one "
                "menu for all of them or one for each"
            )
        # Letters in one order, so that a menu has one name.
        named = ("".join(sorted(word, key=(_LETTERS + _MANY).index)) for word in words)
        streets = tuple(named)
        return cls(streets if len(streets) == rounds else streets * rounds)

    def __str__(self) -> str:
        alike = len(set(self.streets)) == 1
        return self.streets[0] if alike else ",".join(self.streets)

    def actions(self, state: State) -> list[Action]:
        """What may be done in a state: fold, call, then raises from the smallest to the largest.

        >>> from equipoise.games.rules import NOLIMIT_HOLDEM
        >>> start = State.start(NOLIMIT_HOLDEM)
        >>> [str(action) for action in ResponseMenu.parse("fcpa", 4).actions(start)]
        ['f', 'c', 'r300', 'r20000']
        >>> len(ResponseMenu.parse("56", 4).actions(start))
        58
        """
        menu, legal = self.streets[state.round], state.legal()
        least, most = legal.raise_min, legal.raise_max
        totals: list[int] = []
        if least and menu == _MANY:
            totals = np.geomspace(least, most, int(_MANY)).round().astype(int).tolist()
        elif least:
            pot = min(max(3 * max(state.committed) + state.rules.dead, least), most)
            totals = [pot] * ("p" in menu) + [most] * ("a" in menu)
        folds = legal.fold and (menu == _MANY or "f" in menu)
        return [FOLD] * folds + [CALL] + [raise_to(total) for total in sorted(set(totals))]
