"""What stands before a player who has to act: the public part of a decision, and the private part.

The public part is one row of numbers that follows from the betting alone; the private part is one row
for each hand that may be held, and follows from its cards and the board. Both are what the model of
the opponent (:mod:`.model`) sees, of hands of a log and of a hand in play alike.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.boardindex import RENAMED_COMBO, board_place
from equipoise.abstraction.features.equities import moments
from equipoise.abstraction.features.rollouts import FULL, rollout_table
from equipoise.abstraction.lookup import BLOCKED
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT, blocked, combo_index
from equipoise.cards.evaluator import strengths
from equipoise.cards.kernels import sort_boards, walk_boards
from equipoise.cards.matchup import compatible_weight
from equipoise.cards.streets import BOARD_SIZES, street_of
from equipoise.games.rules import Kind, State

Floats = NDArray[np.float64]

#: What the public part holds, in order.
PUBLIC = (
    "odds", "ln_pot", "raises", "seat", "mine_last", "his_last", "raises_in_hand", "pot_bb", "to_call_bb",
    "spr",
)  # fmt: skip
#: What the private part holds, in order.
PRIVATE = ("equity", "now", "spread", "last", "high", "low", "gap", "suited", "pair")


class Situation(NamedTuple):
    """The public part of a decision."""

    #: 0 is before the flop.
    street: int
    #: There is a bet to call.
    facing: bool
    can_raise: bool
    #: :data:`PUBLIC` in order: to call / (pot + to call), ln of the pot in big blinds, raises of this
    #: street, seat (1 is the button), whether the player or his opponent raised last on the street
    #: before, raises of the hand, pot and to call in big blinds, ln of (stack behind / pot).
    facts: tuple[float, ...]


def situation(state: State) -> Situation:
    """The public part of the decision that a player is about to take.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> found = situation(State.from_betting_text(NOLIMIT_HOLDEM, "r300c/r600"))
    >>> found.street, found.facing, round(found.facts[0], 3), found.facts[4:7]
    (1, True, 0.25, (1.0, 0.0, 2.0))
    """
    player = state.to_act
    assert player is not None
    legal, big = state.legal(), state.rules.big_blind
    pot, price = state.pot, state.to_call
    last = _last_raiser(state)
    behind = max(1, min(state.rules.stacks) - max(state.committed))
    facts = (
        price / (pot + price),
        log(pot / big),
        float(state.raises),
        float(player),
        float(last == player),
        float(last == 1 - player),
        float(sum(a.kind == Kind.RAISE for part in state.history for a in part)),
        pot / big,
        price / big,
        log(behind / pot),
    )
    return Situation(state.round, legal.fold, legal.raise_min > 0, facts)


def _last_raiser(state: State) -> int | None:
    """Who bet or raised last on the street before."""
    if state.round == 0:
        return None
    part = state.history[state.round - 1]
    first = state.rules.first[state.round - 1]
    for place in range(len(part) - 1, -1, -1):
        if part[place].kind == Kind.RAISE:
            return first ^ (place & 1)
    return None


@lru_cache(maxsize=64)
def hands_on(board: tuple[int, ...]) -> Floats:
    """The private part of every hand on a board: float64[1326, :data:`PRIVATE`], not to be written to.

    Rollout equity, chance to be ahead now, standard deviation of the river's equity, equity on the
    street before, the two ranks from 0 to 1, their gap, suited, paired. Before the flop being ahead now and
    the street before are the equity itself. Rows of hands that the board blocks hold zeros.

    >>> from equipoise.cards.combos import parse_combo
    >>> hands_on(())[parse_combo("AsKs")].round(3).tolist()
    [0.67, 0.67, 0.248, 0.67, 1.0, 0.917, 0.083, 1.0, 0.0]
    """
    street = street_of(board)
    table = np.zeros((COMBO_COUNT, len(PRIVATE)))
    levels = rollout_table().levels(board)
    live = levels != BLOCKED
    table[:, 0] = levels / FULL
    table[:, 1] = _ahead(board) if street else table[:, 0]
    if street < 3:
        table[:, 2] = _spread(board, street)
    before = board[: BOARD_SIZES[street - 1]] if street else ()
    table[:, 3] = rollout_table().levels(before) / FULL
    ranks = COMBO_CARDS // 4
    high, low = ranks.max(axis=1), ranks.min(axis=1)
    table[:, 4], table[:, 5] = high / 12, low / 12
    table[:, 6] = (high - low) / 12
    table[:, 7] = COMBO_CARDS[:, 0] % 4 == COMBO_CARDS[:, 1] % 4
    table[:, 8] = high == low
    table[~live] = 0
    table.flags.writeable = False
    return table


def hand_on(hole: tuple[int, ...], board: tuple[int, ...]) -> Floats:
    """The row of :func:`hands_on` of one hand, in a tenth of the time."""
    street, table = street_of(board), rollout_table()
    hand = combo_index(hole[0], hole[1])
    equity = table.level(hole, board) / FULL
    now, spread, last = equity, 0.0, equity
    if street:
        values = strengths(board)
        mine = values[hand]
        met = (values > 0) & ~blocked(hole)
        ahead = (
            np.count_nonzero(met & (values < mine)) + np.count_nonzero(met & (values == mine)) / 2
        )
        now = ahead / np.count_nonzero(met)
        last = table.level(hole, board[: BOARD_SIZES[street - 1]]) / FULL
    if street < 3:
        row, renaming = board_place(board) if street else (0, 0)
        spread = float(_spreads(street)[row, RENAMED_COMBO[renaming, hand]])
    high, low = max(hole) // 4, min(hole) // 4
    return np.array([equity, now, spread, last, high / 12, low / 12, (high - low) / 12,
                     float(hole[0] % 4 == hole[1] % 4), float(high == low)])  # fmt: skip


@cache
def _spreads(street: int) -> NDArray[np.float32]:
    """Standard deviations of the river's equity on a street's canonical boards: opened once."""
    return moments(street).river_spread


def _spread(board: tuple[int, ...], street: int) -> Floats:
    spread = _spreads(street)
    if not street:
        return np.asarray(spread[0], dtype=np.float64)
    row, renaming = board_place(board)
    return np.asarray(spread[row][RENAMED_COMBO[renaming]], dtype=np.float64)


def _ahead(board: tuple[int, ...]) -> Floats:
    """Chance of every hand to be ahead of another now, ties half: one walk from the weakest hand up."""
    values = strengths(board)[None]
    order = np.empty_like(values)
    sort_boards(values, order)
    live = (values[0] > 0).astype(np.float64)
    reached = np.zeros(COMBO_COUNT)
    walk_boards(values, order, np.ones(1), np.uint64(live.sum()), live, reached)
    found: Floats = live * reached / (2 * np.maximum(compatible_weight(live), 1.0))
    return found
