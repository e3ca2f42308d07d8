"""What the agent believes in a hand: p over the opponent's hands, q over its own as the opponent sees them.

    p(y)        how likely the opponent holds y: excludes the board and the agent's own cards
    p_win(y)    the agent's equity if he does, ties half, over all run-outs
    q(x)        how likely the opponent thinks the agent to hold x: one public range. Who holds y himself
                takes it without the hands that share a card with y or the board; the agent's true cards,
                which he cannot see, stay in
    q_win(y)    equity of y against that range

Public cards remove hands; an action multiplies the weight of each hand by its likelihood. The document weighs
its own bets by φ(r, 1 − q_win(y, x)), as if the opponent thought that the agent sees his cards: a range of
its own for every y (:class:`MatrixRecursion`). The right weight of x is its winning chance against what *it*
believes, and then one public range serves all (:class:`RangeRecursion`).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.opponent import Opponent
from equipoise.agents.adaptive.situation import situation
from equipoise.cards.combos import COMBO_COUNT, blocked, combo_index
from equipoise.games.belief import Belief
from equipoise.games.checkdown import CheckDown
from equipoise.games.rules import Action, Rules, State

Floats = NDArray[np.float64]

#: Weights below this share of the largest are kept at it: a model is never sure.
_DOUBT = 1e-5


class Recursion(Protocol):
    """What the opponent believes of the agent's hand."""

    def see(self, board: tuple[int, ...]) -> None:
        """Public cards came."""

    def act(self, state: State, action: Action, winning: Floats | None) -> None:
        """The agent acted; `winning` is what each of its hands believes of its winning, if asked for."""

    def winning(self) -> Floats:
        """q_win of every hand of the opponent; 0 where it cannot be held."""


class RangeRecursion:
    """One public range: the default."""

    def __init__(self, rules: Rules, game: CheckDown, own: Opponent) -> None:
        self._game, self._own = game, own
        self.range = Belief.start(rules)
        self._board: tuple[int, ...] = ()
        self._winning: Floats | None = None

    def see(self, board: tuple[int, ...]) -> None:
        """Public cards came."""
        self._board, self.range, self._winning = board, self.range.see(board), None

    def act(self, state: State, action: Action, winning: Floats | None) -> None:
        """The agent acted: each hand is as likely as a player is to do so with it."""
        likelihood = self._own.likelihood(state, action, self._board, winning)
        self.range, self._winning = self.range.update(doubted(likelihood)), None

    def winning(self) -> Floats:
        """Equity of every hand against the range, without the hands that it blocks."""
        if self._winning is None:
            equities = self._game.equities(self.range.weights, self._board)
            self._winning = np.asarray(np.nan_to_num(equities))
        return self._winning


