"""How a blueprint agent plays before the flop, as ranges with names and as charts.

Names are those of :mod:`equipoise.cards.namedranges`: who does what after which betting, `bb-call-vs-2.5x`.
A *range* is what arrives after the action: the chance of each hand to take it and all the actions of its
player before. A *decision* is how often each class of hands that has come so far takes each action.
Lines that hardly come up are left out: nobody trained them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.cards.combos import CLASS_COUNT, CLASS_SIZE, COMBO_CLASS, COMBO_COUNT
from equipoise.cards.namedranges import SUFFIX
from equipoise.cards.range import Range
from equipoise.errors import FileError
from equipoise.files import written
from equipoise.games.rules import Action, Kind, State

#: Seats by player.
SEATS = ("bb", "sb")
#: Share of all hands below which a line is taken not to come up, and a range not to be one.
_LEAST = 0.0005
#: Digits of a weight.
_DIGITS = 3

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Decision:
    """A decision before the flop that comes up."""

    #: Such as `sb-first-in` or `bb-vs-2.5x`.
    name: str
    #: Words for the actions, as `call` and `3bet-7.5x`.
    actions: tuple[str, ...]
    #: How often a class of hands is there and takes each action: [169, action].
    frequencies: Floats
    #: What arrives after each action, by the range's name; those of no hands are left out.
    ranges: dict[str, Range]

    @property
    def shares(self) -> Floats:
        """How often each action is taken, of all hands that come here."""
        taken = CLASS_SIZE @ self.frequencies
        shares: Floats = taken / taken.sum()
        return shares


def preflop_decisions(agent: BlueprintAgent) -> Iterator[Decision]:
    """The decisions before the flop that come up, first in first, as the agent plays them."""
    betting, columns = agent.blueprint.betting, agent.book.columns(())[0]
    everything = np.ones(COMBO_COUNT)
    reach: dict[int, tuple[Floats, Floats]] = {0: (everything, everything)}
    for node in range(*betting.spans()[0]):
        player, state = int(betting.kind[node]), betting.states[node]
        if player > 1:
            continue
        bb, sb = reach.pop(node)
        own, other = (sb, bb) if player else (bb, sb)
        played = agent.book.table(node)[:, columns]
        taken = own * played / played.sum(axis=0)
        for child, arrives in zip(betting.children(node), taken, strict=True):
            reach[child] = (bb, arrives) if player else (arrives, sb)
        if own.mean() < _LEAST or other.mean() < _LEAST:
            continue
        words = tuple(_action(state, action) for action in agent.blueprint.actions(node))
        line = _line(state)
        after = f"-vs-{line}" if line else ""
        yield Decision(
            f"{SEATS[player]}{after or '-first-in'}",
            words,
            _by_class(taken),
            {
                f"{SEATS[player]}-{word}{after}": Range.from_weights(arrives.round(_DIGITS))
                for word, arrives in zip(words, taken, strict=True)
                if arrives.mean() >= _LEAST
            },
        )


def write_ranges(
    agent: BlueprintAgent, folder: Path, *, overwrite: bool = False, charts: bool = False
) -> list[Decision]:
    """Write every range before the flop into a folder, and if wanted a picture of each decision."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = not overwrite and any(folder.iterdir())
    except OSError as error:
        raise FileError(
            f"{folder}: cannot be made a folder ({error.strerror}): name another"
        ) from None
    if taken:
        raise FileError(f"{folder} is not empty: add --overwrite, or choose another folder")
    decisions = list(preflop_decisions(agent))
    for decision in decisions:
        for name, hands in decision.ranges.items():
            with written(folder / f"{name}{SUFFIX}", "w") as file:
                file.write(f"{hands}\n")
        if charts:
            draw_decision(decision, folder / f"{decision.name}.png")
    return decisions


def draw_decision(decision: Decision, path: Path) -> None:
    """Draw how each class plays a decision."""
    from equipoise.cards.chart import figure, save

    squares = decision.frequencies.reshape(13, 13, -1)
    told = [
        f"{word} {share:.0%}" for word, share in zip(decision.actions, decision.shares, strict=True)
    ]
    save(figure(squares, title=decision.name, actions=told), path)


def _by_class(taken: Floats) -> Floats:
    """Means over the hands of each class: [169, action]."""
    sums = np.zeros((CLASS_COUNT, len(taken)))
    np.add.at(sums, COMBO_CLASS, taken.T)
    return sums / CLASS_SIZE[:, None]


def _line(state: State) -> str:
    """The betting so far: `limp`, or sizes in big blinds."""
    now, words = State.start(state.rules), []
    for action in state.history[0]:
        words.append("limp" if action.kind == Kind.CALL else _size(now, action))
        now = now.apply(action)
    return "-".join(words)


def _action(state: State, action: Action) -> str:
    """What a player does, in one word: `limp`, `open-2.5x`, `3bet-allin`."""
    first = not state.history[0]
    if action.kind == Kind.FOLD:
        return "fold"
    if action.kind == Kind.CALL:
        return "call" if state.raises else "limp" if first else "check"
    if state.raises:
        return f"{state.raises + 2}bet-{_size(state, action)}"
    return f"{'open' if first else 'raise'}-{_size(state, action)}"


def _size(state: State, action: Action) -> str:
    """How much a raise is to, in big blinds."""
    player = state.to_act
    assert player is not None
    if not state.rules.limit and action.amount >= state.rules.stacks[player]:
        return "allin"
    return f"{action.amount / state.rules.big_blind:.4g}x"
