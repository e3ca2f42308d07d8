"""Lines of the protocol of the Annual Computer Poker Competition (ACPC), both ways.

The dealer tells a seat where it stands by

    MATCHSTATE:<position>:<hand>:<betting>:<cards>

and the seat to act answers with the same line and `:f`, `:c` or `:rN`. Position 0 is the big blind;
betting is the text of :mod:`equipoise.games.rules`; cards are the hole cards of position 0, `|`,
those of position 1, then `/` and the board cards of each round. Hidden cards are left blank:
`|9hQd/8dAs8s` is the flop as position 1 sees it. A finished hand is logged as

    STATE:<hand>:<betting>:<cards>:<payoffs>:<names>

with payoffs and names by position, and a match ends in `SCORE:<chips>:<names>` by seat. Lines that
start with `#` or `;` are comments.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from equipoise.arena.record import CARD_TEXTS, HandRecord, state_line, write_cards
from equipoise.errors import CardError, HistoryError, IllegalActionError, ProtocolError
from equipoise.games.rules import CALL, FOLD, Action, Kind, Rules, State
from equipoise.numerals import read_decimal, read_whole
from equipoise.settings import brief

#: What a client says first.
VERSION = "VERSION:2.0.0"

#: Longest line that is read, and most bytes that are ever kept of one: every hand of the game with
#: the largest stacks in use fits many times over.
LONGEST_LINE = 65_536

#: Betting texts whose states are kept by a reader.
_MOST_SEEN = 4096

_CARD = {text: card for card, text in enumerate(CARD_TEXTS)}
_WORD = re.compile(r"r\d*|.", re.DOTALL)


def is_comment(line: str) -> bool:
    """Whether both sides skip the line."""
    return not line or line[0] in "#;"


class Cards(NamedTuple):
    """The cards field of a line; a hidden hand is empty."""

    holes: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]


def read_cards(rules: Rules, text: str) -> Cards:
    """Read the cards field; :class:`CardError` says what is wrong with it.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> read_cards(NOLIMIT_HOLDEM, "|9hQd/8dAs8s")
    Cards(holes=((), (30, 41)), board=(25, 51, 27))
    """
    private, *public = text.split("/")
    hands = private.split("|")
    if len(hands) != 2:
        raise CardError(f"cards {text!r}: one '|' stands between the hands of the two players")
    holes = _read_run(hands[0], text), _read_run(hands[1], text)
    for hole in holes:
        if len(hole) not in (0, rules.hole_cards):
            raise CardError(f"cards {text!r}: a hand is {rules.hole_cards} cards, or blank")
    counts = [count for count in rules.board_cards if count]
    board: tuple[int, ...] = ()
    for number, part in enumerate(public):
        cards = _read_run(part, text)
        if number >= len(counts) or len(cards) != counts[number]:
            rounds = ", ".join(str(count) for count in counts)
            raise CardError(f"cards {text!r}: the board comes in parts of {rounds} cards")
        board += cards
    seen = holes[0] + holes[1] + board
    if len(set(seen)) < len(seen):
        twice = next(card for card in seen if seen.count(card) > 1)
        raise CardError(f"cards {text!r}: {CARD_TEXTS[twice]} appears twice")
    return Cards(holes, board)


def _read_run(run: str, text: str) -> tuple[int, ...]:
    try:
        return tuple([_CARD[run[i : i + 2]] for i in range(0, len(run), 2)])
    except KeyError as error:
        raise CardError(
            f"cards {text!r}: {error.args[0]!r} is not a card; write them as As or Td"
        ) from None


class MatchState(NamedTuple):
    """What one seat knows: a MATCHSTATE line, understood."""

    #: Where the seat is in this hand: 0 is the big blind.
    position: int
    #: Number of the hand, from 0.
    hand: int
    state: State
    holes: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]

    def line(self) -> str:
        """The line, without its end.

        >>> from equipoise.games.rules import NOLIMIT_HOLDEM
        >>> state = State.from_betting_text(NOLIMIT_HOLDEM, "cr300")
        >>> MatchState(1, 7, state, ((), (30, 41)), ()).line()
        'MATCHSTATE:1:7:cr300:|9hQd'
        """
        cards = write_cards(self.state.rules, self.holes, self.board)
        return f"MATCHSTATE:{self.position}:{self.hand}:{self.state.betting_text()}:{cards}"


class Follower:
    """Reads the MATCHSTATE lines of one seat in turn.

    A line mostly adds one action to the one before it, so only what was added is read.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> follower = Follower(NOLIMIT_HOLDEM)
    >>> follower.read("MATCHSTATE:1:7::|9hQd").state.to_act
    1
    >>> follower.read("MATCHSTATE:1:7:cr300:|9hQd").state.pot
    400
    >>> follower.read("MATCHSTATE:1:7:cr30:|9hQd")
    Traceback (most recent call last):
        ...
    equipoise.errors.ProtocolError: 'MATCHSTATE:1:7:cr30:|9hQd': 'cr30', character 2:
    player 0 cannot raise to 30; legal: check or raise to 200-20000
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._start = State.start(rules)
        self._start_text = self._start.betting_text()
        self._dealt = [sum(rules.board_cards[: number + 1]) for number in range(rules.rounds)]
        #: Board cards after the next part of the board, by those before it.
        self._grown = dict(pairwise(dict.fromkeys([0, *self._dealt])))
        self._prefix = ""
        self._position = self._hand = 0
        self._text = self._start_text
        self._state = self._start
        #: Betting texts seen, and their states.
        self._seen: dict[str, State] = {}
        self._cards_text = ""
        self._cards = Cards(((), ()), ())

    def read(self, line: str) -> MatchState:
        """The line's meaning; :class:`ProtocolError` if it has none."""
        if not self._prefix or not line.startswith(self._prefix):
            self._begin(line)
        betting, _, cards = line[len(self._prefix) :].partition(":")
        try:
            state = self._seen.get(betting)
            if state is None:
                state = self._follow(betting)
            if cards != self._cards_text:
                self._cards = self._turn(cards)
                self._cards_text = cards
        except (IllegalActionError, CardError) as error:
            raise ProtocolError(f"{shorten(line)}: {brief(str(error), 250)}") from None
        self._state, self._text = state, betting
        holes, board = self._cards
        position = self._position
        over = state.to_act is None
        dealt = self._dealt[state.round + state.rounds_to_deal if over else state.round]
        if len(board) != dealt:
            raise ProtocolError(
                f"{shorten(line)}: {len(board)} board cards, the betting has {dealt}"
            )
        if not holes[position]:
            raise ProtocolError(f"{shorten(line)}: the seat's own cards are missing")
        if over and state.folded is None and not holes[1 - position]:
            raise ProtocolError(f"{shorten(line)}: a showdown shows both hands")
        return MatchState(position, self._hand, state, holes, board)

    def _begin(self, line: str) -> None:
        """A line of another hand than the one before."""
        parts = line.split(":")
        if len(parts) != 5 or parts[0] != "MATCHSTATE":
            raise ProtocolError(
                f"{shorten(line)}: a line is MATCHSTATE:position:hand:betting:cards"
            )
        _, position, hand, _, _ = parts
        if position not in ("0", "1"):
            raise ProtocolError(f"{shorten(line)}: the position is 0 or 1")
        number = read_whole(hand)
        if number is None:
            raise ProtocolError(f"{shorten(line)}: the hand's number is a whole number")
        self._prefix = f"MATCHSTATE:{position}:{hand}:"
        self._position, self._hand = int(position), number
        self._text, self._state = self._start_text, self._start

    def _follow(self, betting: str) -> State:
        """The state of a betting text, which mostly goes on from the last one."""
        state, text = self._state, self._text
        if not betting.startswith(text):
            state, text = self._start, self._start_text
        if betting.startswith(text):
            for word in _WORD.findall(betting, len(text)):
                if word == "/":
                    continue
                try:
                    after = state.apply(state.read_action(word))
                except IllegalActionError:
                    text = ""
                    break
                text += word + "/" * (after.round - state.round + after.rounds_to_deal)
                state = after
        if text != betting:
            # Something is wrong: the reader of whole texts finds the sentence for it.
            state = State.from_betting_text(self.rules, betting)
        if len(self._seen) == _MOST_SEEN:
            self._seen.clear()
        self._seen[betting] = state
        return state

    def _turn(self, text: str) -> Cards:
        """The cards of a line, which are mostly those of the last one and some new on the board."""
        before = self._cards_text
        if before and text.startswith(before):
            holes, board = self._cards
            new = text[len(before) :]
            cards = tuple([_CARD.get(new[i : i + 2], -1) for i in range(1, len(new), 2)])
            seen = (*holes[0], *holes[1], *board, *cards, -1)
            if (
                new[0] == "/"
                and len(board) + len(cards) == self._grown.get(len(board))
                and len(set(seen)) == len(seen)
            ):
                return Cards(holes, board + cards)
        return read_cards(self.rules, text)


