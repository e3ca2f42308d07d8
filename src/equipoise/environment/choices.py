"""What the numbers of an environment's actions mean.

    0                fold; where there is nothing to call it is not allowed
    1                check or call
    2, 3, ...        in limit games 2 is the one raise there is; in no-limit games the sizes of the
                     menu, in the order in which they are written

A size means the same wherever it is allowed: `50%,100%,a` makes 2 half the pot, 3 the pot and 4
all-in. Sizes are clamped to what is legal as in :mod:`equipoise.games.menu`, and of several that come
to the same chips the first alone is allowed. With `chips` in place of sizes every number from 2 on is
itself the total that the player has put into the hand after the raise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError
from equipoise.games.menu import amount_of
from equipoise.games.notation.betsize import parse_sizes
from equipoise.games.rules import CALL, FOLD, Action, Rules, State, raise_to

#: In place of sizes: an action is the amount that is raised to.
CHIPS = "chips"
#: Amounts that may be told apart: a mask has one entry for each.
_MOST_CHIPS = 1_000_000
#: Numbers of the actions that do not raise.
_FOLD, _CALL, _FIRST = 0, 1, 2
#: States whose sizes are remembered.
_MOST_KNOWN = 50_000

Mask = NDArray[np.int8]


class Choices:
    """The actions of an environment, by number.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> choices, state = Choices(NOLIMIT_HOLDEM, "50%,100%,a"), State.start(NOLIMIT_HOLDEM)
    >>> choices.mask(state).tolist(), str(choices.action(state, 3))
    ([1, 1, 1, 1, 1], 'r300')
    >>> choices.action(state.apply(CALL), 0) is None
    True
    """

    def __init__(self, rules: Rules, sizes: str) -> None:
        self.by_chips = sizes.strip().lower() == CHIPS and not rules.limit
        self._sizes = parse_sizes("a" if rules.limit or self.by_chips else sizes)
        for size in self._sizes:
            if size.unit in ("*", "x"):
                raise GameError(
                    f"'{size}': an environment takes sizes such as 50%, 300c, e or a, or chips for "
                    "every amount"
                )
        if self.by_chips and min(rules.stacks) > _MOST_CHIPS:
            raise GameError(
                f"stacks over {_MOST_CHIPS:,} chips: name sizes, or count in larger units"
            )
        #: How many numbers there are.
        self.count = min(rules.stacks) + 1 if self.by_chips else _FIRST + len(self._sizes)
        self._known: dict[tuple[object, ...], tuple[tuple[int, ...], Mask]] = {}

    def action(self, state: State, number: int) -> Action | None:
        """The action of a number, None if it is not allowed here."""
        if number == _CALL:
            return CALL
        if number == _FOLD:
            return FOLD if state.to_call else None
        if self.by_chips:
            action = raise_to(number)
            return action if number >= _FIRST and state.can(action) else None
        amounts = self._look(state)[0]
        amount = amounts[number - _FIRST] if _FIRST <= number < self.count else 0
        return raise_to(amount) if amount else None

    def mask(self, state: State) -> Mask:
        """Which numbers are allowed, 1 or 0 for each; it is the caller's to keep."""
        if self.by_chips:
            found = np.zeros(self.count, dtype=np.int8)
            legal = state.legal()
            found[_FOLD], found[_CALL] = legal.fold, legal.call
            if legal.raise_min:
                found[legal.raise_min : legal.raise_max + 1] = 1
            return found
        return self._look(state)[1].copy()

    def _look(self, state: State) -> tuple[tuple[int, ...], Mask]:
        """Amounts of the sizes, 0 where they are not allowed, and the mask."""
        # All that sizes depend on: chips of the round before follow from those in the middle.
        key = (state.round, state.committed, state.to_act, state.raises, state.increment,
               state.round_start)  # fmt: skip
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = self._sized(state)
        return known

    def _sized(self, state: State) -> tuple[tuple[int, ...], Mask]:
        amounts: list[int] = []
        for size in self._sizes:
            amount = amount_of(size, state)
            amounts.append(0 if amount in amounts else amount)
        legal = state.legal()
        mask = np.array([legal.fold, legal.call, *map(bool, amounts)], dtype=np.int8)
        return tuple(amounts), mask
