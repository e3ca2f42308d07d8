"""A decision locked by how often an action is taken there, the hands chosen so that least is lost.

Of all strategies `p` with the given frequencies `f`, the one that is worth most against what happens after:

    max  Σ w(h) p(h, a) ev(h, a)    so that    Σ w(h) p(h, a) = f(a) Σ w(h)  for every `a` that is given,

a linear program (`w` is how often a hand is held). Where hands are indifferent, those stay that play the
action already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.runouts import renamed_hands

if TYPE_CHECKING:
    from equipoise.solve.spots.position import Position

#: What it is worth, in pots, to stay with what a hand does already: less than any precision solved to.
_LOYALTY = 1e-5


def by_frequency(position: Position, wanted: Mapping[str, float]) -> NDArray[np.float64]:
    """What each hand does, [action, hand], if actions are taken this often over the whole range.

    `wanted` maps actions to frequencies; what is left over goes to the other actions. The answer may be
    given to `Solution.lock`.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, vstack

    who = position.decider()
    actions = position.actions
    _check(wanted, actions)
    weight = position.weight(who)
    here = np.flatnonzero(weight > 0)
    if not len(here):
        raise SolverError(f"no hand gets to {position.title}: lock an earlier decision")
    held, count, hands = weight[here] / weight.sum(), len(actions), len(here)
    play = np.nan_to_num(position.strategy()[:, here])
    worth = np.nan_to_num(position.action_ev()[:, here]) / position.pot + _LOYALTY * play
    # Variables stand action by action; every hand does something, and every action comes up as wanted.
    of_hand = coo_array(
        (np.ones(count * hands), (np.tile(np.arange(hands), count), np.arange(count * hands)))
    )
    named = [actions.index(name) for name in wanted]
    of_action = coo_array(
        (
            np.tile(held, len(named)),
            (
                np.repeat(np.arange(len(named)), hands),
                np.concatenate([a * hands + np.arange(hands) for a in named]),
            ),
        ),
        shape=(len(named), count * hands),
    )
    found = linprog(
        -(worth * held).reshape(-1),
        A_eq=vstack([of_hand, of_action]),
        b_eq=np.concatenate([np.ones(hands), list(wanted.values())]),
        bounds=(0, 1),
    )
    if found.x is None:
        raise SolverError("no strategy has these frequencies: give others")
    chosen = np.full((count, len(weight)), 1.0 / count)
    chosen[:, here] = np.clip(found.x.reshape(count, hands), 0.0, 1.0)
    return _evened(position, who, chosen / chosen.sum(axis=0))


def _check(wanted: Mapping[str, float], actions: tuple[str, ...]) -> None:
    for name, often in wanted.items():
        if name not in actions:
            raise SolverError(f"no action {name!r} there: choose from {', '.join(actions)}")
        if not 0 <= often <= 1:
            raise SolverError(f"{name} = {often}: a frequency is between 0 and 1")
    total = sum(wanted.values())
    if not wanted or total > 1 + 1e-9 or (len(wanted) == len(actions) and abs(total - 1) > 1e-6):
        raise SolverError("frequencies sum to 1, or to less where an action is left out")


def _evened(position: Position, who: int, play: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over renamings of suits that the solve treats alike: as good, and as often."""
    board = position.answer.game.deal.boards[position.board_number]
    states = position.states(who)
    by_state = np.zeros_like(play)
    by_state[:, states] = play
    moved = [renamed_hands(board.hands[who], symmetry, 52) for symmetry in board.symmetries]
    mean = np.mean([by_state[:, order] for order in moved], axis=0)
    found: NDArray[np.float64] = mean[:, states]
    return found
