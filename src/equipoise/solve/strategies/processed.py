"""A strategy of a game with post-processing applied to every decision."""

from __future__ import annotations

import numpy as np

from equipoise.games.rules import Kind
from equipoise.solve.strategies.postprocessing import PostProcessing
from equipoise.solve.strategies.strategy import Strategy


def processed(strategy: Strategy, rules: PostProcessing) -> Strategy:
    """The strategy that `rules` make of `strategy`, for both players.

    >>> from equipoise.games.catalogue import kuhn
    >>> pure = processed(Strategy.uniform(kuhn()), PostProcessing.parse("purify"))
    >>> sorted({p for entry in pure for p in entry.probabilities})
    [0.0, 1.0]
    """
    game, index = strategy.game, strategy.index
    betting = game.betting
    rows = np.zeros(index.size)
    for number, (board, node) in enumerate(index.decisions()):
        kinds: list[Kind] = []
        for child in betting.children(node):
            action = betting.actions[child]
            assert action is not None
            kinds.append(action.kind)
        index.block(rows, board, node)[:] = rules.apply(
            strategy.at(node, board), kinds, game.deal.boards[board].round, number
        )
    return Strategy(game, rows, index)
