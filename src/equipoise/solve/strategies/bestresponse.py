"""How good a strategy is: its value, the best response to it, and its exploitability.

A best response to a strategy is what wins most against it, and

    exploitability = ½ Σᵢ (BRᵢ − uᵢ)

is the mean of what both players gain by it, in chips. Where nothing is raked and no values are given
the profile's own values uᵢ sum to zero, so that two best responses are all it takes.

:func:`best_response` asks any strategy. The other functions take rows as solvers hold them, a
realisation plan or behaviour probabilities, and the tableau of their game; the plan of a player is a
strategy by its proportions at each decision alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.solve.strategies.strategy import BestResponse, Strategy
from equipoise.solve.sweep.gamearrays import Lock
from equipoise.solve.sweep.rowrules import BEST, VALUE
from equipoise.solve.sweep.tableau import Rows, Tableau


def best_response(strategy: Strategy, player: int) -> BestResponse[Strategy]:
    """What wins most for `player` against a strategy, and how much that is.

    >>> from equipoise.games.catalogue import kuhn
    >>> from equipoise.solve.strategies.tabular import TabularStrategy
    >>> found = best_response(TabularStrategy.uniform(kuhn()), 0)
    >>> round(found.value, 3)
    0.5
    """
    return strategy.best_response(player)


def value_of(tableau: Tableau, plan: Rows) -> float:
    """Chips of player 0, from the start of the game, when both play `plan`."""
    return _played(tableau, 0, _swept(tableau, plan))


def response_value(tableau: Tableau, player: int, plan: Rows, out: Rows | None = None) -> float:
    """Chips of `player` when he best-responds to the other's strategy in `plan`.

    What he plays goes to `out`, where it is free to choose: not at locked decisions.
    """
    values = tableau.sweep(player, BEST, facing=_swept(tableau, plan), out=out)
    return tableau.root_value(player, values)


def exploitability_of(tableau: Tableau, plan: Rows) -> float:
    """Half the sum of what each player gains by best-responding, in chips."""
    rows, players = _swept(tableau, plan), (0, 1)
    gains = sum(response_value(tableau, player, rows) for player in players)
    if not tableau.game.betting.zero_sum:
        gains -= sum(_played(tableau, player, rows) for player in players)
    return gains / 2


def response_rows(
    tableau: Tableau,
    player: int,
    plan: Rows,
    locks: Mapping[tuple[int, int], Lock] | None = None,
) -> tuple[float, NDArray[Any]]:
    """The value of a best response, and rows in which the player plays it and the other `plan`.

    `locks` are those of the tableau.
    """
    found = tableau.rows()
    value = response_value(tableau, player, plan, found)
    rows = _swept(tableau, plan).astype(tableau.dtype)
    index, betting = tableau.index, tableau.game.betting
    for b, board in enumerate(tableau.game.deal.boards):
        first = int(index.base[b, player])
        last = first + int(index.width[b, player] * betting.rows[board.round, player])
        rows[first:last] = found[first:last]
    # The latest first: what an earlier choice is worth depends on those after it.
    for (b, node), (mask, given) in sorted((locks or {}).items(), key=itemgetter(0), reverse=True):
        block = index.block(rows, b, node)
        if int(betting.kind[node]) == player:
            worth = tableau.values(player, b, _swept(tableau, plan), rows)
            choices = np.array([worth[child] for child in betting.children(node)])
            block[:] = np.arange(len(choices))[:, None] == choices.argmax(axis=0)
        block[:] = np.where(mask, given, block)
    return value, rows


def _played(tableau: Tableau, player: int, plan: Rows) -> float:
    return tableau.root_value(player, tableau.sweep(player, VALUE, facing=plan))


def _swept(tableau: Tableau, plan: Rows) -> Rows:
    """Rows as sweeps read them: whole numbers of 16-bit storage, or the tableau's precision."""
    return plan if plan.dtype.kind == "i" else plan.astype(tableau.dtype, copy=False)
