"""A decision told to somebody outside, in JSON and in words, and the answer read strictly.

What is told, `{"type": "act", ...}`:

    hand, position     number of the hand; 0 or 1, in hold'em 0 is the big blind and 1 the button
    hole, board        cards as text: ["As", "Kd"]
    street             its number from 0
    betting            the betting so far, as the ACPC writes it: "r300c/cr600"
    committed          chips that each position has put into the hand
    pot, to_call       chips in the middle; chips to add to stay in, 0 is a check
    stacks             chips of each position before the hand; null where there are none (limit)
    legal              {"fold": true, "call": true, "raise_min": 200, "raise_max": 20000}: a raise is
                       named by the total of the *hand* after it; both are 0 where none is allowed

The answer is an object with `action`, one of `fold`, `check`, `call`, `bet`, `raise` and `all-in`, and
for a bet or raise of no-limit its `amount`: a whole number of chips, the same total. Nothing else may
stand in it. What is understood and yet against the rules is returned as it is: to judge it is the
arena's.
"""

from __future__ import annotations

import json
from typing import Any

from equipoise.cards.card import card_text
from equipoise.errors import ProtocolError
from equipoise.games.hand import HandResult, View
from equipoise.games.rules import CALL, FOLD, MOST_CHIPS, UNLIMITED, Action, Rules, State, raise_to
from equipoise.settings import brief, shown

#: Characters of an answer: anything longer is none.
LONGEST_ANSWER = 1 << 16
_RAISES = ("bet", "raise")


def game_told(rules: Rules) -> dict[str, Any]:
    """The rules, as an object."""
    return {
        "name": rules.name,
        "limit": rules.limit,
        "blinds": list(rules.blinds),
        "stacks": _stacks(rules),
        "first": list(rules.first),
        "raise_sizes": list(rules.raise_sizes),
        "max_raises": list(rules.max_raises),
        "board_cards": list(rules.board_cards),
        "hole_cards": rules.hole_cards,
    }


def situation(view: View) -> dict[str, Any]:
    """What a player sees, as an object.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> told = situation(View(State.start(NOLIMIT_HOLDEM), 1, (51, 46), (), 0))
    >>> told["hole"], told["to_call"], told["legal"]["raise_min"]
    (['As', 'Kh'], 50, 200)
    """
    state, legal = view.state, view.state.legal()
    return {
        "type": "act",
        "hand": view.hand,
        "position": view.position,
        "hole": texts(view.hole),
        "board": texts(view.board),
        "street": state.round,
        "betting": state.betting_text(),
        "committed": list(state.committed),
        "pot": state.pot,
        "to_call": state.to_call,
        "stacks": _stacks(state.rules),
        "legal": legal._asdict(),
    }


def outcome(result: HandResult) -> dict[str, Any]:
    """How a hand ended, as an object; `opponent` is null where his cards were not shown."""
    return {
        "type": "result",
        "hand": result.hand,
        "position": result.position,
        "hole": texts(result.hole),
        "board": texts(result.board),
        "betting": result.state.betting_text(),
        "payoff": result.payoff,
        "opponent": None if result.opponent is None else texts(result.opponent),
    }


def texts(cards: tuple[int, ...]) -> list[str]:
    """Cards as text.

    >>> texts((51, 46))
    ['As', 'Kh']
    """
    return [card_text(card) for card in cards]


def _stacks(rules: Rules) -> list[int] | None:
    return None if min(rules.stacks) >= UNLIMITED else list(rules.stacks)


def read_decision(text: str, state: State) -> Action:
    """The action that an answer names; :class:`ProtocolError` where it is no answer.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> start = State.start(NOLIMIT_HOLDEM)
    >>> str(read_decision('{"action": "raise", "amount": 300}', start))
    'r300'
    >>> read_decision('I raise!', start)
    Traceback (most recent call last):
        ...
    equipoise.errors.ProtocolError: 'I raise!' is no JSON: answer {"action": "call"}, or ...
    """
    cure = 'answer {"action": "call"}, or {"action": "raise", "amount": 300}'
    if len(text) > LONGEST_ANSWER:
        raise ProtocolError(f"an answer of {len(text):,} characters: {cure}")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise ProtocolError(f"{brief(text.strip())!r} is no JSON: {cure}") from None
    if not isinstance(told, dict) or not told.keys() <= {"action", "amount"}:
        raise ProtocolError(f"{shown(told)}: {cure}")
    word, amount = told.get("action"), told.get("amount")
    if word in _RAISES and state.rules.limit and amount is None:
        amount = state.legal().raise_min or max(state.committed)
    if word in _RAISES:
        if type(amount) is not int or not 0 < amount <= MOST_CHIPS:
            raise ProtocolError(f"amount = {shown(amount)}: a {word} names its chips: {cure}")
        return raise_to(amount)
    if amount is not None:
        raise ProtocolError(f"{shown(word)} with an amount: only a bet or raise has one: {cure}")
    if word == "all-in":
        legal = state.legal()
        return raise_to(legal.raise_max) if legal.raise_max else CALL
    if word == "check" and state.to_call:
        raise ProtocolError(f"check where there is a bet of {state.to_call} to call: call or fold")
    if word in ("call", "check"):
        return CALL
    if word == "fold":
        return FOLD
    raise ProtocolError(f"action = {shown(word)}: {cure}")
