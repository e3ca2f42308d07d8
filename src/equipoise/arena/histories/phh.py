"""Hands in the Poker Hand History format (PHH; J. Kim, 2023): TOML, one table a hand.

    variant = 'NT'
    antes = [0, 0]
    blinds_or_straddles = [50, 100]
    min_bet = 100
    starting_stacks = [20000, 20000]
    actions = ['d dh p1 AcJs', 'd dh p2 ????', 'p2 cbr 300', 'p1 f']

Heads-up, p1 is the big blind although blinds are listed small first: p1 is our position 0 and p2,
the button, position 1. `cbr X` bets or raises to X within the *street*; `cc` checks or calls, `f`
folds (as people do, even where checking is free), `sm` shows cards (after a fold too, if the winner
likes) or, with none, mucks. A file with several hands (`.phhs`) puts each in a table `[1]`, `[2]`, …

Amounts may have decimals: chips are then cents (or smaller, where an amount needs it). Equal antes
are the pot's dead chips. Winnings that a file states are passed over, because rake and returned bets
are entered differently everywhere; payoffs follow from the actions.

Read and written are no-limit (`NT`) and fixed-limit (`FT`) Texas hold'em for two players.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from equipoise.arena.record import HandRecord, Hole, board_cards
from equipoise.cards.card import cards_text, parse_cards
from equipoise.cards.streets import BOARD_CARDS
from equipoise.errors import CardError, EquipoiseError, HistoryError, IllegalActionError
from equipoise.games.rules import CALL, FOLD, Kind, Rules, State, raise_to
from equipoise.settings import brief, parse_toml, toml_text

_TABLE = re.compile(r"\s*\[\s*(?:\d+|\"\d+\"|'\d+')\s*\]\s*(#.*)?")
_AMOUNT = re.compile(r"\d{1,15}(\.\d{1,6})?")
_TOML_LINE = re.compile(r" \(at line (\d{1,9}), column \d+\)")
#: Characters that a hand may have: many times what the longest needs.
_LONGEST = 1 << 16
_FIXED_CAPS = (3, 4, 4, 4)
#: Facts about a hand that are kept with it but not understood.
_NOTES = (
    "venue",
    "table",
    "event",
    "address",
    "city",
    "region",
    "country",
    "year",
    "month",
    "day",
    "time",
    "time_zone",
    "time_zone_abbreviation",
    "currency",
    "currency_symbol",
    "seats",
    "seat_count",
    "author",
)


class Section(NamedTuple):
    """The text of one hand, and the line of the file on which it starts."""

    line: int
    text: str


def sections(lines: Iterable[str]) -> Iterator[Section]:
    """Split the lines of a `.phh` or `.phhs` file into hands.

    >>> [section.line for section in sections(["[1]", "a = 1", "", "[2]", "a = 2"])]
    [1, 4]
    """
    start, kept, length = 1, list[str](), 0
    for number, line in enumerate(lines, start=1):
        length += len(line)
        if _TABLE.fullmatch(line.rstrip("\r\n")):
            if any(text.strip() and not text.lstrip().startswith("#") for text in kept):
                yield Section(start, "".join(kept))
            # The header's place keeps the lines of the section countable.
            start, kept, length = number, ["\n"], 0
        elif length > _LONGEST:
            raise HistoryError(
                f"line {start}: a hand of more than {_LONGEST:,} characters: this is no PHH file"
            )
        else:
            kept.append(line if line.endswith("\n") else line + "\n")
    if any(text.strip() and not text.lstrip().startswith("#") for text in kept):
        yield Section(start, "".join(kept))


def read_hand(text: str, line: int = 1) -> HandRecord:
    """Read one hand, whose text starts on line `line` of its file.

    Betting that breaks the rules is an :class:`IllegalActionError`, anything else that cannot be
    read a :class:`HistoryError`.

    >>> hand = read_hand('''
    ... variant = 'NT'
    ... antes = [0, 0]
    ... blinds_or_straddles = [0.25, 0.50]
    ... min_bet = 0.50
    ... starting_stacks = [29.85, 29.25]
    ... actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cc', 'p1 cc', 'd db Ks7h5d', 'p1 cbr 0.50',
    ...            'p2 f']
    ... ''')
    >>> hand.state.betting_text(), hand.payoffs, hand.rules.stacks
    ('cc/r100f', (50, -50), (2985, 2925))
    """
    try:
        table = parse_toml(text, HistoryError, Decimal)
    except HistoryError as error:
        place = _TOML_LINE.search(str(error))
        at = line + int(place.group(1)) - 1 if place else line
        told = _TOML_LINE.sub("", str(error))
        raise HistoryError(f"line {at}: {told}") from None
    if len(table) == 1 and isinstance(inner := next(iter(table.values())), dict):
        table = inner
    try:
        return _Reader(table).hand(line)
    except IllegalActionError as error:
        raise IllegalActionError(f"line {line}: {brief(str(error), 250)}") from None
    except EquipoiseError as error:
        raise HistoryError(f"line {line}: {brief(str(error), 250)}") from None


class _Reader:
    """One hand's table, on its way to a record."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table
        self.variant = table.get("variant")
        if self.variant not in ("NT", "FT"):
            raise HistoryError(
                f"variant {brief(repr(self.variant))}: only NT and FT, hold'em without and with "
                "limit, are read"
            )
        self.actions = self._actions()
        self.scale = self._scale()

    def _value(self, key: str) -> Any:
        if key not in self.table:
            raise HistoryError(f"the hand has no {key}: add a line `{key} = ...`")
        return self.table[key]

    def _actions(self) -> list[list[str]]:
        actions = self._value("actions")
        if not isinstance(actions, list) or not all(isinstance(text, str) for text in actions):
            raise HistoryError("actions is a list of texts, such as 'p1 cc'")
        return [words for text in actions if (words := text.partition("#")[0].split())]

    def _pair(self, key: str) -> list[Decimal]:
        values = self._value(key)
        if not isinstance(values, list) or len(values) != 2:
            raise HistoryError(f"{key} = {brief(repr(values))}: only hands of two players are read")
        return [_amount(key, value) for value in values]

    def _scale(self) -> int:
        """Chips in a unit: 1 where all amounts are whole, else enough that they become so."""
        amounts = [*self._pair("antes"), *self._pair("blinds_or_straddles")]
        amounts += self._pair("starting_stacks")
        for key in ("min_bet",) if self.variant == "NT" else ("small_bet", "big_bet"):
            amounts.append(_amount(key, self._value(key)))
        for words in self.actions:
            if len(words) > 2 and words[1] == "cbr":
                amounts.append(_amount("cbr", words[2]))
        decimals = 0
        for amount in amounts:
            exponent = amount.normalize().as_tuple().exponent
            assert isinstance(exponent, int)
            decimals = max(decimals, -exponent)
        return 10 ** max(2, decimals) if decimals else 1

    def _chips(self, amount: Decimal) -> int:
        return int(amount * self.scale)

    def rules(self) -> Rules:
        """The rules with this hand's blinds and stacks."""
        antes = [self._chips(amount) for amount in self._pair("antes")]
        if antes[0] != antes[1]:
            raise HistoryError(f"antes = {self.table['antes']}: only equal antes are read")
        blinds = [self._chips(amount) for amount in self._pair("blinds_or_straddles")]
        stacks = [self._chips(amount) - antes[0] for amount in self._pair("starting_stacks")]
        small, big = sorted(blinds)
        decimals = 2 if self.scale > 1 else 0
        shown = "-".join(f"{chips / self.scale:.{decimals}f}" for chips in (small, big))
        kind = "no-limit" if self.variant == "NT" else "limit"
        if self.variant == "FT":
            low, high = (self._chips(_amount(key, self._value(key))) for key in _BETS)
            sizes: tuple[int, ...] = (low, low, high, high)
        else:
            sizes = ()
        least = self._chips(_amount("min_bet", self._value("min_bet"))) if not sizes else None
        return Rules(
            name=f"{kind} hold'em {shown}",
            limit=bool(sizes),
            blinds=(big, small),
            first=(1, 0, 0, 0),
            stacks=(stacks[0], stacks[1]),
            raise_sizes=sizes,
            max_raises=_FIXED_CAPS if sizes else (),
            dead=2 * antes[0],
            min_bet=None if least in (None, max(big, 1)) else least,
        )

    def hand(self, line: int) -> HandRecord:
        """Play the actions."""
        self.state = State.start(self.rules())
        self.board: tuple[int, ...] = ()
        self.holes: list[Hole] = [None, None]
        self.mucked: set[int] = set()
        for number, words in enumerate(self.actions, start=1):
            try:
                self._play(words)
            except EquipoiseError as error:
                text = f"action {number}, {' '.join(words)!r}: {error}"
                raise type(error)(text) from None
        names = self.table.get("players", ["p1", "p2"])
        if not isinstance(names, list) or len(names) != 2:
            raise HistoryError(f"players = {brief(repr(names))}: give two names")
        number = self.table.get("hand", 0)
        return HandRecord(
            number=number if isinstance(number, int) else 0,
            state=self.state,
            holes=(self.holes[0], self.holes[1]),
            board=self.board,
            players=(str(names[0]), str(names[1])),
            mucked=tuple(sorted(self.mucked)),
            chips_per_unit=self.scale,
            line=line,
            notes={key: self.table[key] for key in _NOTES if key in self.table},
        )

    def _play(self, words: list[str]) -> None:
        if words[:2] == ["d", "dh"] and len(words) == 4:
            self._hole(_player(words[2]), words[3])
        elif words[:2] == ["d", "db"] and len(words) == 3:
            self.board += parse_cards(words[2])
            if len(self.board) > board_cards(self.state):
                raise IllegalActionError("board cards come before the betting is over")
        elif len(words) >= 2 and words[1] in ("f", "cc", "cbr", "sm"):
            player, verb = _player(words[0]), words[1]
            if verb == "sm":
                self._show(player, "".join(words[2:]))
            else:
                self._bet(player, verb, words)
        else:
            raise HistoryError("write d dh, d db, pN f, pN cc, pN cbr AMOUNT or pN sm CARDS")

    def _hole(self, player: int, text: str) -> None:
        if set(text) == {"?"}:
            return
        cards = parse_cards(text)
        if len(cards) != 2:
            raise CardError(f"{text!r}: a hand is two cards, or ????")
        if self.holes[player] not in (None, cards, cards[::-1]):
            raise CardError(
                f"{text!r}: p{player + 1} was dealt {cards_text(self.holes[player] or ())}"
            )
        if self.holes[player] is None:
            self.holes[player] = cards

    def _show(self, player: int, text: str) -> None:
        if not self.state.is_over:
            raise IllegalActionError("cards are shown before the betting is over")
        if text and set(text) != {"?"} and text != "-":
            self._hole(player, text)
        if self.holes[player] is not None:
            self.mucked.discard(player)
        elif self.state.is_showdown:
            self.mucked.add(player)

    def _bet(self, player: int, verb: str, words: list[str]) -> None:
        state = self.state
        if player != state.to_act:
            turn = (
                "the betting is over" if state.to_act is None else f"p{state.to_act + 1} is to act"
            )
            raise IllegalActionError(turn)
        if len(self.board) != board_cards(state):
            raise IllegalActionError(
                f"{len(self.board)} board cards are out where the betting has {board_cards(state)}"
            )
        if verb != "cbr":
            self.state = state.replay(FOLD if verb == "f" else CALL)
            return
        if len(words) != 3:
            raise HistoryError("cbr needs the amount: write pN cbr AMOUNT")
        street = self._chips(_amount("cbr", words[2]))
        self.state = state.apply(raise_to(street + (state.round_start if state.round else 0)))


