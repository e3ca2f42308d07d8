"""Actions in the words of a player: `check`, `bet 50`, `raise 170`, `allin 200`, `call`, `fold`.

Amounts are the player's chips in the round after it, or units of `parts` chips (`bet 3.25`). A *line* is
such words with commas between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.errors import IllegalActionError
from equipoise.games.menu import BetMenu
from equipoise.games.notation.amounts import amount_text, read_amount
from equipoise.games.rules import CALL, FOLD, Action, Kind, State, raise_to
from equipoise.settings import brief


def action_label(state: State, action: Action, parts: int = 1) -> str:
    """Name of an action in a state.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> action_label(State.start(NOLIMIT_HOLDEM), raise_to(300))
    'raise 300'
    >>> action_label(State.start(NOLIMIT_HOLDEM), raise_to(250), parts=100)
    'raise 2.5'
    """
    player = state.to_act
    assert player is not None
    if action.kind == Kind.FOLD:
        return "fold"
    facing = state.committed[1 - player] > state.committed[player]
    if action.kind == Kind.CALL:
        return "call" if facing else "check"
    amount = amount_text(action.amount - state.round_start, parts)
    if action.amount >= state.rules.stacks[player]:
        return f"allin {amount}"
    return f"raise {amount}" if facing or state.raises else f"bet {amount}"


def named(word: str, labels: Sequence[str]) -> list[int]:
    """Which labels a word may mean: the one that it is, or all that it begins.

    >>> named("All-in", ["check", "bet 5", "bet 50", "allin 200"]), named("bet 5", ["bet 5", "bet 50"])
    ([3], [0])
    >>> named("bet", ["check", "bet 5", "bet 50"])
    [1, 2]
    """
    wanted = _plain(word)
    if wanted in labels:
        return [labels.index(wanted)]
    return [i for i, label in enumerate(labels) if wanted and label.startswith(wanted)]


def play_line(
    state: State, line: str, menu: BetMenu, seats: tuple[str, str], parts: int = 1
) -> tuple[State, tuple[str, ...]]:
    """The state after a line of betting in one round, and the line as it is written in full.

    Any legal amount may be named; where it is left out, the menu's only one is meant.

    >>> from equipoise.games.spot import postflop
    >>> state, line = play_line(
    ...     State.start(postflop(pot=100, stack=200)), "check, bet", BetMenu.parse("50%"), ("oop", "ip")
    ... )
    >>> line, state.to_act, state.committed
    (('check', 'bet 50'), 0, (0, 50))
    """
    began, played = state.round, list[str]()
    for word in line.split(","):
        after = f"'{', '.join(played)}'" if played else "the start"
        if state.is_over:
            raise IllegalActionError(f"{brief(word.strip())!r}: the hand is over after {after}")
        if state.round > began:
            raise IllegalActionError(
                f"{brief(word.strip())!r}: the street ends with {after}: begin on the next one"
            )
        assert state.to_act is not None
        action = _read(state, word, menu, parts)
        if action is None:
            raise IllegalActionError(
                f"{brief(word.strip())!r}: after {after} it is {seats[state.to_act]}'s turn: choose "
                f"from {_legal_text(state, parts)}"
            )
        played.append(action_label(state, action, parts))
        state = state.apply(action)
    return state, tuple(played)


def _read(state: State, word: str, menu: BetMenu, parts: int) -> Action | None:
    """The legal action that a word names, if it is one."""
    wanted = _plain(word)
    verb, _, number = wanted.partition(" ")
    if number:
        chips = read_amount(number, parts)
        action = raise_to(state.round_start + chips) if chips is not None else None
        if action is None or not state.can(action):
            return None
        # An all-in may be called the bet or the raise that it is.
        usual = "raise" if state.to_call or state.raises else "bet"
        return action if verb in (usual, action_label(state, action).split()[0]) else None
    options = menu.actions(state)
    close = named(wanted, [action_label(state, option, parts) for option in options])
    if len(close) == 1:
        return options[close[0]]
    most = raise_to(state.legal().raise_max)
    told = state.can(most) and action_label(state, most).split()[0]
    return most if wanted == told == "allin" else None


def _legal_text(state: State, parts: int) -> str:
    """What may be done, amounts as ranges: `fold, call, raise 100-199 or allin 200`."""
    legal, start, player = state.legal(), state.round_start, state.to_act
    assert player is not None
    options = [action_label(state, action) for action in (FOLD, CALL) if state.can(action)]
    if legal.raise_min:
        stack = state.rules.stacks[player]
        most = min(legal.raise_max, stack - 1)
        if legal.raise_min <= most:
            many = f"-{amount_text(most - start, parts)}" if most > legal.raise_min else ""
            options.append(action_label(state, raise_to(legal.raise_min), parts) + many)
        if legal.raise_max >= stack:
            options.append(action_label(state, raise_to(stack), parts))
    return ", ".join(options[:-1]) + " or " * (len(options) > 1) + options[-1]


def _plain(word: str) -> str:
    return " ".join(word.lower().replace("all-in", "allin").split())
