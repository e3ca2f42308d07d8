"""Gifts: what the opponent forwent on his way to a subgame, hand by hand.

Reach subgame solving (Brown and Sandholm 2017): who could have had more by another action at an earlier
decision has lost that by coming here. So his alternative here may be higher by it, and still no hand of
his gains by the whole line. With v the value of his best response, in chips given the hand,

    gift(h) = Σ over his decisions on the line of  v(decision, h) − v(the action that was taken, h)

In counterfactual units each term is scaled by mass(subgame)/mass(decision), which chips given the hand
already are: branches of mine and of chance share a gift.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from equipoise.search.gadgets import Floats, meeting
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.rowindex import probabilities
from equipoise.solve.sweep.tableau import Rows, Tableau


def line_gifts(tableau: Tableau, plan: Rows, player: int, node: int) -> Floats:
    """Gifts of every state of a player on the line to a node of the first board, in chips.

    The other plays `plan`, and begins with the reach that the tableau has for him.
    """
    game, betting = tableau.game, tableau.game.betting
    best = tableau.rows()
    tableau.sweep(player, rowrules.BEST, facing=plan, out=best)
    worth = tableau.values(player, 0, plan, best)
    line = [node]
    while (above := int(betting.parent[line[0]])) >= 0:
        line.insert(0, above)
    reach = tableau.reach(1 - player).astype(np.float64)
    found = np.zeros(int(tableau.states[0, player]))
    for here, after in pairwise(line):
        if int(betting.kind[here]) == player:
            mass = meeting(game, player, reach)
            held = mass > 0
            lost = (worth[here] - worth[after]) / np.where(held, mass, 1.0)
            found += np.where(held, np.maximum(lost, 0.0), 0.0)
        else:
            play = probabilities(tableau.index.block(plan, 0, here))
            reach = reach * play[after - int(betting.first[here])]
    return found