class MatrixRecursion:
    """The document's: a range for each hand of the opponent, who is taken to think his cards are seen.

    Each bet weighs q(y, x) by the likelihood at a winning chance of x against y itself. The matrix of all
    match-ups of a flop takes a second.
    """

    def __init__(self, rules: Rules, game: CheckDown, own: Opponent) -> None:
        self._game, self._own = game, own
        self._board: tuple[int, ...] = ()
        free = Belief.start(rules).weights > 0
        self._live = free
        #: q by the opponent's hand, then by the agent's.
        self.weights = self._apart() * 1.0
        self._equity: Floats | None = None

    def _apart(self) -> NDArray[np.bool_]:
        from equipoise.cards.combos import COMBO_CARDS

        cards = COMBO_CARDS
        same = (cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
        return np.asarray(~same & self._live[:, None] & self._live[None])

    def see(self, board: tuple[int, ...]) -> None:
        """Public cards came."""
        self._board, self._equity = board, None
        dead = blocked(board)
        self.weights[dead], self.weights[:, dead] = 0.0, 0.0

    def act(self, state: State, action: Action, winning: Floats | None) -> None:
        """The agent acted: rank its hands by their chance against each hand of the opponent.

        For a model that takes a winning chance the likelihood is a function of it alone; it is read off at
        the hands whose equity v any hand is nearest.
        """
        likelihood = doubted(self._own.likelihood(state, action, self._board))
        from equipoise.agents.adaptive.situation import hands_on

        equity = hands_on(self._board)[:, 0]
        live = np.flatnonzero(~blocked(self._board))
        order = live[np.argsort(equity[live])]
        wins = self._equities()
        self.weights *= np.interp(wins, equity[order], likelihood[order])

    def _equities(self) -> Floats:
        """Equity of x against y: [y, x]."""
        if self._equity is None:
            self._equity = np.zeros((COMBO_COUNT, COMBO_COUNT))
            for hand in np.flatnonzero(~blocked(self._board)).tolist():
                self._equity[hand] = (1 + self._game.against_hand(hand, self._board).margin) / 2
        return self._equity

    def winning(self) -> Floats:
        """Σ q(y, x) of y's equity against x."""
        mass = self.weights.sum(axis=1)
        wins = (self.weights * (1 - self._equities())).sum(axis=1)
        return np.asarray(np.divide(wins, mass, out=np.zeros(COMBO_COUNT), where=mass > 0))


RECURSIONS: dict[str, type[RangeRecursion | MatrixRecursion]] = {
    "range": RangeRecursion,
    "matrix": MatrixRecursion,
}


class Beliefs:
    """What one player believes while a hand is played."""

    def __init__(
        self,
        rules: Rules,
        hole: tuple[int, ...],
        game: CheckDown,
        opponent: Opponent,
        recursion: Recursion,
    ) -> None:
        self._game, self._opponent = game, opponent
        self.hand = combo_index(hole[0], hole[1])
        self.board: tuple[int, ...] = ()
        #: The opponent's range as everybody sees it, and p: that without the agent's own cards.
        self.public = Belief.start(rules)
        self.range = self.public.see(hole)
        #: q.
        self.recursion = recursion
        self._win: Floats | None = None

    def see(self, board: tuple[int, ...]) -> None:
        """Public cards came."""
        if board != self.board:
            self.board, self._win = board, None
            self.public, self.range = self.public.see(board), self.range.see(board)
            self.recursion.see(board)

    def opponent_acts(self, state: State, action: Action) -> None:
        """Bayes' rule with the model of the opponent."""
        winning = self.recursion.winning() if self._opponent.needs_winning_chances else None
        likelihood = doubted(self._opponent.likelihood(state, action, self.board, winning))
        self.public, self.range = self.public.update(likelihood), self.range.update(likelihood)

    def agent_acts(self, state: State, action: Action) -> None:
        """The opponent learns of the agent's hand."""
        winning = None
        if self._opponent.needs_winning_chances:
            winning = np.nan_to_num(self._game.equities(self.public.weights, self.board))
        self.recursion.act(state, action, winning)

    @property
    def p(self) -> Floats:
        """How likely the opponent holds each hand."""
        return np.asarray(self.range.weights / self.range.weights.sum())

    @property
    def win_given_pair(self) -> Floats:
        """p_win(y): the agent's equity against each hand; ½ where they cannot meet."""
        if self._win is None:
            self._win = (1 - self._game.against_hand(self.hand, self.board).margin) / 2
        return self._win

    @property
    def win(self) -> float:
        """p_win: the agent's equity against what he may hold."""
        return float(self.p @ self.win_given_pair)

    def responses(self, state: State) -> Floats:
        """P of fold, call and raise of each hand of the opponent in a state in which he acts."""
        winning = self.recursion.winning() if self._opponent.needs_winning_chances else None
        return self._opponent.chances(situation(state), self.board, winning)


def doubted(likelihood: Floats) -> Floats:
    """Likelihoods that rule no hand out."""
    return np.maximum(likelihood, _DOUBT * max(float(likelihood.max()), 1e-300))