_BETS = ("small_bet", "big_bet")


def _amount(key: str, value: object) -> Decimal:
    text = str(value)
    if isinstance(value, bool) or not _AMOUNT.fullmatch(text):
        raise HistoryError(
            f"{key}: {brief(text)!r} is not an amount: write a number such as 300 or 1.50"
        )
    return Decimal(text)


def _player(word: str) -> int:
    if word not in ("p1", "p2"):
        raise HistoryError(f"{word!r} is not a player: heads-up there are p1 and p2")
    return int(word[1]) - 1


def write_hand(hand: HandRecord) -> str:
    """The text of a `.phh` file; `write_hands` makes a `.phhs` of many.

    >>> from equipoise.arena.acpc.protocol import read_state_line
    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> line = "STATE:2:cr300c/cr600f:Ah8s|2h4c/Kd7s2c:-300|300:ann|bob"
    >>> text = write_hand(read_state_line(NOLIMIT_HOLDEM, line))
    >>> print(text.splitlines()[5])
    actions = ["d dh p1 Ah8s", "d dh p2 2h4c", "p2 cc", "p1 cbr 300", "p2 cc", "d db Kd7s2c",
    "p1 cc", "p2 cbr 300", "p1 f"]
    >>> read_hand(text).state.betting_text()
    'cr300c/cr600f'
    """
    rules, scale = hand.rules, hand.chips_per_unit
    if rules.board_cards != BOARD_CARDS or rules.first != (1, 0, 0, 0):
        raise HistoryError(f"{rules.name}: only hold'em from before the flop is written as PHH")
    if rules.blinds[0] < rules.blinds[1] or rules.dead % 2:
        raise HistoryError(
            f"{rules.name}: PHH needs position 0 as the big blind and an even pot of antes"
        )

    ante = rules.dead // 2
    settings: dict[str, object] = {
        "variant": "FT" if rules.limit else "NT",
        "antes": [_money(ante, scale)] * 2,
        "blinds_or_straddles": [_money(chips, scale) for chips in rules.blinds[::-1]],
    }
    if rules.limit:
        low, high = rules.raise_sizes[0], rules.raise_sizes[-1]
        if rules.raise_sizes != (low, low, high, high) or rules.max_raises != _FIXED_CAPS:
            raise HistoryError(f"{rules.name}: PHH has no room for these raise sizes and caps")
        settings |= {"small_bet": _money(low, scale), "big_bet": _money(high, scale)}
    else:
        settings["min_bet"] = _money(rules.smallest_bet, scale)
    # A game without stacks still needs some here: the number that never binds, and reads back so.
    settings["starting_stacks"] = [_money(stack + ante, scale) for stack in rules.stacks]
    settings["actions"] = list(_actions(hand))
    settings["hand"] = hand.number
    settings["players"] = list(hand.players)
    settings |= {
        key: hand.notes[key] for key in hand.notes if isinstance(hand.notes[key], str | int)
    }
    return toml_text(settings)


