"""A spot: a situation after the flop, as a player describes it.

Board, a range for each player, the pot, what both have left, the bet sizes to consider and the
rake. Everything is exact: no cards are grouped. As a TOML file:

    name = "button against big blind, turn"    # optional
    board = "Td 9d 6h Qc"                      # three, four or five cards
    unit = "bb"                                # what amounts are counted in: chips unless told otherwise
    pot = 6.5                                  # decimals are kept exactly
    stack = 97.5                               # what each player has left
    min_bet = 1                                # smallest bet: 1 chip or big blind unless told otherwise
    line = "check, bet 50"                     # betting on this street before the spot begins, optional

    [ranges]                                   # as in equipoise.cards.rangetext
    oop = "22+, A2s+, A8o+"                    # out of position: acts first
    ip = "22+, A4s+, A9o+:0.5"                 # in position

    [rake]                                     # optional
    rate = 0.05                                # share of every pot that is won
    cap = 3                                    # most that is taken, in chips; optional

    [menu]                                     # as in equipoise.games.menu; without it two sizes, then one
    bets = "50%,100%,a"                        # for all streets and both players ...
    raises = "60%,a"
    add_allin_threshold = 1.5
    [menu.river.oop]                           # ... unless a street or a player says otherwise
    donks = "33%"

A key that would change nothing is refused: sizes of a street that is not played, sizes that others
replace everywhere, donk bets of a player who never makes one.

With a `line` the spot begins in the middle of the street. Pot and stack are those with which the
street began; any legal bet may stand in the line, on the menu or not. The ranges are the hands with
which each player *arrives where the line ends*, so hands that would not have played it are not in them.
"The pot", of which exploitability is a percentage, is then the one there, both players' bets included.

Chips are whole. Amounts with decimals, and those in big blinds, are counted in parts (`Spot.parts`) of their
unit; labels (`bet 3.25`), lines and values stay in the unit.

Values count the share of the pot where the spot begins: a player who folds at once has 0, and both
together have that pot less the rake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import RANKS, cards_text, check_distinct, parse_cards
from equipoise.cards.combos import COMBO_CARDS
from equipoise.cards.range import Range
from equipoise.cards.streets import STREETS
from equipoise.errors import CardError, EquipoiseError, GameError, IllegalActionError, RangeError
from equipoise.games.betting import NO_RAKE, Betting, Rake
from equipoise.games.game import CardText
from equipoise.games.menu import BetMenu
from equipoise.games.notation.amounts import UNITS, amount_of, amount_text, in_parts, parts_of
from equipoise.games.notation.labels import play_line
from equipoise.games.rules import Rules, State
from equipoise.games.spotmenu import MOST_CHIPS, check_amounts, default_menu, read_menu
from equipoise.settings import brief, check_keys, parse_toml, read_toml, toml_text

if TYPE_CHECKING:
    from equipoise.games.boards import BoardTree, Hands
    from equipoise.games.game import Game
    from equipoise.games.runouts import Weighted

#: Names of the players: out of position, in position.
SEATS = ("oop", "ip")

_KEYS = ("name", "board", "unit", "pot", "stack", "min_bet", "line", "ranges", "rake", "menu")
_REQUIRED = {
    "board": 'board = "Td 9d 6h"',
    "pot": "pot = 100",
    "stack": "stack = 200",
    "ranges": '[ranges] with oop = "..." and ip = "..."',
}
_TEXT = CardText(RANKS, suits=4)


def postflop(pot: int, stack: int, rounds: int = 1, min_bet: int = 1) -> Rules:
    """No-limit from the flop (`rounds=3`), the turn (2) or the river (1), the pot given.

    Player 0 is out of position and acts first in every round; `stack` is what each has left.

    >>> postflop(pot=100, stack=200).dead
    100
    """
    if not 1 <= rounds <= 3:
        raise GameError(f"rounds = {rounds}: 3 starts on the flop, 2 on the turn, 1 on the river")
    return Rules(
        name=f"{STREETS[-rounds]} spot, pot {pot}, stack {stack}",
        limit=False,
        blinds=(0, 0),
        first=(0,) * rounds,
        stacks=(stack, stack),
        board_cards=(0,) + (1,) * (rounds - 1),
        dead=pot,
        min_bet=min_bet,
    )


@dataclass(frozen=True, init=False)
class Spot:
    """A postflop situation.

    >>> spot = Spot("Td9d6hQc2s", "22+,A2s+", "TT+,AKs", pot=100, stack=200, menu="50%,a")
    >>> spot.street, spot.oop_range.combos, Spot.from_toml(spot.to_toml()) == spot
    ('river', 126.0, True)
    >>> Spot("Td9d6hQc2s", "22+", "TT+", pot=0, stack=200, menu="50%,a")
    Traceback (most recent call last):
        ...
    equipoise.errors.GameError: pot = 0: the pot holds at least 1 chip
    """

    #: Public cards, three to five, in the order they were dealt.
    board: tuple[int, ...]
    #: Hands with which the player out of position, who acts first on every street, arrives where
    #: the line ends.
    oop_range: Range
    #: Hands with which the player in position arrives there.
    ip_range: Range
    #: Chips in the middle when the street begins.
    pot: int
    #: Chips each player has left then: the shorter stack, if they differ.
    stack: int
    #: Sizes to consider; its first street is the spot's.
    menu: BetMenu
    #: What the house takes.
    rake: Rake
    #: Smallest bet.
    min_bet: int
    #: What people call it.
    name: str
    #: Betting on the street before the spot begins, as `check, bet 50`; empty at its start.
    line: str
    #: What a player counts in: `chips` or `bb`.
    unit: str
    #: Chips of the betting in one of those.
    parts: int

    def __init__(
        self,
        board: str | Iterable[int],
        oop_range: str | Range,
        ip_range: str | Range,
        pot: int,
        stack: int,
        menu: BetMenu | str | Mapping[str, Any] | None = None,
        rake: Rake = NO_RAKE,
        min_bet: int = 1,
        name: str = "",
        line: str = "",
        unit: str = "chips",
        parts: int = 1,
    ) -> None:
        cards = _read_board(board)
        rounds = 6 - len(cards)
        fields = {
            "board": cards,
            "oop_range": _read_range(oop_range, "oop", cards),
            "ip_range": _read_range(ip_range, "ip", cards),
            "pot": _whole(pot, "pot", "the pot holds at least 1 chip"),
            "stack": _whole(stack, "stack", "each player needs at least 1 chip to bet"),
            "menu": default_menu(rounds) if menu is None else read_menu(menu, rounds),
            "rake": _check_rake(rake),
            "min_bet": _whole(min_bet, "min_bet", "the smallest bet is at least 1 chip"),
            "name": _check_name(name),
            "unit": unit,
            "parts": parts,
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)
        check_amounts(self.menu, self.stack, parts)
        object.__setattr__(self, "line", line)
        object.__setattr__(self, "line", ", ".join(self.played))
        if not self.pairs:
            raise RangeError(
                "ranges: every hand of oop shares a card with every hand of ip: add hands to one"
            )

    def __repr__(self) -> str:
        hands = " v ".join(f"{own.combos:.6g}" for own in (self.oop_range, self.ip_range))
        told = f"{cards_text(self.board)}, pot {self.amount(self.pot)}, "
        told += f"stack {self.amount(self.stack)}, {hands} combos"
        told += f", after {self.line}" if self.line else ""
        return f"<Spot {self.name}: {told}>" if self.name else f"<Spot {told}>"

    # ------------------------------------------------------------------------------ text

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Spot:
        """Read a spot from nested settings, laid out as the TOML file."""
        check_keys(settings, _KEYS, "", GameError)
        for key, cure in _REQUIRED.items():
            if key not in settings:
                raise GameError(f"the spot has no {key}: add {cure}")
        ranges = _table(settings, "ranges", ("oop", "ip"))
        for player in ("oop", "ip"):
            if player not in ranges:
                raise GameError(f'the spot has no ranges.{player}: add {player} = "QQ+,AKs"')
        rake = _table(settings, "rake", Rake._fields)
        if rake and "rate" not in rake:
            raise GameError("rake has no rate: add rate = 0.05, or drop the table")
        board = settings["board"]
        if not isinstance(board, str):
            raise GameError(
                f'board = {brief(repr(board))}: write cards as text, such as "Td 9d 6h"'
            )
        unit = settings.get("unit", "chips")
        if unit not in UNITS:
            raise GameError(f"unit = {brief(repr(unit))}: count in one of {', '.join(UNITS)}")
        amounts = {key: settings.get(key, 1) for key in ("pot", "stack", "min_bet")}
        parts = parts_of(unit, amounts.values())
        chips: dict[str, Any] = {key: in_parts(told, key, parts) for key, told in amounts.items()}
        taken = _check_rake(Rake(**rake)) if rake else NO_RAKE
        return cls(
            board=board,
            oop_range=ranges["oop"],
            ip_range=ranges["ip"],
            menu=_table(settings, "menu", None) if "menu" in settings else None,
            rake=taken._replace(cap=taken.cap * parts),
            name=settings.get("name", ""),
            line=settings.get("line", ""),
            unit=unit,
            parts=parts,
            **chips,
        )

    def to_dict(self) -> dict[str, Any]:
        """The settings that :meth:`from_dict` reads."""
        settings: dict[str, Any] = {"name": self.name} if self.name else {}
        settings["board"] = cards_text(self.board)
        if self.unit != "chips":
            settings["unit"] = self.unit
        settings |= {key: amount_of(getattr(self, key), self.parts) for key in ("pot", "stack")}
        if self.min_bet != self.parts:
            settings["min_bet"] = amount_of(self.min_bet, self.parts)
        if self.line:
            settings["line"] = self.line
        settings["ranges"] = {"oop": str(self.oop_range), "ip": str(self.ip_range)}
        if self.rake != NO_RAKE:
            settings["rake"] = {"rate": self.rake.rate}
            if isfinite(self.rake.cap):
                settings["rake"]["cap"] = self.rake.cap / self.parts
        settings["menu"] = self.menu.to_dict(self.rounds)
        return settings

    @classmethod
    def from_toml(cls, text: str) -> Spot:
        """Read the text of a TOML file.

        >>> Spot.from_toml('board = "AsKsQs"')
        Traceback (most recent call last):
            ...
        equipoise.errors.GameError: the spot has no pot: add pot = 100
        """
        return cls.from_dict(parse_toml(text, GameError))

    def to_toml(self) -> str:
        """Write a TOML file that :meth:`from_toml` reads."""
        return toml_text(self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Spot:
        """Read a TOML file; a spot without a name is called by the file's."""
        path = Path(path)
        settings = read_toml(path, GameError)
        try:
            spot = cls.from_dict(settings)
        except EquipoiseError as error:
            raise type(error)(f"{path}: {error}") from None
        if not spot.name:
            object.__setattr__(spot, "name", path.stem if path.stem.isprintable() else "")
        return spot

    # ------------------------------------------------------------------------------ the game

    @property
    def chips_per_unit(self) -> int:
        """Chips in what amounts are counted in: with big blinds, a chip is one of their parts."""
        return self.parts if self.unit == "bb" else 1

    def amount(self, chips: int) -> str:
        """Chips of the betting as a player reads them: in the spot's unit."""
        return amount_text(chips, self.parts)

    @property
    def rounds(self) -> int:
        """Betting rounds from here on: 3 on the flop, 1 on the river."""
        return 6 - len(self.board)

    @property
    def street(self) -> str:
        """`flop`, `turn` or `river`."""
        return STREETS[-self.rounds]

    @property
    def streets(self) -> tuple[str, ...]:
        """The streets that are played."""
        return STREETS[-self.rounds :]

    @property
    def rules(self) -> Rules:
        """The betting rules."""
        return postflop(self.pot, self.stack, self.rounds, self.min_bet)

    @property
    def origin(self) -> State:
        """Where the spot begins: chips put in on this street, whose turn it is."""
        return self._begun[0]

    @property
    def played(self) -> tuple[str, ...]:
        """The actions of the line, as `("check", "bet 50")`."""
        return self._begun[1]

    @cached_property
    def _begun(self) -> tuple[State, tuple[str, ...]]:
        return _play(State.start(self.rules), self.line, self.menu, self.street, self.parts)

    def hands(self, player: int) -> tuple[Hands, NDArray[np.float64]]:
        """Hands of a player that the board leaves, cards descending, and their weights."""
        weights = (self.oop_range, self.ip_range)[player].without(self.board).weights
        chosen = np.flatnonzero(weights)
        return COMBO_CARDS[chosen].astype(np.int16), weights[chosen].astype(np.float64)

    @property
    def pairs(self) -> bool:
        """Whether any hand of one player can be dealt beside a hand of the other."""
        (mine, _), (theirs, _) = self.hands(0), self.hands(1)
        if len(mine) * len(theirs) > 51 * 51:
            # Where every hand shares a card with every hand of the other, none are more than
            # the 51 hands of one card against the same 51.
            return True
        from equipoise.games.boards import compatible

        return bool(compatible(mine, theirs).any())

    def game(self, use_symmetry: bool = True) -> Game:
        """The game that solvers solve, over exact hands.

        Boards that differ only by a renaming of suits are one where ranges and board allow it,
        unless `use_symmetry` is off.
        """
        from equipoise.games.game import Game

        rules = self.rules
        betting = Betting.build(rules, self.menu, self.rake, keep_first=True, start=self.origin)
        if self.parts > 1:
            betting = replace(betting, parts=self.parts)
        ranges = (self.hands(0), self.hands(1))
        deal = deal_hands(self.board, betting.board_cards, ranges, use_symmetry)
        name = self.name or f"{self.street} {cards_text(self.board)}"
        return Game(
            name=f"{name}: {self.line}" if self.line else name,
            betting=betting,
            deal=deal,
            unit_chips=float(self.min_bet),
            state_name=_TEXT.state,
            board_name=_TEXT.board,
            value_offset_chips=self.pot / 2 + self.origin.committed[0],
        )