def shorten(line: str) -> str:
    """A line as an error shows it: printable, and cut if it is long."""
    return repr(line if len(line) <= 120 else line[:100] + f"… ({len(line)} characters)")


def answer_text(state: State, action: Action) -> str:
    """An action as the protocol writes it: limit raises carry no size.

    >>> from equipoise.games.rules import LIMIT_HOLDEM, raise_to
    >>> answer_text(State.start(LIMIT_HOLDEM), raise_to(20))
    'r'
    """
    return "r" if action.kind == Kind.RAISE and state.rules.limit else str(action)


def read_answer(state: State, text: str) -> tuple[Action, bool]:
    """The action the dealer plays for an answer, and whether it is what was asked for.

    A raise of a wrong size is clipped; junk, a free fold and a raise over the cap are calls. As in
    the dealer, what follows a readable action is not looked at.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> state = State.start(NOLIMIT_HOLDEM)
    >>> [str(read_answer(state, text)[0]) for text in ("r300", "r150", "r", "x", "f")]
    ['r300', 'r200', 'c', 'c', 'f']
    """
    if text == "c":
        return CALL, True
    word = _ANSWER.match(text)
    if word is None:
        return CALL, False
    digits = word.group(1)
    if digits is None:
        wanted = FOLD if text[0] == "f" else CALL
    elif state.rules.limit:
        wanted = Action(Kind.RAISE, state.legal().raise_min)
    elif digits:
        wanted = Action(Kind.RAISE, int(digits))
    else:
        return CALL, False
    played = state.nearest(wanted)
    return played, played == wanted


