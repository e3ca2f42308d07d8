"""The referee: plays out every deal and every line of betting of a tiny game, card by card.

Slow and obvious on purpose. It shares the rules of betting with the package and nothing else: no
flat trees, no vectors of hands, no merging of suits, no sorted showdowns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb

from equipoise.games.menu import BetMenu
from equipoise.games.rules import Action, Rules, State

Cards = tuple[int, ...]
#: (player, hole cards, board, betting text) -> probability of each action of the menu.
Play = Callable[[int, Cards, Cards, str], Sequence[float]]
#: (hole cards, full board) -> anything that compares.
Strength = Callable[[Cards, Cards], object]


@dataclass(frozen=True)
class Line:
    """A line of betting. What the rules say about it does not depend on the cards: it is asked once."""

    state: State
    menu: BetMenu

    @cached_property
    def text(self) -> str:
        """The betting so far."""
        return self.state.betting_text()

    @cached_property
    def after(self) -> list[tuple[Action, Line]]:
        """What the menu allows, and the line that each leads to."""
        return [
            (action, Line(self.state.apply(action), self.menu))
            for action in self.menu.actions(self.state)
        ]


@dataclass(frozen=True)
class Referee:
    """Exact figures of a game by enumeration."""

    rules: Rules
    menu: BetMenu
    strength: Strength
    #: Share of a won pot that the house takes, and the most it takes.
    rake: tuple[float, float] = (0.0, 0.0)
    #: Cards on the board where play begins.
    start: Cards = ()
    #: Weight of each hand of each player; all alike if not given.
    ranges: tuple[Mapping[Cards, float], Mapping[Cards, float]] | None = None
    #: A line is cut where this round would begin, and worth what `given` says to (player, hole cards,
    #: betting text).
    cut: int = 99
    given: Callable[[int, Cards, str], float] = lambda *_: 0.0
    #: Where play begins, if not with the hand.
    begin: State | None = None
    _deals: list[tuple[Cards, Cards, float]] = field(default_factory=list)
    _dealt_out: dict[tuple[object, ...], tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        deck = [c for c in range(self.rules.suits * self.rules.ranks) if c not in self.start]
        every = dict.fromkeys(combinations(deck, self.rules.hole_cards), 1.0)
        first, second = self.ranges or (every, every)
        pairs = [
            (mine, theirs, w0 * w1)
            for mine, w0 in first.items()
            for theirs, w1 in second.items()
            if not set(mine) & set(theirs)
        ]
        total = sum(weight for *_, weight in pairs)
        self._deals.extend((mine, theirs, weight / total) for mine, theirs, weight in pairs)

    @cached_property
    def first(self) -> Line:
        """Where play begins."""
        return Line(self.begin or State.start(self.rules), self.menu)

    # ------------------------------------------------------------------------------ chance

    def boards(self, number: int, board: Cards, *seen: Cards) -> Iterator[tuple[Cards, float]]:
        """Every board after the cards of round `number`, with its probability."""
        gone = {*board, *(card for hole in seen for card in hole)}
        left = [c for c in range(self.rules.suits * self.rules.ranks) if c not in gone]
        count = self.rules.board_cards[number]
        for dealt in combinations(left, count):
            yield board + dealt, 1.0 / comb(len(left), count)

    def showdown(self, mine: Cards, theirs: Cards, board: Cards, number: int) -> tuple[float, ...]:
        """Probabilities that player 0 wins, ties and loses once all rounds are dealt."""
        if number + 1 < self.rules.rounds:
            known = self._dealt_out.get((mine, theirs, board, number))
            if known is None:
                result = [0.0, 0.0, 0.0]
                for longer, chance in self.boards(number + 1, board, mine, theirs):
                    for i, p in enumerate(self.showdown(mine, theirs, longer, number + 1)):
                        result[i] += chance * p
                known = self._dealt_out[mine, theirs, board, number] = tuple(result)
            return known
        a, b = self.strength(mine, board), self.strength(theirs, board)
        return (float(a > b), float(a == b), float(a < b))  # type: ignore[operator]

    def payoffs(
        self, state: State, mine: Cards, theirs: Cards, board: Cards
    ) -> tuple[float, float]:
        """Chips of both players at the end of a line."""
        half = min(state.committed) + self.rules.dead / 2
        taken = min(self.rake[0] * 2 * half, self.rake[1])
        if state.folded is not None:
            win = float(state.folded == 1)
            tie, lose = 0.0, 1.0 - win
        else:
            win, tie, lose = self.showdown(mine, theirs, board, state.round)
        won, lost = half - taken, -half
        return (
            win * won + lose * lost - tie * taken / 2,
            lose * won + win * lost - tie * taken / 2,
        )

    # ------------------------------------------------------------------------------ figures

    def values(self, play: Play) -> tuple[float, float]:
        """Expected chips of both players."""
        totals = [0.0, 0.0]
        for mine, theirs, chance in self._deals:
            begun = self.first.state.round
            value = self._value(self.first, begun, self.start, (mine, theirs), play)
            for player in (0, 1):
                totals[player] += chance * value[player]
        return totals[0], totals[1]

    def _value(
        self, line: Line, dealt: int, board: Cards, holes: tuple[Cards, Cards], play: Play
    ) -> tuple[float, float]:
        state = line.state
        if state.is_over:
            return self.payoffs(state, *holes, board)
        if state.round >= self.cut:
            return self.given(0, holes[0], line.text), self.given(1, holes[1], line.text)
        branches: list[tuple[tuple[float, float], float]]
        if state.round > dealt:
            branches = [
                (self._value(line, dealt + 1, longer, holes, play), chance)
                for longer, chance in self.boards(dealt + 1, board, *holes)
            ]
        else:
            branches = [
                (self._value(after, dealt, board, holes, play), p)
                for (_, after), p in zip(
                    line.after,
                    self._mixture(line, board, holes[state.to_act or 0], play),
                    strict=True,
                )
            ]
        return (
            sum(value[0] * p for value, p in branches),
            sum(value[1] * p for value, p in branches),
        )

    def _mixture(self, line: Line, board: Cards, hole: Cards, play: Play) -> Sequence[float]:
        player = line.state.to_act
        assert player is not None
        if len(line.after) == 1:
            return [1.0]
        mixture = play(player, hole, board, line.text)
        assert len(mixture) == len(line.after)
        return mixture

    def best_response(self, player: int, play: Play) -> float:
        """Expected chips of `player` if he answers the other's `play` as well as can be.

        He sees his cards, the board and the betting, so he chooses once for everything the other
        may hold: the weights of those hands go down the tree together.
        """
        mine = {deal[player] for deal in self._deals}
        return sum(
            self._respond(
                self.first,
                self.first.state.round,
                self.start,
                player,
                hole,
                {deal[1 - player]: deal[2] for deal in self._deals if deal[player] == hole},
                play,
            )
            for hole in mine
        )

    def _respond(
        self,
        line: Line,
        dealt: int,
        board: Cards,
        player: int,
        hole: Cards,
        weights: dict[Cards, float],
        play: Play,
    ) -> float:
        state = line.state
        if state.is_over:
            total = 0.0
            for other, weight in weights.items():
                holes = (hole, other) if player == 0 else (other, hole)
                total += weight * self.payoffs(state, *holes, board)[player]
            return total
        if state.round >= self.cut:
            return sum(weights.values()) * self.given(player, hole, line.text)
        if state.round > dealt:
            after: dict[Cards, dict[Cards, float]] = {}
            for other, weight in weights.items():
                for longer, chance in self.boards(dealt + 1, board, hole, other):
                    after.setdefault(longer, {})[other] = weight * chance
            return sum(
                self._respond(line, dealt + 1, longer, player, hole, held, play)
                for longer, held in after.items()
            )
        if state.to_act == player:
            return max(
                self._respond(after, dealt, board, player, hole, weights, play)
                for _, after in line.after
            )
        mixtures = {other: self._mixture(line, board, other, play) for other in weights}
        return sum(
            self._respond(
                after,
                dealt,
                board,
                player,
                hole,
                {other: weights[other] * mixtures[other][i] for other in weights},
                play,
            )
            for i, (_, after) in enumerate(line.after)
        )
