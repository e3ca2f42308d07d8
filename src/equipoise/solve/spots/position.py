"""A place in a solved spot: who holds what, what they do with it, and what it is worth.

For a hand `h` of a player, against the opponent's reach `r` and its mass `N(h)` that shares no card
with `h`, all seen from the position:

    reach(h)        chance that the player, dealt `h`, plays it to here, times its weight in his range
    ev(h)           what he takes from the pot from here on, less what he still puts in: folding is
                    worth 0, and both players' values sum to the pot less the rake
    equity(h)       share of the pot if nothing more is bet
    realisation(h)  ev(h) / (equity(h) · pot)

Amounts are in the unit of the spot, chips or big blinds. Means over a range weight each hand with
`reach(h) · N(h)`: how often it is really held here. A hand that never gets here has no strategy and no
value: those are nan.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import card_text, cards_text, parse_card
from equipoise.cards.combos import COMBO_COUNT, combo_text
from equipoise.cards.range import Range
from equipoise.cards.streets import STREETS, street_of
from equipoise.errors import CardError, EquipoiseError, IllegalActionError
from equipoise.games.nodes import DEAL, FOLD
from equipoise.games.notation.amounts import amount_of
from equipoise.games.notation.labels import named
from equipoise.games.rules import State
from equipoise.games.runouts import Renaming, inverse, renamed_deck
from equipoise.games.spot import SEATS
from equipoise.settings import brief
from equipoise.solve.spots.answer import Answer

Vector = NDArray[np.float64]

#: A hand that gets here less often than this never does.
NEVER = 1e-9
#: Less than this share of the opponent's mass is rounding.
ROUNDING = 1e-6


def seat(player: int | str) -> int:
    """Number of a player, by number or name.

    >>> seat("ip"), seat(0)
    (1, 0)
    """
    if player in (0, 1):
        return int(player)
    if isinstance(player, str) and player.lower() in SEATS:
        return SEATS.index(player.lower())
    raise EquipoiseError(f"{player!r}: a player is 'oop' or 'ip'")


class Position:
    """Where a line of actions and cards leads; made by :meth:`first` and :meth:`step`."""

    def __init__(
        self,
        answer: Answer,
        board_number: int,
        node: int,
        renaming: Renaming,
        reach: tuple[Vector, Vector],
        line: tuple[str, ...],
        chance: float = 1.0,
        scale: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        #: The answer that holds this position's strategy.
        self.answer = answer
        #: Number of the board in the game; suit-equivalent boards share one.
        self.board_number = board_number
        #: Number of the node of the betting tree.
        self.node = node
        #: Actions and cards that lead here from where the spot begins.
        self.line = line
        # Takes the cards as the user named them to those of the game's board.
        self._renaming = renaming
        # In the order of the game's board; a re-solved street has its ranges scaled to 1.
        self._reach, self._chance, self._scale = reach, chance, scale
        betting = answer.game.betting
        #: The betting so far: pot, chips put in, whose turn it is.
        self.state: State = betting.states[node]
        #: What can be done here, as `check`, `bet 50`, `raise 170`, `allin 200`, `call`, `fold`.
        self.actions = tuple(betting.label(child) for child in betting.children(node))
        #: Who decides here: 0 (out of position), 1 (in position), None if nobody.
        self.to_act: int | None = int(betting.kind[node]) if betting.kind[node] < 2 else None
        back = np.array(renamed_deck(inverse(renaming), 52))
        here = answer.game.deal.boards[board_number]
        start = len(answer.spot.board)
        #: Public cards, as they were dealt.
        self.board: tuple[int, ...] = answer.spot.board + tuple(
            int(card) for card in back[list(here.cards[start:])]
        )
        # Hand of each state in this world, and the order that puts them by number.
        self._combos, self._order = [], []
        for hands in here.hands:
            cards = back[hands.astype(np.int64)]
            high, low = cards.max(axis=1), cards.min(axis=1)
            combos = high * (high - 1) // 2 + low
            self._combos.append(combos)
            self._order.append(np.argsort(combos))

    @classmethod
    def first(
        cls,
        answer: Answer,
        line: tuple[str, ...] = (),
        scale: tuple[float, float] = (1.0, 1.0),
    ) -> Self:
        """Where the spot of an answer begins."""
        initial = answer.game.deal.initial
        return cls(answer, 0, 0, (0, 1, 2, 3), (initial[0], initial[1]), line, scale=scale)

    # ------------------------------------------------------------------------------ walking

    def step(self, word: str) -> Self:
        """The position after an action, or after a card where one is dealt."""
        if self.to_act is not None:
            return self._act(self._action(word))
        if self.answer.game.betting.kind[self.node] == DEAL:
            return self._deal(word)
        raise IllegalActionError(f"{brief(word)!r}: the hand is over after {self._told()}")

    def _action(self, word: str) -> int:
        close = named(word, self.actions)
        if len(close) == 1:
            return close[0]
        listed = ", ".join(self.actions if not close else [self.actions[i] for i in close])
        assert self.to_act is not None
        raise IllegalActionError(
            f"{brief(word)!r}: after {self._told()} it is {SEATS[self.to_act]}'s turn: choose from {listed}"
        )

    def _act(self, action: int) -> Self:
        assert self.to_act is not None
        betting = self.answer.game.betting
        reach = list(self._reach)
        play = self.answer.rows(self.node, self.board_number)
        reach[self.to_act] = reach[self.to_act] * play[action]
        return type(self)(
            self.answer,
            self.board_number,
            int(betting.first[self.node]) + action,
            self._renaming,
            (reach[0], reach[1]),
            (*self.line, self.actions[action]),
            self._chance,
            self._scale,
        )

    def _deal(self, word: str) -> Self:
        try:
            card = parse_card(word)
        except CardError as error:
            raise IllegalActionError(
                f"after {self._told()} a card is dealt: name one, such as "
                f"{card_text(next(c for c in range(51, -1, -1) if c not in self.board))} ({error})"
            ) from None
        if card in self.board:
            raise CardError(
                f"'{card_text(card)}': it is on the board {cards_text(self.board)} already"
            )
        answer = self.answer
        deal, betting = answer.game.deal, answer.game.betting
        here = deal.boards[self.board_number]
        if not answer.holds(here.round + 1):
            return self._solved_on(card)
        dealt = renamed_deck(self._renaming, 52)[card]
        number, child = next(
            (b, deal.boards[b])
            for b in answer.boards_after(self.board_number)
            if (dealt,) in deal.boards[b].deals
        )
        onward = next(s for s in here.symmetries if renamed_deck(s, 52)[dealt] == child.cards[-1])
        after = type(self)(
            answer,
            number,
            int(betting.next_root[self.node]),
            tuple(onward[suit] for suit in self._renaming),
            self._reach,
            (*self.line, card_text(card)),
            self._chance * child.weight,
            self._scale,
        )
        after._reach = (self._arriving(after, 0), self._arriving(after, 1))
        return after

    def _solved_on(self, card: int) -> Self:
        """The position after a card whose street is not here: solved from the ranges that get there."""
        line = (*self.line, card_text(card))
        ranges = [self.range(player).without((card,)) for player in (0, 1)]
        if not all(ranges):
            raise IllegalActionError(
                f"'{', '.join(line)}': no hand gets there, so there is nothing to solve"
            )
        # The largest weight becomes 1: ranges of lines hardly taken keep their precision.
        most = [float(hands.weights.max()) for hands in ranges]
        oop, ip = (
            Range(np.minimum(part.weights / np.float32(scale), np.float32(1)))
            for part, scale in zip(ranges, most, strict=True)
        )
        answer = self.answer.solved_on(self.node, (*self.board, card), (oop, ip), line)
        start = self.first(answer, line, (most[0], most[1]))
        while len(start.actions) == 1:
            start = start.step(start.actions[0])
        return start

    def _arriving(self, after: Position, player: int) -> Vector:
        """Reach of a player's hands on the next board: that of the same hands here."""
        place = np.zeros(COMBO_COUNT, dtype=np.int64)
        place[self._combos[player]] = np.arange(len(self._combos[player]))
        arriving: Vector = self._reach[player][place[after._combos[player]]]
        return arriving

    def _told(self) -> str:
        played = (*self.answer.before, *self.line)
        return f"'{', '.join(played)}'" if played else "the start"

    # ------------------------------------------------------------------------------ facts

    @property
    def street(self) -> str:
        """`flop`, `turn` or `river`."""
        return STREETS[street_of(self.board)]

    @property
    def pot(self) -> int | float:
        """What is in the middle, in the unit of the spot."""
        return amount_of(self.state.pot, self.answer.spot.parts)

    @property
    def player(self) -> str | None:
        """Who decides here: `oop` or `ip`, None if nobody."""
        return None if self.to_act is None else SEATS[self.to_act]

    def hands(self, player: int | str) -> NDArray[np.int64]:
        """Hands of a player, as numbers in ascending order: what every other vector goes by."""
        who = seat(player)
        combos: NDArray[np.int64] = self._combos[who][self._order[who]]
        return combos

    def states(self, player: int | str) -> NDArray[np.int64]:
        """Where each of those hands stands among the states of the game's board."""
        order: NDArray[np.int64] = self._order[seat(player)]
        return order

    def reach(self, player: int | str) -> Vector:
        """Weight with which each hand of a player gets here."""
        who = seat(player)
        reach: Vector = self._reach[who][self._order[who]] * self._scale[who]
        return reach

    def range(self, player: int | str) -> Range:
        """The range that a player gets here with."""
        weights = np.zeros(COMBO_COUNT)
        reach = self.reach(player)
        weights[self.hands(player)] = np.where(reach > NEVER, np.minimum(reach, 1.0), 0.0)
        return Range(weights)

    def strategy(self) -> Vector:
        """Probability of each action with each hand of the player to act: [action, hand]."""
        who = self.decider()
        play = self.answer.rows(self.node, self.board_number)
        known: Vector = np.where(self._here(who), play, np.nan)
        return known[:, self._order[who]]

    def ev(self, player: int | str) -> Vector:
        """What each hand of a player is worth from here on."""
        who = seat(player)
        return self._worth(who, self.node)[self._order[who]]

    def action_ev(self) -> Vector:
        """The same if the hand takes each action: [action, hand] of the player to act."""
        who = self.decider()
        children = self.answer.game.betting.children(self.node)
        worth = np.array([self._worth(who, child) for child in children])
        return worth[:, self._order[who]]

    def equity(self, player: int | str) -> Vector:
        """Share of the pot, for each hand of a player, if nothing more is bet."""
        who = seat(player)
        showdowns = self.answer.showdowns
        equity = showdowns.equity(who, self.board_number, self._reach[1 - who])
        return equity[self._order[who]]

    def realisation(self, player: int | str) -> Vector:
        """How much of its equity each hand of a player turns into chips: ev / (equity · pot)."""
        share = self.equity(player) * self.pot
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(share > 0, self.ev(player) / share, np.nan)

    def frequencies(self) -> Vector:
        """How often each action is taken, over the range of the player to act."""
        weight = self.weight(self.decider())
        total = weight.sum()
        if not total > 0:
            return np.full(len(self.actions), np.nan)
        frequencies: Vector = np.nan_to_num(self.strategy()) @ weight / total
        return frequencies

    def mean_ev(self, player: int | str) -> float:
        """What the range of a player is worth from here on."""
        return self._mean(seat(player), self.ev(player))

    def mean_equity(self, player: int | str) -> float:
        """Equity over the range of a player."""
        return self._mean(seat(player), self.equity(player))

    def mean_realisation(self, player: int | str) -> float:
        """How much of its equity the range of a player turns into chips."""
        share = self.mean_equity(player) * self.pot
        return self.mean_ev(player) / share if share > 0 else float("nan")

    def decider(self) -> int:
        """Number of the player to act; there must be one."""
        if self.to_act is None:
            dealt = self.answer.game.betting.kind[self.node] == DEAL
            cure = (
                "a card is dealt: add one" if dealt else "the hand is over: leave out the last step"
            )
            raise IllegalActionError(f"nobody decides after {self._told()}, where {cure}")
        return self.to_act

    def _here(self, player: int) -> NDArray[np.bool_]:
        """Which states of a player get here."""
        here: NDArray[np.bool_] = self._reach[player] * self._scale[player] > NEVER
        return here

    def _mass(self, player: int) -> Vector:
        """Opponent's reach that shares no card with each state of a player."""
        facing = self._reach[1 - player]
        showdowns = self.answer.showdowns
        mass, _ = showdowns.masses(player, self.board_number, facing, results=False)
        return np.where(mass > ROUNDING * facing.sum(), mass, 0.0)

    def _worth(self, player: int, node: int) -> Vector:
        """Worth from here on, by state, if the betting goes on at `node`: here or one action on."""
        mass = self._mass(player) * self._chance
        known = (mass > 0) & self._here(player)
        values = self.answer.value_rows(player, self.board_number)[node]
        owned = self.answer.spot.pot / 2 + self.state.committed[player]
        worth = (values / np.where(known, mass, 1.0) + owned) / self.answer.spot.parts
        return np.where(known, worth, np.nan)

    def weight(self, player: int) -> Vector:
        """How often each hand is held here, in the order of :meth:`hands`."""
        weight: Vector = self._reach[player] * self._here(player) * self._mass(player)
        return weight[self._order[player]]

    def _mean(self, player: int, figures: Vector) -> float:
        weight = self.weight(player)
        total = weight.sum()
        return float(np.nan_to_num(figures) @ weight / total) if total > 0 else float("nan")

    # ------------------------------------------------------------------------------ telling

    @property
    def title(self) -> str:
        """Board, line and whose turn it is."""
        unit = " bb" if self.answer.spot.unit == "bb" else ""
        told = f"{cards_text(self.board)}, pot {self.answer.spot.amount(self.state.pot)}{unit}"
        played = (*self.answer.before, *self.line)
        line = f", {' – '.join(played)}" if played else ""
        return f"{told}{line}" + (f": {self.player}" if self.player else "")

    def to_dict(self) -> dict[str, Any]:
        """Everything about the position in plain types, hands as text; nan is None."""
        told: dict[str, Any] = {
            "board": cards_text(self.board),
            "street": self.street,
            "line": list(self.line),
            "pot": self.pot,
            "player": self.player,
            "actions": list(self.actions),
        }
        if self.answer.before:
            told["before"] = list(self.answer.before)
        if self.to_act is not None:
            told["frequencies"] = _plain(self.frequencies())
            told["strategy"] = _plain(self.strategy())
            told[f"action_ev_{self.answer.spot.unit}"] = _plain(self.action_ev())
        for name in SEATS:
            told[name] = {
                "hands": [combo_text(int(combo)) for combo in self.hands(name)],
                "reach": _plain(self.reach(name)),
                f"ev_{self.answer.spot.unit}": _plain(self.ev(name)),
                "equity": _plain(self.equity(name)),
            }
        return told

    def __repr__(self) -> str:
        over = self.answer.game.betting.kind[self.node] >= FOLD and self.to_act is None
        return f"<Position {self.title}{' (no decision)' if over else ''}>"


def _plain(array: Vector) -> Any:
    """Lists of rounded numbers, None for nan."""
    if array.ndim > 1:
        return [_plain(row) for row in array]
    return [None if x != x else x for x in np.round(array, 6).tolist()]
