"""The guard against folding off the tree: a hand that has the price to call is not folded.

After translated bets the real pot is not the one that a blueprint thinks of, and it may fold a hand
that the real pot pays to call: Claudico twice folded after putting in half its stack and more. The
guard looks at the real pot. With c chips to call and p in the pot before it, a call that nobody bets
after breaks even with an equity of

    c / (p + c)

and the equity is that of the hand against the opponent's range, exact, over all run-outs. The range
(:mod:`equipoise.games.belief`) is what the blueprint itself would hold in his place, after his
translated actions. Actions that it never takes say nothing about the cards.

It is asked only where a fold would be off the tree, and by choice only where a call would *close* the
betting, all-in or on the river. There equity against the range is all there is to a call. Earlier,
folding a hand with the price can be right, for there are more bets to come: a guard that always calls
pays off who bets, a little off the tree, street after street.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.bets.line import Step
from equipoise.agents.blueprint.book import Book
from equipoise.errors import GameError
from equipoise.games.belief import Belief
from equipoise.games.checkdown import CheckDown
from equipoise.games.rules import CALL, State

#: Answers kept: those of the hands in play.
_KEPT = 64
#: One hand and all hands are summed in different order: what is this close to the price has it.
_ROUNDING = 1e-9


#: Where folds are looked at: everywhere off the tree, where a call closes the betting, nowhere.
SCOPES = ("always", "closing", "never")


def closes(state: State) -> bool:
    """Whether a call ends the betting of the hand.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> closes(State.from_betting_text(NOLIMIT_HOLDEM, "r300r20000"))
    True
    """
    return state.apply(CALL).is_over


def price(state: State) -> float:
    """Equity with which a call breaks even if nobody bets after it.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> price(State.from_betting_text(NOLIMIT_HOLDEM, "r300"))
    0.3333333333333333
    """
    return state.to_call / (state.pot + state.to_call)


def opponent_range(book: Book, steps: Sequence[Step], board: tuple[int, ...]) -> Belief:
    """What the opponent may hold after translated actions; those it never takes are ignored."""
    columns = book.columns(board)
    belief = Belief.start(book.betting.rules).see(board)
    for node, child, street in steps:
        row = book.raw(node)[child - int(book.betting.first[node])]
        belief = belief.update(row[np.maximum(columns[street], 0)], never="ignore")
    return belief


class Guard:
    """Which hands have the price to call, remembered while a hand is played.

    A hand that meets no other of the range has nothing to fear.
    """

    def __init__(self, book: Book, scope: str = "always") -> None:
        if scope not in SCOPES:
            raise GameError(f"guard = {scope!r}: choose from {', '.join(SCOPES)}")
        self.book, self.scope = book, scope
        self.checkdown = CheckDown(book.betting.rules)
        #: How often a hand or all of them were weighed, and the seconds it took.
        self.asked = 0
        self.seconds = 0.0
        self._known: dict[tuple[object, ...], NDArray[np.bool_]] = {}

    def watches(self, state: State) -> bool:
        """Whether folds are looked at in a state that is off the tree."""
        return self.scope == "always" or (self.scope == "closing" and closes(state))

    def calls(
        self, combo: int, state: State, board: tuple[int, ...], steps: Sequence[Step]
    ) -> bool:
        """Whether one hand's equity is at least the price of a call."""
        found = self._known.get(_key(state, board, steps))
        if found is not None:
            return bool(found[combo])
        began = perf_counter()
        weights = opponent_range(self.book, steps, board).weights
        share = self.checkdown.equity(combo, weights, board)
        self._count(began)
        return not share < price(state) - _ROUNDING

    def has_price(
        self, state: State, board: tuple[int, ...], steps: Sequence[Step]
    ) -> NDArray[np.bool_]:
        """Hands whose equity is at least the price of a call: bool[1326]."""
        key = _key(state, board, steps)
        found = self._known.get(key)
        if found is None:
            began = perf_counter()
            weights = opponent_range(self.book, steps, board).weights
            equities = self.checkdown.equities(weights, board)
            found = ~(equities < price(state) - _ROUNDING)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = found
            self._count(began)
        return found

    def _count(self, began: float) -> None:
        self.asked += 1
        self.seconds += perf_counter() - began


def _key(state: State, board: tuple[int, ...], steps: Sequence[Step]) -> tuple[object, ...]:
    return board, tuple(steps), state.to_call, state.pot
