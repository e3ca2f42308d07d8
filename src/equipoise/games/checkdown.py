"""Check-down values: what hands are worth against a range if nobody bets any more.

For hands x and y let m(x, y) be the share of the run-outs of a board that x wins, less the share it
loses, and 0 where the two hands share a card. Against a range that holds y with weight w(y), a hand
has the *margin* D(x) = Σ_y w(y) m(x, y) over the *mass* N(x) = Σ_y w(y) [x and y share no card]:
D / N times half the pot is what it wins on average.

Ranges are the weights of a :class:`~equipoise.games.belief.Belief`.

All margins are exact, unless a part of the run-outs is asked for. In hold'em they come before the flop from
the table of all matchups
(:mod:`equipoise.cards.headsup`), later from every run-out (:mod:`equipoise.cards.boardmargins`). Games with
fewer cards are counted out, all pairs on all boards.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import DECK_SIZE
from equipoise.errors import TooLargeError
from equipoise.games.belief import Cards, Weights, free_hands, holdings
from equipoise.games.dealing import deck_of, hand_values
from equipoise.games.rules import Rules, State

#: Pairs of hands on boards that a game may have to be counted out.
_MOST_PAIRS = 100_000_000


class Margins(NamedTuple):
    """How each hand stands against a range."""

    #: Weight it beats less weight that beats it, mean over run-outs.
    margin: Weights
    #: Weight of the hands it can meet.
    mass: Weights


class CheckDown:
    """Margins of hands against ranges in one game.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> from equipoise.cards.combos import parse_combo
    >>> game = CheckDown(NOLIMIT_HOLDEM)
    >>> margin, mass = game.against_hand(parse_combo("KcKd"), ())
    >>> aces = parse_combo("AsAh")
    >>> round(float(margin[aces] / mass[aces]) / 2 + 0.5, 4)
    0.8126
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        #: Sets of private cards, in or out of the game's deck.
        self.hands = comb(DECK_SIZE, rules.hole_cards)
        held, board = rules.hole_cards, sum(rules.board_cards)
        self.full_deck = (rules.suits, rules.ranks, held, board) == (4, 13, 2, 5)
        self.deck = deck_of(rules)
        self._cards = holdings(held)
        self._tables: dict[Cards, NDArray[np.float64]] = {}
        self._recent: dict[tuple[int, Cards], Margins] = {}
        if not self.full_deck:
            boards = comb(len(self.deck), board)
            pairs = comb(len(self.deck), held) ** 2
            if boards * pairs > _MOST_PAIRS:
                raise TooLargeError(
                    f"{boards:,} boards with {pairs:,} pairs of hands are too many to count out: "
                    "play hold'em with the full deck, or a smaller one"
                )
            self._live = np.flatnonzero(self._free(()))

    def equities(self, weights: Weights, board: Cards) -> Weights:
        """Equity of every hand against a range, ties for half; NaN where they cannot meet.

        >>> from equipoise.games.rules import LIMIT_HOLDEM
        >>> float(CheckDown(LIMIT_HOLDEM).equities(np.ones(1326), ()).min().round(4))
        0.323
        """
        margin, mass = self.against(weights, board)
        met = mass > 0
        return np.where(met, (1 + margin / np.where(met, mass, 1.0)) / 2, np.nan)

    def equity(self, hand: int, weights: Weights, board: Cards) -> float:
        """Equity of one hand against a range, NaN if they cannot meet: quicker than all of them."""
        theirs, met = self.against_hand(hand, board)
        mass = float(met @ weights)
        return (1 - float(theirs @ weights) / mass) / 2 if mass > 0 else float("nan")

    def against(
        self,
        weights: Weights,
        board: Cards,
        ours: Weights | None = None,
        part: tuple[int, int] = (0, 1),
    ) -> Margins:
        """Margins against a range without blocked hands; only hands in `ours` are needed.

        After the flop of hold'em a `part` of the run-outs will do, where the mean over parts counts
        (:mod:`equipoise.cards.boardmargins`).
        """
        if ours is not None and np.count_nonzero(ours) == 1:
            return self._of_hand(int(np.flatnonzero(ours)[0]), weights, board)
        held = np.flatnonzero(weights)
        if len(held) == 1:
            margin, mass = self.against_hand(int(held[0]), board)
            weight = float(weights[held[0]])
            return Margins(margin * weight, mass * weight)
        if not self.full_deck:
            table, live = self._table(tuple(sorted(board))), self._live
            margin, mass = np.zeros(self.hands), np.zeros(self.hands)
            free = self._free(board)[live]
            margin[live] = table @ weights[live]
            mass[live] = (self._apart() & free[:, None] & free[None, :]) @ weights[live]
            return Margins(margin, mass)
        from equipoise.cards.matchup import compatible_weight

        mass = compatible_weight(weights)
        # Differences of large sums may leave a trace of hands that cannot meet.
        met = self._free(board) & (mass > 1e-12 * weights.sum())
        if board:
            from equipoise.cards.boardmargins import against_range

            margin = against_range(weights, tuple(sorted(board)), part)
        else:
            margin = _before_the_flop(weights)
        return Margins(np.where(met, margin, 0.0), np.where(met, mass, 0.0))

    def _of_hand(self, hand: int, weights: Weights, board: Cards) -> Margins:
        """The margin of a single hand against a range."""
        theirs, met = self.against_hand(hand, board)
        margin, mass = np.zeros(self.hands), np.zeros(self.hands)
        margin[hand], mass[hand] = -(theirs @ weights), met @ weights
        return Margins(margin, mass)

    def against_hand(self, hand: int, board: Cards) -> Margins:
        """Margins against a single hand."""
        key = (hand, tuple(sorted(board)))
        if key not in self._recent:
            if len(self._recent) >= 64:
                self._recent.clear()
            self._recent[key] = self._against_hand(*key)
        return self._recent[key]

    def _against_hand(self, hand: int, board: Cards) -> Margins:
        apart = self._free(board) & self._free(tuple(self._cards[hand].tolist()))
        if not self.full_deck:
            margin = np.zeros(self.hands)
            margin[self._live] = self._table(board)[:, np.searchsorted(self._live, hand)]
            return Margins(margin, apart.astype(np.float64))
        if not board:
            from equipoise.cards.headsup import margins

            return Margins(margins()[:, hand], apart.astype(np.float64))
        from equipoise.cards.boardmargins import against_hand

        margin = np.where(apart, against_hand(hand, board), 0.0)
        return Margins(margin, apart.astype(np.float64))

    def _free(self, board: Cards) -> NDArray[np.bool_]:
        return free_hands(self.rules, board)

    def _table(self, board: Cards) -> NDArray[np.float64]:
        """Counted out: m(x, y) for all hands of the deck."""
        if board not in self._tables:
            self._tables[board] = self._count_out(board)
        return self._tables[board]

    def _count_out(self, board: Cards) -> NDArray[np.float64]:
        rules, live = self.rules, self._live
        cards, free = self._cards[live], self._free(board)[live]
        pairs = self._apart() & free[:, None] & free[None, :]
        seen = np.cumsum(rules.board_cards)
        number = int(np.searchsorted(seen, len(board), side="right")) - 1
        if number + 1 == rules.rounds:
            value = np.zeros(len(live), dtype=np.int64)
            public = np.tile(np.array(board, dtype=np.int64), (int(free.sum()), 1))
            value[free] = hand_values(np.hstack([cards[free], public]).astype(np.uint8))
            signs: NDArray[np.float64] = np.sign(value[:, None] - value[None, :]) * pairs
            return signs
        count = rules.board_cards[number + 1]
        total = np.zeros((len(live), len(live)))
        left = [card for card in self.deck if card not in board]
        for more in combinations(left, count):
            total += self._table(tuple(sorted(board + more)))
        return total * pairs / comb(len(left) - 2 * rules.hole_cards, count)

    def _apart(self) -> NDArray[np.bool_]:
        return _pairs_apart(self._cards[self._live].tobytes(), self.rules.hole_cards)


