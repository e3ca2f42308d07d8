"""What a history says about each player: how loose, how aggressive, and how much was won.

Shares are of the occasions on which the player had the choice. The win rate is in thousandths of a
big blind a hand with Student's 95 % interval; hands whose winner was never seen are counted but
cannot enter it. In a duplicate match the two hands of a deal share their cards, so that a pair is one
sample, as in the match itself; a pair of which one hand is missing does not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import Any

from equipoise.arena.record import HandRecord
from equipoise.arena.statistics import Estimate, estimate
from equipoise.columnar import Columnar, columns_of
from equipoise.games.rules import Kind, State


class PlayerSummary(Columnar):
    """One player's figures, added up hand by hand; as a table, one row.

    >>> from equipoise.arena.acpc.protocol import read_state_line
    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> line = "STATE:2:r300c/r600f:Ah8s|2h4c/Kd7s2c:300|-300:ann|bob"
    >>> ann, bob = summarise([read_state_line(NOLIMIT_HOLDEM, line)])
    >>> ann.name, ann.vpip, ann.raised_preflop, bob.fold_to_bet
    ('ann', 1.0, 0.0, 1.0)
    """

    def __init__(self, name: str, paired: bool = False) -> None:
        self.name = name
        #: Whether two hands are one sample of the win rate.
        self.paired = paired
        #: Hands played, and those whose winner was never seen.
        self.hands = self.unknown = 0
        self._entered = self._raised = 0
        self._bets_faced = self._bets_folded = 0
        self._showdowns = self._showdowns_known = 0
        self._showdowns_won = 0.0
        #: Samples of the win rate; and by its deal what is known of a pair so far.
        self._mbb: list[float] = []
        self._halves: dict[int, float] = {}

    @property
    def vpip(self) -> float:
        """Share of hands with chips put in by choice before the flop: a call or a raise."""
        return _share(self._entered, self.hands)

    @property
    def raised_preflop(self) -> float:
        """Share of hands with a raise before the flop."""
        return _share(self._raised, self.hands)

    @property
    def fold_to_bet(self) -> float:
        """Share of bets and raises faced, in all rounds, that were folded to; blinds are none."""
        return _share(self._bets_folded, self._bets_faced)

    @property
    def showdown(self) -> float:
        """Share of hands that came to a showdown."""
        return _share(self._showdowns, self.hands)

    @property
    def won_at_showdown(self) -> float:
        """Share of showdowns won, a split pot being half of one."""
        return _share(self._showdowns_won, self._showdowns_known)

    @property
    def win_rate(self) -> Estimate:
        """Thousandths of a big blind a hand, over the hands whose result is known."""
        return estimate(self._mbb)

    def to_dict(self) -> dict[str, Any]:
        """All figures, with their units in their names."""
        rate = self.win_rate
        return {
            "player": self.name,
            "hands": self.hands,
            "unknown_results": self.unknown,
            "vpip": self.vpip,
            "raised_preflop": self.raised_preflop,
            "fold_to_bet": self.fold_to_bet,
            "showdown": self.showdown,
            "won_at_showdown": self.won_at_showdown,
            "mbb_per_hand": rate.mean,
            "ci95_mbb": rate.half_width,
            "pairs": rate.count if self.paired else 0,
        }

    def columns(self) -> dict[str, list[Any]]:
        """All figures."""
        return columns_of([self.to_dict()])

    def _add(self, hand: HandRecord, position: int, actors: list[list[int]]) -> None:
        state, payoffs = hand.state, hand.payoffs
        self.hands += 1
        entered = raised = False
        for number, (actions, who) in enumerate(zip(state.history, actors, strict=True)):
            raises = 0
            for (kind, _), actor in zip(actions, who, strict=True):
                if actor == position:
                    self._bets_faced += raises > 0
                    self._bets_folded += raises > 0 and kind == Kind.FOLD
                    if number == 0:
                        raised |= kind == Kind.RAISE
                        # A check of the big blind costs nothing.
                        free = raises == 0 and hand.rules.blinds[position] == max(hand.rules.blinds)
                        entered |= kind == Kind.RAISE or (kind == Kind.CALL and not free)
                raises += kind == Kind.RAISE
        self._entered += entered
        self._raised += raised
        if state.is_showdown:
            self._showdowns += 1
            if payoffs is not None:
                self._showdowns_known += 1
                won = payoffs[position]
                self._showdowns_won += 1 if won > 0 else 0.5 if won == 0 else 0
        if payoffs is None:
            self.unknown += 1
        else:
            self._sample(hand.number, 1000 * payoffs[position] / hand.rules.big_blind)

    def _sample(self, number: int, mbb: float) -> None:
        if not self.paired:
            self._mbb.append(mbb)
        elif (half := self._halves.pop(number // 2, None)) is None:
            self._halves[number // 2] = mbb
        else:
            self._mbb.append((half + mbb) / 2)


def summarise(hands: Iterable[HandRecord], paired: bool = False) -> list[PlayerSummary]:
    """Every player's figures, the one with most hands first; `paired` if the match was duplicate."""
    players: dict[str, PlayerSummary] = {}
    for hand in hands:
        actors = _actors(hand.state)
        for position, name in enumerate(hand.players):
            if name not in players:
                players[name] = PlayerSummary(name, paired)
            players[name]._add(hand, position, actors)
    return sorted(players.values(), key=lambda player: (-player.hands, player.name))


def _actors(state: State) -> list[list[int]]:
    """Who did each action of each round: heads-up, players take turns."""
    rules = state.rules
    first = State.start(rules).to_act
    starts = (rules.first[0] if first is None else first, *rules.first[1:])
    return [
        [(start + index) % 2 for index in range(len(actions))]
        for start, actions in zip(starts, state.history, strict=False)
    ]


def _share(part: float, whole: int) -> float:
    return part / whole if whole else nan