_ANSWER = re.compile(r"[fc]|r([0-9]{0,18})")


def hand_line(hand: HandRecord) -> str:
    """A hand record as a log's STATE line.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> line = "STATE:2:f:Ah8s|2h4c:50|-50:p1|p2"
    >>> hand_line(read_state_line(NOLIMIT_HOLDEM, line)) == line
    True
    """
    payoffs = hand.payoffs
    if payoffs is None:
        raise HistoryError(
            f"hand {hand.number} has no known winner, and a STATE line needs the payoffs: "
            "leave it out"
        )
    for name in hand.players:
        if set(name) & set(":|\r\n"):
            raise HistoryError(f"the name {name!r} cannot stand in a STATE line: drop its : or |")
    return state_line(hand.number, hand.state, hand.holes, hand.board, payoffs, hand.players)


def read_state_line(rules: Rules, line: str, number: int = 0) -> HandRecord:
    """Read a log's STATE line, which stands on line `number` of its file.

    Betting that breaks the rules is an :class:`IllegalActionError`, anything else that cannot be
    read a :class:`HistoryError`.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> read_state_line(NOLIMIT_HOLDEM, "STATE:2:f:Ah8s|2h4c:50|-50", 6)
    Traceback (most recent call last):
        ...
    equipoise.errors.HistoryError: line 6: 'STATE:2:f:Ah8s|2h4c:50|-50': a hand is
    STATE:hand:betting:cards:payoffs:names
    """
    parts = line.split(":")
    where = f"line {number}"
    if len(parts) != 6 or parts[0] != "STATE":
        raise HistoryError(
            f"{where}: {shorten(line)}: a hand is STATE:hand:betting:cards:payoffs:names"
        )
    _, hand, betting, cards, payoffs, names = parts
    hand_number = read_whole(hand)
    if hand_number is None:
        raise HistoryError(f"{where}: hand {shorten(hand)}: its number is a whole number")
    try:
        state = State.from_betting_text(rules, betting, free_folds=True)
    except IllegalActionError as error:
        raise IllegalActionError(f"{where}: {brief(str(error), 250)}") from None
    try:
        holes, board = read_cards(rules, cards)
    except CardError as error:
        raise HistoryError(f"{where}: {brief(str(error), 250)}") from None
    won, players = [read_decimal(text) for text in payoffs.split("|")], names.split("|")
    if len(won) != 2 or won[0] is None or won[1] is None:
        raise HistoryError(f"{where}: payoffs {shorten(payoffs)}: write two numbers, as 50|-50")
    if len(players) != 2:
        raise HistoryError(f"{where}: names {shorten(names)}: write two names, as ann|bob")
    return HandRecord(
        number=hand_number,
        state=state,
        holes=(holes[0] or None, holes[1] or None),
        board=board,
        players=(players[0], players[1]),
        stated=(won[0], won[1]),
        line=number,
    )