def _before_the_flop(weights: Weights) -> Weights:
    """Margins of all hands before the flop."""
    from equipoise.cards.headsup import margins
    from equipoise.cards.matchup import by_class, count
    from equipoise.cards.preflop import BOARDS_PER_PAIR

    if by_class(weights) is None:
        return margins() @ weights
    # Against a range that plays all suits of a class alike the small table says the same.
    counts = count(weights, weights, (), (), 1, None)
    return (2 * counts.win + counts.tie - counts.total) / BOARDS_PER_PAIR


def half_pot(state: State) -> float:
    """Half of the pot once the last bet is called.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> half_pot(State.start(NOLIMIT_HOLDEM))
    100.0
    """
    return min(max(state.committed), *state.rules.stacks) + state.rules.dead / 2


def likely_half_pot(state: State) -> float:
    """Half of the pot that a hand is likely to be for: of a bet no more than half the pot before it counts.

    The larger a bet, the seldomer it is called: of all-ins for a hundred pots hardly any is. Called by
    p / (p + b) of the hands, as a bet of b into a pot of p should be, it adds less than p on average.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> likely_half_pot(State.from_betting_text(NOLIMIT_HOLDEM, "cc/cr20000"))
    200.0
    """
    lying = min(state.committed) + state.rules.dead / 2
    called = half_pot(state)
    return called if state.to_act is None else min(called, 2 * lying)


@cache
def _pairs_apart(data: bytes, held: int) -> NDArray[np.bool_]:
    """Which pairs of hands share no card."""
    cards = np.frombuffer(data, dtype=np.int64).reshape(-1, held)
    apart: NDArray[np.bool_] = ~(cards[:, None, :, None] == cards[None, :, None, :]).any(
        axis=(2, 3)
    )
    return apart
