"""The words of the wire: betting, increments and answers as Slumbot's public server has them.

Betting is `k` (check), `c` (call), `f` (fold) and `bN`, a bet or raise after which the player has put N
chips into this *street*, with `/` between streets: `b200c/kb300c/`. An all-in that is called early ends
in empty streets, `b20000c///`. Position 0 is the big blind, as in the rules. The game is no-limit
hold'em with blinds of 50 and 100 and 20,000 chips, new ones every hand.

An answer to `new_hand` or `act` is an object:

    old_action, action     the betting before the client's last action (empty at first), and now
    client_pos             0 if the client is the big blind
    hole_cards, board      texts: ["Ac", "9d"]
    token                  the session's
    hand                   its number in the session, from 0: only ours says so

and once the hand is over also

    bot_hole_cards         what the server held
    winnings, won_pot      the client's chips; the whole pot with the sign of who won it, 0 if split
    session_num_hands, session_total     hands and chips of the session so far
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from equipoise.cards.card import card_text, check_distinct, parse_card
from equipoise.errors import EquipoiseError, IllegalActionError, ProtocolError
from equipoise.games.dealing import DealtCards
from equipoise.games.hand import Hand
from equipoise.games.rules import CALL, FOLD, NOLIMIT_HOLDEM, Action, Kind, Rules, State, raise_to
from equipoise.numerals import read_whole
from equipoise.settings import shown

#: The game of the wire.
RULES = NOLIMIT_HOLDEM
#: Characters of an increment or of betting.
LONGEST = 1000
_WORD = re.compile(r"b\d+|[kcf/]|.", re.DOTALL | re.ASCII)


def betting_text(state: State) -> str:
    """The betting of a state.

    >>> betting_text(State.from_betting_text(RULES, "r200c/cr500c/"))
    'b200c/kb300c/'
    >>> betting_text(State.from_betting_text(RULES, "r20000c///"))
    'b20000c///'
    """
    words, now = [], State.start(state.rules)
    for number, part in enumerate(state.history):
        words.append("/" * bool(number))
        for action in part:
            words.append(increment_text(now, action))
            now = now.replay(action)
    return "".join(words) + "/" * state.rounds_to_deal


def increment_text(state: State, action: Action) -> str:
    """One action as a client sends it.

    >>> increment_text(State.from_betting_text(RULES, "r300c/"), raise_to(700))
    'b400'
    """
    if action.kind == Kind.RAISE:
        return f"b{action.amount - state.round_start}"
    if action.kind == Kind.FOLD:
        return "f"
    return "c" if state.to_call else "k"


def read_increment(state: State, text: str) -> Action:
    """The legal action that an increment names.

    >>> str(read_increment(State.from_betting_text(RULES, "r300c/"), "b400"))
    'r700'
    >>> read_increment(State.start(RULES), "k")
    Traceback (most recent call last):
        ...
    equipoise.errors.IllegalActionError: k: there are 50 chips to call: send c, f or b with 200-20000
    """
    legal, start = state.legal(), state.round_start
    sizes = f"b with {legal.raise_min - start}-{legal.raise_max - start}" if legal.raise_min else ""
    if text in ("k", "c", "f"):
        if state.to_act is None:
            raise IllegalActionError(f"{text}: the hand is over: ask for a new one")
        owed = state.to_call
        if owed and text == "k":
            cure = "send c, f" + f" or {sizes}" * bool(sizes)
            raise IllegalActionError(f"k: there are {owed} chips to call: {cure}")
        if not owed and text != "k":
            cure = "send k" + f" or {sizes}" * bool(sizes)
            raise IllegalActionError(f"{text}: there is nothing to call: {cure}")
        return FOLD if text == "f" else CALL
    chips = read_whole(text[1:]) if text[:1] == "b" and len(text) < LONGEST else None
    if chips is None:
        raise IllegalActionError(f"incr = {shown(text)}: send k, c, f or b with chips, as b200")
    action = raise_to(start + chips)
    if not state.can(action):
        cure = f"send {sizes}" if sizes else "no bet is allowed: send k, c or f"
        raise IllegalActionError(f"{shown(text)} is not allowed: {cure}")
    return action


def read_betting(text: str, rules: Rules = RULES) -> State:
    """The state that betting leads to; :class:`ProtocolError` if it leads nowhere.

    >>> read_betting("b200c/kb300c/").betting_text()
    'r200c/cr500c/'
    """
    state, streets = State.start(rules), 0
    if len(text) > LONGEST:
        raise ProtocolError(f"betting of {len(text):,} characters: no hand has so many")
    try:
        for word in _WORD.findall(text):
            if word == "/":
                streets += 1
                if streets > state.round + state.rounds_to_deal:
                    raise IllegalActionError("a street ends too early")
            elif streets < state.round:
                raise IllegalActionError("a street does not end")
            else:
                state = state.apply(read_increment(state, word))
    except EquipoiseError as error:
        raise ProtocolError(f"the betting {shown(text)} cannot be followed: {error}") from None
    # Some servers leave out the streets after an all-in, and the end of the last street.
    if streets < state.round:
        raise ProtocolError(f"the betting {shown(text)} stops between two streets")
    return state


class Told(NamedTuple):
    """An answer of a server, understood."""

    state: State
    #: Where the client sits.
    position: int
    hole: tuple[int, ...]
    board: tuple[int, ...]
    token: str | None
    #: Once the hand is over: what the client won.
    winnings: float | None
    #: What the server held, where it shows it.
    opponent: tuple[int, ...]
    #: Hands and chips of the session, where the server tells.
    hands: int | None
    total: float | None
    #: Number of the hand in the session, where the server tells.
    number: int | None


def answer(hand: Hand, position: int, old: str, token: str) -> dict[str, Any]:
    """What a client at `position` is told of a hand."""
    state, deal = hand.state, hand.deal
    told: dict[str, Any] = {
        "old_action": old,
        "action": betting_text(state),
        "client_pos": position,
        "hole_cards": [card_text(card) for card in deal.holes[position]],
        "board": [card_text(card) for card in hand.board],
        "token": token,
        "hand": hand.number,
    }
    if state.is_over:
        won = hand.payoffs()[position]
        told["bot_hole_cards"] = [card_text(card) for card in deal.holes[1 - position]]
        told["winnings"] = won
        told["won_pot"] = state.pot * ((won > 0) - (won < 0))
    return told


def read_answer(data: object) -> Told:
    """An answer of a server; whatever is wrong with it is a :class:`ProtocolError`."""
    if not isinstance(data, dict):
        raise ProtocolError(f"the server answered {shown(data)}: it is no such server")
    if data.get("error_msg"):
        raise ProtocolError(f"the server says: {shown(data['error_msg'])}")
    state = read_betting(_text(data, "action"))
    position = data.get("client_pos")
    if type(position) is not int or position not in (0, 1):
        raise ProtocolError(f"client_pos = {shown(position)}: the server names no seat")
    hole, board = _cards(data, "hole_cards"), _cards(data, "board")
    opponent = _cards(data, "bot_hole_cards") if data.get("bot_hole_cards") else ()
    try:
        check_distinct([*hole, *opponent, *board])
    except EquipoiseError as error:
        raise ProtocolError(f"the server dealt a card twice: {error}") from None
    if len(hole) != RULES.hole_cards or len(opponent) not in (0, RULES.hole_cards):
        raise ProtocolError(f"hole_cards = {shown(data.get('hole_cards'))}: a player has two")
    won = _number(data, "winnings")
    if (won is None) == state.is_over:
        raise ProtocolError(f"the betting {shown(data['action'])} and the winnings disagree")
    due = sum(RULES.board_cards[: state.round + 1])
    if won is None and len(board) != due:
        raise ProtocolError(f"board = {shown(data.get('board'))}: {due} cards are due")
    hands, total = _number(data, "session_num_hands"), _number(data, "session_total")
    token, number = data.get("token"), _number(data, "hand")
    if won is None and state.to_act != position:
        raise ProtocolError(f"the betting {shown(data['action'])} does not end with our turn")
    return Told(
        state,
        position,
        hole,
        board,
        token if isinstance(token, str) and token else None,
        won,
        opponent,
        None if hands is None else int(hands),
        total,
        None if number is None else int(number),
    )


def cards_text(hand: Hand) -> str:
    """The cards of a hand, all of them, as a store keeps them: position 0's, 1's, the board's."""
    cards = (*hand.deal.holes[0], *hand.deal.holes[1], *hand.deal.boards[-1])
    return "".join(card_text(card) for card in cards)


def read_cards(text: str) -> DealtCards:
    """What :func:`cards_text` wrote.

    >>> read_cards("AsAhKsKh2c3c4c5c7d").holes
    ((51, 50), (47, 46))
    """
    cards = tuple(parse_card(text[i : i + 2]) for i in range(0, len(text), 2))
    return DealtCards.of(RULES, (cards[:2], cards[2:4]), cards[4:])


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise ProtocolError(f"{key} = {shown(value)}: the server's answer lacks it")
    return value


def _number(data: dict[str, Any], key: str) -> float | None:
    value = data.get(key)
    if value is None or (type(value) in (int, float) and abs(value) < 1e15):
        number: float | None = value
        return number
    raise ProtocolError(f"{key} = {shown(value)}: the server's answer has no number there")


def _cards(data: dict[str, Any], key: str) -> tuple[int, ...]:
    value = data.get(key)
    if not isinstance(value, list) or len(value) > sum(RULES.board_cards):
        raise ProtocolError(f"{key} = {shown(value)}: the server's answer lacks cards")
    try:
        return tuple(parse_card(str(card)) for card in value)
    except EquipoiseError as error:
        raise ProtocolError(f"{key} = {shown(value)}: {error}") from None
