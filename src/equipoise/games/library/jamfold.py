"""Heads-up jam or fold: the small blind goes all-in or folds, the big blind calls or folds.

Player 0 is the small blind (and the button): he acts first, and the value is his. Private states are
the 169 classes of hole cards; the chance of a pair of classes and what they win against each other
are exact counts over all pairs of hands that share no card and all boards
(:mod:`equipoise.cards.preflop`), so card removal is exact too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.combos import CLASS_SIZE, class_text
from equipoise.cards.preflop import BOARDS_PER_PAIR, table
from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.boards import Board, deal_once
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.naming import exact, game_name, number_text
from equipoise.games.rules import CALL, FOLD, Action, Kind, Rules, State

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Frequency below which an action counts as not taken on a picture.
_HARDLY_EVER = 0.005


def jamfold(stack: Fraction | float = 10) -> Game:
    """Jam or fold with blinds 0.5 and 1 and `stack` big blinds before posting.

    >>> game = jamfold(7.5)
    >>> game.information_sets(), game.betting.rules.stacks, game.unit_chips
    ((169, 169), (15, 15), 2.0)
    """
    depth = exact(stack)
    if depth <= 1:
        raise GameError(f"stack = {stack}: with the big blind posted, a jam needs more than 1")
    big = lcm(2, depth.denominator)
    chips = int(depth * big)
    rules = Rules(
        name=f"jam or fold, stack {number_text(depth)}",
        limit=False,
        blinds=(big // 2, big),
        first=(0,),
        stacks=(chips, chips),
        board_cards=(0,),
    )
    betting = Betting.build(rules, _JamOrFold(((StreetMenu.parse("a"), StreetMenu()),)))
    counts = table()
    total = float(counts.pairs.sum())
    signed = (counts.wins - counts.wins.T) / (BOARDS_PER_PAIR * total)
    return Game(
        game_name("jamfold", stack=number_text(depth)),
        betting,
        deal_once(counts.pairs / total, signed),
        float(big),
        _state_name,
        _board_name,
        markov=True,
    )


class _JamOrFold(BetMenu):
    """No limping: the small blind's call is not on the menu."""

    def actions(self, state: State) -> tuple[Action, ...]:
        options = super().actions(state)
        if state.history[-1]:
            return options
        return tuple(action for action in options if action != CALL)


class Played(Protocol):
    """A strategy of a game, as far as charts need it."""

    game: Game

    def rows(self, node: int, board: int | None = None) -> NDArray[np.float64]:
        """Probabilities at a decision: [action, state]."""


@dataclass(frozen=True)
class Charts:
    """How often each class jams and calls, as 13×13 charts with aces first."""

    jam: NDArray[np.float64]
    call: NDArray[np.float64]

    @property
    def jam_share(self) -> float:
        """Share of all hands that jam."""
        return float((self.jam.reshape(-1) * CLASS_SIZE).sum() / CLASS_SIZE.sum())

    @property
    def call_share(self) -> float:
        """Share of all hands that call."""
        return float((self.call.reshape(-1) * CLASS_SIZE).sum() / CLASS_SIZE.sum())


def charts(strategy: Played) -> Charts:
    """Charts of a strategy for :func:`jamfold`, ready for :mod:`equipoise.cards.chart`."""
    betting = strategy.game.betting
    if not isinstance(betting.menu, _JamOrFold):
        raise GameError(f"{strategy.game.name}: only jam or fold has a jam and a call chart")
    shown = {}
    for node in betting.of_kind(0, 0, 1).tolist():
        (row,) = (
            row
            for row, child in enumerate(betting.children(node))
            if betting.actions[child] != FOLD
        )
        action = betting.actions[betting.children(node)[row]]
        assert action is not None
        shown[action.kind] = strategy.rows(node)[row].reshape(13, 13)
    return Charts(jam=shown[Kind.RAISE], call=shown[Kind.CALL])


def plot_charts(strategy: Played, path: str | Path) -> Figure:
    """Both charts side by side: who jams from the small blind, who calls from the big blind.

    An average strategy never quite forgets what it tried at first: what is done with less than half
    a percent is drawn as never done.
    """
    from matplotlib.figure import Figure

    from equipoise.cards import chart

    shown = charts(strategy)
    figure = Figure(figsize=(15.4, 8.2), dpi=120, facecolor="white", layout="constrained")
    left, right = figure.subplots(1, 2)
    chart.draw(left, _settled(shown.jam), title=f"small blind jams {shown.jam_share:.2%} of hands")
    chart.draw(
        right, _settled(shown.call), title=f"big blind calls {shown.call_share:.2%} of hands"
    )
    figure.suptitle(strategy.game.name, fontsize=15)
    chart.save(figure, path)
    return figure


def _settled(frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Frequencies with hardly ever as never and nearly always as always."""
    settled: NDArray[np.float64] = np.where(frequencies < _HARDLY_EVER, 0.0, frequencies)
    return np.where(settled > 1 - _HARDLY_EVER, 1.0, settled)


def _state_name(board: Board, player: int, state: int) -> str:
    return class_text(state)


def _board_name(board: Board) -> str:
    return ""
