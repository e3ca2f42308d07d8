"""What one agent wins from another exactly, where both policies are known and the game is small.

The public tree is walked once with the ranges of both players (:mod:`equipoise.games.belief`): how
likely each hand is to have come here. A terminal pays

    half the pot · Σ_x Σ_y W0(x) W1(y) [x, y share no card] · (1, -1, or x's margin over y)

times the chance of the board, in which the cards of both players are gone; all of it is divided by
the number of pairs of hands. No card is drawn, so there is no error to speak of.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

from equipoise.agents.agent import Agent
from equipoise.columnar import Columnar
from equipoise.errors import EquipoiseError, TooLargeError
from equipoise.games.belief import Belief, Cards
from equipoise.games.checkdown import CheckDown
from equipoise.games.policy import PublicState
from equipoise.games.rules import Kind, Rules, State

#: Public situations that are walked, at some 20,000 a second.
_MOST_SITUATIONS = 2_000_000


@dataclass(frozen=True)
class ExactResult(Columnar):
    """What A wins from B in chips a hand; as a table, one row a seat."""

    rules: Rules
    #: A at position 0, and at position 1.
    chips: tuple[float, float]

    @property
    def mbb_per_hand(self) -> float:
        """A's win rate when the seats alternate."""
        return sum(self.chips) / 2 * 1000 / self.rules.big_blind

    def columns(self) -> dict[str, list[Any]]:
        """A's seat, and what it wins there."""
        return {"position": [0, 1], "chips_per_hand": list(self.chips)}


def exact_match(a: Agent, b: Agent, rules: Rules, hand: int = 0) -> ExactResult:
    """What A wins from B from both seats.

    Policies that depend on the number of the hand are taken as in `hand`.

    >>> from equipoise.agents.simple import AllInAgent, FoldAgent
    >>> from equipoise.games.library.leduc import leduc
    >>> exact_match(AllInAgent(), FoldAgent(), leduc().betting.rules).chips
    (1.0, 1.0)
    """
    return ExactResult(
        rules, (exact_value(a, b, rules, hand), -exact_value(b, a, rules, hand) + 0.0)
    )


def exact_value(first: Agent, second: Agent, rules: Rules, hand: int = 0) -> float:
    """What the agent at position 0 wins from the one at position 1, in chips a hand."""
    checkdown = CheckDown(rules)
    if checkdown.full_deck:
        raise TooLargeError("hold'em with the full deck has too many boards: play a match instead")
    for position, agent in enumerate((first, second)):
        agent.begin(hand, position)
    start = Belief.start(rules)
    walk = _Walk(checkdown, (first, second), hand)
    left = len(checkdown.deck)
    held = rules.hole_cards
    pairs = comb(left, held) * comb(left - held, held)
    return walk.dealt(State.start(rules), (), (start, start)) / pairs


def exact_endgame(
    players: tuple[Agent, Agent],
    state: State,
    board: Cards,
    ranges: tuple[Belief, Belief],
    hand: int = 0,
) -> float:
    """What the agent at position 0 wins in a hand from its last street on, by the ranges of both.

    Every pair of hands counts as often as it comes there.
    """
    if state.round != state.rules.rounds - 1:
        raise EquipoiseError("an endgame is the last street: cards before it are too many to deal")
    checkdown = CheckDown(state.rules)
    met = float(checkdown.against(ranges[1].weights, board).mass @ ranges[0].weights)
    if not met > 0:
        raise EquipoiseError("the ranges hold no two hands that meet: nothing can be played")
    return _Walk(checkdown, players, hand).value(state, board, ranges) / met


class _Walk:
    """The public tree with both ranges."""

    def __init__(self, checkdown: CheckDown, players: tuple[Agent, Agent], hand: int) -> None:
        self.checkdown, self.players, self.hand = checkdown, players, hand
        self.met = 0

    def dealt(self, state: State, board: Cards, ranges: tuple[Belief, Belief]) -> float:
        """Chips from here on, summed over the cards that come before the round of `state`."""
        rules = self.checkdown.rules
        count = sum(rules.board_cards[: state.round + 1]) - len(board)
        if not count:
            return self.value(state, board, ranges)
        left = [card for card in self.checkdown.deck if card not in board]
        total = 0.0
        for more in combinations(left, count):
            longer = board + more
            total += self.value(state, longer, (ranges[0].see(longer), ranges[1].see(longer)))
        return total / comb(len(left) - 2 * rules.hole_cards, count)

    def value(self, state: State, board: Cards, ranges: tuple[Belief, Belief]) -> float:
        """Chips of position 0 from here on, in units of a pair of hands."""
        if not ranges[0].weights.any() or not ranges[1].weights.any():
            return 0.0
        self.met += 1
        if self.met > _MOST_SITUATIONS:
            raise TooLargeError(
                f"the game has more than {_MOST_SITUATIONS:,} public situations: play a match, "
                "or choose a smaller game"
            )
        player = state.to_act
        if player is None:
            margin, mass = self.checkdown.against(ranges[1].weights, board)
            if state.folded is not None:
                return float(state.payoffs()[0]) * float(mass @ ranges[0].weights)
            return float(state.payoffs(0)[0]) * float(margin @ ranges[0].weights)
        agent = self.players[player]
        policy = agent.policy(PublicState(state, board, self.hand))
        if policy is None:
            name = agent.name or type(agent).__name__
            raise EquipoiseError(f"{name} has no known policy: exact values need both players'")
        total = 0.0
        rules, mine = self.checkdown.rules, ranges[player]
        for column, action in enumerate(policy.actions):
            goes_on = Belief(rules, mine.branch(policy.probabilities[:, column]))
            after = state.apply(action)
            both = (ranges[0], goes_on) if player else (goes_on, ranges[1])
            if action.kind != Kind.FOLD and after.to_act is not None and after.round > state.round:
                total += self.dealt(after, board, both)
            else:
                total += self.value(after, board, both)
        return total
