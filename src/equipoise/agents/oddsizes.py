"""A player whose bets no menu has: against it every translation, rounding and clipping is used.

It folds seldom, and when it raises it takes one of

    the smallest raise, and one chip over it
    a pot share that few menus have: 1/7, 2/5, 5/6, 7/3, 11/2, and a chip more or less
    any legal amount, and one chip short of all-in
    all-in

alike, whatever its cards.
"""

from __future__ import annotations

from equipoise.agents.agent import Agent
from equipoise.errors import EquipoiseError
from equipoise.games.hand import View
from equipoise.games.rules import CALL, FOLD, Action, Kind

#: Shares of the pot after a call.
SHARES = ((1, 7), (2, 5), (5, 6), (7, 3), (11, 2))


class OddSizesAgent(Agent):
    """Bets odd amounts at random; folds one time in `fold_one_in`."""

    name = "odd-sizes"

    def __init__(self, fold_one_in: int = 12, raise_share: float = 0.4) -> None:
        super().__init__()
        if fold_one_in < 1:
            raise EquipoiseError(f"fold_one_in = {fold_one_in}: give 1 or more")
        if not 0 <= raise_share <= 1:
            raise EquipoiseError(f"raise_share = {raise_share:g}: give 0 to 1")
        self.fold_one_in, self.raise_share = fold_one_in, raise_share

    def act(self, view: View) -> Action:
        """Draw what to do, then how much."""
        state, draw = view.state, self.random.random
        legal = state.legal()
        if legal.fold and draw() * self.fold_one_in < 1:
            return FOLD
        if not legal.raise_min or draw() >= self.raise_share:
            return CALL
        least, most = legal.raise_min, legal.raise_max
        called = max(state.committed)
        pot = 2 * called + state.rules.dead
        sizes = [called + above * pot // below for above, below in SHARES]
        amounts = [
            least,
            least + 1,
            *sizes,
            *(size + 1 for size in sizes),
            least + int(draw() * (most - least + 1)),
            most - 1,
            most,
        ]
        amount = amounts[int(draw() * len(amounts))]
        return Action(Kind.RAISE, min(max(amount, least), most))