def _money(chips: int, scale: int) -> int | float:
    return chips / scale if chips % scale else chips // scale


def write_hands(hands: Iterable[HandRecord]) -> Iterator[str]:
    """The text of a `.phhs` file, a table at a time."""
    for number, hand in enumerate(hands, start=1):
        yield f"[{number}]\n{write_hand(hand)}\n"


def _actions(hand: HandRecord) -> Iterator[str]:
    for player, hole in enumerate(hand.holes):
        yield f"d dh p{player + 1} {cards_text(hole) if hole else '????'}"
    state, seen = State.start(hand.rules), 0
    shown = False
    last = hand.state.round + hand.state.rounds_to_deal
    for number in range(last + 1):
        if number >= len(hand.state.history) and not shown:
            shown = True
            yield from _showdown(hand)
        count = hand.rules.board_cards[number]
        if count:
            yield f"d db {cards_text(hand.board[seen : seen + count])}"
            seen += count
        for action in hand.state.history[number] if number < len(hand.state.history) else ():
            assert state.to_act is not None
            who = f"p{state.to_act + 1}"
            if action.kind == Kind.RAISE:
                street = action.amount - (state.round_start if state.round else 0)
                yield f"{who} cbr {_money(street, hand.chips_per_unit)}"
            else:
                yield f"{who} {'f' if action.kind == Kind.FOLD else 'cc'}"
            state = state.replay(action)
    if hand.state.is_showdown and not shown:
        yield from _showdown(hand)


def _showdown(hand: HandRecord) -> Iterator[str]:
    """Who bet last shows first; if nobody did on the last street, who acts first does."""
    state = hand.state
    street = state.history[state.round]
    first = hand.rules.first[state.round]
    for index, action in enumerate(street):
        if action.kind == Kind.RAISE:
            first = (hand.rules.first[state.round] + index) % 2
    for player in (first, 1 - first):
        hole = hand.holes[player]
        yield f"p{player + 1} sm {cards_text(hole) if hole else '????'}"
