"""The document's two-step estimator: θ from hands in which beliefs follow from θ itself.

Pass over the hands in random order, five times. In a hand, bet by bet:

1. Beliefs, with θ fixed. The range of who bet last, as everybody sees it, is multiplied by how likely each of
   its hands was to bet so.
2. θ, with beliefs fixed. One step of gradient, α = .001, for what was done with the hand that was held; its
   winning chance in φ is the equity against the other's range, which step 1 has brought up to date.

By `literal` the step is ∂P/∂θ, as in E. Green, "An Adaptive Intelligence For Heads-Up No-Limit Texas Hold'em"
(2013), otherwise ∂ln P/∂θ (:mod:`.softmax`). The document did this before the flop only; here all streets
take part. A range costs one sweep of the run-outs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.beliefs import doubted
from equipoise.agents.adaptive.decisions import Decisions, PlayedHand, steps
from equipoise.agents.adaptive.features import FEATURES, Scale, extended
from equipoise.agents.adaptive.fitting import PASSES, RATE
from equipoise.agents.adaptive.model import (
    ActionModel,
    Cell,
    PlayerModel,
    Scores,
    cell_rows,
    choices,
    open_choices,
)
from equipoise.agents.adaptive.situation import hands_on, situation
from equipoise.agents.adaptive.softmax import gradient, log_probabilities
from equipoise.cards.combos import COMBO_COUNT, combo_index
from equipoise.cards.streets import BOARD_SIZES
from equipoise.errors import EquipoiseError
from equipoise.games.belief import Belief
from equipoise.games.checkdown import CheckDown
from equipoise.games.rules import Kind
from equipoise.run import Event, Listener

Floats = NDArray[np.float64]

#: The φ that takes a winning chance from beliefs.
PHI = FEATURES["seed"]


class _Bet(NamedTuple):
    """A bet, for every hand that might have made it."""

    player: int
    cell: Cell
    #: φ of every hand.
    design: Floats
    open: NDArray[np.bool_]
    #: Place of what was done among the choices, and the hand that was held.
    chosen: int
    hand: int


class TwoStep:
    """θ while it is learnt, and the beliefs that follow from it."""

    def __init__(
        self, cells: Mapping[Cell, Scores], rate: float = RATE, literal: bool = False
    ) -> None:
        self.rate, self.literal = rate, literal
        self.scales = {key: cell.scale for key, cell in cells.items()}
        self.theta = {key: cell.theta.copy() for key, cell in cells.items()}

    def learn(self, hand: PlayedHand) -> None:
        """One step of θ for each bet of a hand."""
        for bet in self._bets(hand):
            chances = np.exp(self._logs(bet, [bet.hand]))[0]
            step = gradient(bet.design[bet.hand], chances, bet.chosen, literal=self.literal)
            self.theta[bet.cell] += self.rate * step

    def log_likelihood(self, hand: PlayedHand) -> list[float]:
        """ln P of each bet of a hand, with the beliefs of θ as it is."""
        return [float(self._logs(bet, [bet.hand])[0, bet.chosen]) for bet in self._bets(hand)]

    def mean_log(self, hands: Sequence[PlayedHand]) -> float:
        """Nats a decision over the hands whose cards are known."""
        return float(
            np.mean([told for hand in known_hands(hands) for told in self.log_likelihood(hand)])
        )

    def completed(self, model: PlayerModel) -> PlayerModel:
        """A model of players with what was learnt of their actions; sizes stay as they are."""
        cells = {key: Scores(scale, self.theta[key].copy()) for key, scale in self.scales.items()}
        return replace(model, actions=ActionModel(PHI, cells))

    def _logs(self, bet: _Bet, hands: Sequence[int] | slice) -> Floats:
        design = bet.design[hands]
        open_ = np.repeat(bet.open, len(design), axis=0)
        return log_probabilities(design, self.theta[bet.cell], open_)

    def _bets(self, hand: PlayedHand) -> Iterator[_Bet]:
        """The bets of a hand, in order; beliefs are brought up to date when the next is asked for."""
        rules = hand.state.rules
        game, ranges = CheckDown(rules), [Belief.start(rules), Belief.start(rules)]
        board: tuple[int, ...] = ()
        held = [combo_index(*hole) for hole in hand.holes if hole is not None]
        for state, action in steps(hand.state):
            found, player = situation(state), state.to_act
            assert player is not None
            if action.kind == Kind.FOLD and not found.facing:
                return
            shown = hand.board[: BOARD_SIZES[found.street]]
            if shown != board:
                board, ranges = shown, [one.see(shown) for one in ranges]
            private = hands_on(board).copy()
            private[:, 0] = np.nan_to_num(game.equities(ranges[1 - player].weights, board))
            cell = PHI.cell(found.street, found.facing, 0)
            facts = np.tile([*found.facts, found.street, 0], (COMBO_COUNT, 1))
            chosen = choices(found.facing).index(int(action.kind))
            open_ = open_choices(found.facing, np.array([found.can_raise]))
            design = self.scales[cell].design(facts, private)
            bet = _Bet(player, cell, design, open_, chosen, held[player])
            yield bet
            likelihood = np.exp(self._logs(bet, slice(None))[:, chosen])
            ranges[player] = ranges[player].update(doubted(likelihood))


def known_hands(hands: Sequence[PlayedHand]) -> list[PlayedHand]:
    """The hands of which all cards are known."""
    found = [hand for hand in hands if all(hole is not None for hole in hand.holes)]
    if not found:
        raise EquipoiseError("the two-step estimator needs logs that show all hole cards")
    return found


def fit_two_step(
    hands: Sequence[PlayedHand],
    *,
    literal: bool = False,
    seed: int = 0,
    passes: int = PASSES,
    rate: float = RATE,
    progress: Listener | None = None,
) -> TwoStep:
    """θ from hands whose cards are known."""
    played, random = known_hands(hands), np.random.default_rng(seed)
    learner = TwoStep(beginnings(Decisions.of(played)), rate, literal)
    for number in range(passes):
        for count, place in enumerate(random.permutation(len(played)).tolist()):
            learner.learn(played[place])
            if progress is not None:
                progress(Event(number * len(played) + count + 1, passes * len(played)))
    return learner


def beginnings(decisions: Decisions) -> dict[Cell, Scores]:
    """θ = 0, in the units of some decisions: every choice alike."""
    nobody = np.zeros(len(decisions), dtype=np.int64)
    facts, cells = extended(decisions.facts, decisions.street, nobody), {}
    for key, rows in cell_rows(PHI, decisions, nobody):
        scale = Scale.of(PHI, 1, facts[rows], decisions.private[rows])
        cells[key] = Scores(scale, np.zeros((scale.width, len(choices(key[1])) - 1)))
    if len(cells) < 2:
        raise EquipoiseError("too few decisions for a model: give some hundred hands more")
    return cells