def deal_hands(
    board: tuple[int, ...],
    board_cards: Sequence[int],
    ranges: tuple[Weighted, Weighted],
    use_symmetry: bool = True,
) -> BoardTree:
    """Hold'em from a board on, `board_cards` dealt before each round: exact hands of both ranges."""
    from equipoise.games.boards import deal_cards

    return deal_cards(
        suits=4,
        ranks=13,
        hole_cards=2,
        board_cards=board_cards,
        strength=_strength,
        evaluator="sorted",
        start=board,
        ranges=ranges,
        use_symmetry=use_symmetry,
    )


def _strength(hands: Hands, board: tuple[int, ...]) -> NDArray[np.int64]:
    """Value of hands on a full board."""
    high, low = hands[:, 0].astype(np.int64), hands[:, 1]
    values: NDArray[np.int64] = _strengths(board)[high * (high - 1) // 2 + low].astype(np.int64)
    return values


@lru_cache(maxsize=1)
def _strengths(board: tuple[int, ...]) -> NDArray[np.uint16]:
    """Value of every hand on a full board, kept for the other player."""
    from equipoise.cards.evaluator import strengths

    return strengths(board)


# ---------------------------------------------------------------------------------- reading


def _read_board(board: str | Iterable[int]) -> tuple[int, ...]:
    try:
        if isinstance(board, str):
            cards = parse_cards(board)
        else:
            cards = tuple(int(card) for card in board)
            cards_text(cards)
            check_distinct(cards)
    except CardError as error:
        raise CardError(f"board: {error}") from None
    if not 3 <= len(cards) <= 5:
        raise CardError(
            f"board: {len(cards)} cards: give 3 for the flop, 4 for the turn, 5 for the river"
        )
    return cards


def _read_range(hands: object, player: str, board: tuple[int, ...]) -> Range:
    if isinstance(hands, str):
        try:
            hands = Range.parse(hands)
        except EquipoiseError as error:
            raise RangeError(f"ranges.{player}: {error}") from None
    if not isinstance(hands, Range):
        raise RangeError(
            f"ranges.{player} = {brief(repr(hands))}: write a range as text, such as 'QQ+,AKs'"
        )
    if not hands:
        raise RangeError(f"ranges.{player}: no hand has a weight above 0: name one, such as AhKd")
    if not hands.without(board):
        raise RangeError(
            f"ranges.{player}: every hand holds a card of the board {cards_text(board)}: add others"
        )
    return hands


def _play(
    start: State, line: object, menu: BetMenu, street: str, parts: int
) -> tuple[State, tuple[str, ...]]:
    """Where a line leads on the street on which it starts, and its actions."""
    if not isinstance(line, str):
        raise GameError(
            f'line = {brief(repr(line))}: write actions as text, such as "check, bet 50"'
        )
    if not line.strip():
        return start, ()
    try:
        state, played = play_line(start, line, menu, SEATS, parts)
    except IllegalActionError as error:
        raise IllegalActionError(f"line: {error}") from None
    if state.is_over or state.round > start.round:
        what = "hand is over" if state.is_over else f"{street} ends"
        cure = "leave out its last action"
        if not state.is_over:
            cure = "give the board, pot, stack and ranges of the next street instead"
        raise IllegalActionError(f"line: the {what} after '{', '.join(played)}': {cure}")
    return state, played


def _check_rake(rake: object) -> Rake:
    if not isinstance(rake, tuple) or len(rake) != 2:
        raise GameError(f"rake = {brief(repr(rake))}: give a rate and a cap, as Rake(0.05, 3)")
    rate, cap = rake
    for key, value in (("rate", rate), ("cap", cap)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise GameError(f"rake.{key} = {brief(repr(value))}: write a number, such as 0.05")
    if not 0 <= rate <= 1:
        raise GameError(f"rake.rate = {rate}: a rate is between 0 and 1, so 5 % is 0.05")
    if not cap >= 0:
        raise GameError(f"rake.cap = {cap}: a cap is 0 chips or more; drop it for none")
    return Rake(float(rate), float(cap) if cap <= MOST_CHIPS else float("inf"))


def _check_name(name: object) -> str:
    if not isinstance(name, str):
        raise GameError(f"name = {brief(repr(name))}: write it as text")
    if not name.isprintable():
        raise GameError(f"name = {brief(repr(name))}: write it as one line of printable text")
    return name


def _whole(value: object, key: str, least: str) -> int:
    if isinstance(value, str):
        raise GameError(
            f"{key} = {brief(repr(value))}: write a number, without quotes, such as 97.5"
        )
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise GameError(
            f"{key} = {brief(repr(value))}: write whole chips, counting in smaller ones if need be"
        )
    if value <= 0:
        raise GameError(f"{key} = {brief(value)}: {least}")
    if value > MOST_CHIPS:
        raise GameError(f"{key} is more than {MOST_CHIPS:,} chips: count in larger ones")
    return int(value)


def _table(
    settings: Mapping[str, Any], key: str, known: tuple[str, ...] | None
) -> Mapping[str, Any]:
    table = settings.get(key, {})
    if not isinstance(table, Mapping):
        raise GameError(f"{key} = {brief(repr(table))}: write it as a table, under [{key}]")
    if known is not None:
        check_keys(table, known, f"{key}.", GameError)
    return table
