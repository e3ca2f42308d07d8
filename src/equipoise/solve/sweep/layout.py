"""A game as the sweep's kernels read it: tuples of flat arrays, and names for small integers.

Rows are vectors over private states, padded to whole blocks of 16 lanes. All rows of a player on a
board stand together: row `k` of player `p` on board `b` starts at `base[b, p] + k * width[b, p]`.
Padding lanes hold zero reach and are never read back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Array = Any

CARDS = 64

#: Largest number of 16-bit storage.
FULL = 32767

#: Indices into the array of parameters of a sweep.
KEEP, GAIN, POSITIVE, NEGATIVE, FLOOR, STEP, SMOOTHING, TINY, ZERO, ONE = range(10)
PARAMETERS = 10

#: How far values come up: not at all; through the last board of the path; through every board of the
#: path, to the root of the game.
UP_NOT, UP_TOP, UP_ROOT = range(3)


#: Steps of a sweep, in the array of their addresses.
ENTER, DOWN, EVALUATE, UP, RETURN = range(5)


class BettingArrays(NamedTuple):
    """The betting forest as the kernels read it."""

    kind: Array
    first: Array
    count: Array
    #: First row of a decision; number of a GIVEN node among those of its round.
    row: Array
    #: Where a node's reach stands in the field.
    place: Array
    #: Where its value stands: the same place, for values come when reach has done its work; but
    #: DEAL nodes, whose reach is read while values are added, have another.
    home: Array
    #: [player, node]
    even: Array
    swing: Array
    start: Array
    #: [round, player]: rows.
    rows: Array
    #: Number of a decision among those of its round and player.
    order: Array
    #: A *part* is the betting after some of a round's roots. All rounds but the last have one part,
    #: of the round's number; the last may have more, which use the same places one after another.
    #: Part p has the roots `root_start[p]` to `root_start[p + 1]` of its round, counted on over
    #: all rounds, and the decisions, leaves (DEAL nodes) and terminals given likewise.
    root_start: Array
    decisions: Array
    decision_start: Array
    leaves: Array
    leaf_start: Array
    folds: Array
    fold_start: Array
    showdowns: Array
    showdown_start: Array
    #: GIVEN nodes: they stand among the folds too.
    givens: Array
    given_start: Array
    #: [round]: lanes between the places of two nodes that stand together.
    stride: Array


class Boards(NamedTuple):
    """The tree of boards as the kernels read it."""

    round: Array
    parent: Array
    #: Children of board b are `first_child[b]` to `first_child[b + 1]`.
    first_child: Array
    weight: Array
    #: [board, player]: private states, and lanes they fill.
    states: Array
    width: Array
    #: [board, player]: start of the player's rows, and number of his first decision.
    base: Array
    decision: Array
    #: [board, player]: start of the map from this board's states to the parent's.
    map_start: Array
    maps: Array
    #: Arrivals of board b are `first_arrival[b]` to `first_arrival[b + 1]`.
    first_arrival: Array
    #: [arrival, player]: start of the map from the parent's states to this board's.
    back_start: Array
    back: Array
    #: [board, player]: where reach goes down, and values up, by chance that depends on the private
    #: state alone, start of the matrix [parent's state, state] and of [state, parent's state]; else
    #: -1.
    down_start: Array
    up_start: Array
    transitions: Array


class Locks(NamedTuple):
    """Decisions whose strategy is given: nothing is learnt there, and best responses obey it."""

    #: Start of a board's part in `at`, -1 if nothing is locked there.
    start: Array
    #: For each node of the board's round, where its lock stands in `rows`, -1 if it has none.
    at: Array
    #: One row that is 1 for locked states and 0 for free ones, then the probability of each action.
    rows: Array


class GivenValues(NamedTuple):
    """What the lines of betting that end in GIVEN nodes are worth, per unit of the opponent's reach."""

    #: [board, player]: start of his rows in `values`, one a GIVEN node of the board's round.
    start: Array
    values: Array


class SweepLayout(NamedTuple):
    """A game as the kernels read it; only evaluators read its tables."""

    lines: BettingArrays
    boards: Boards
    locks: Locks
    given: GivenValues
    #: Reach of each player's states at the start.
    initial0: Array
    initial1: Array
    #: Address of BLAS's product of general matrices.
    gemm: Array
    #: What an evaluator turns reach into values by.
    tables: Array


#: What does not depend on how terminals are evaluated: kernels that read nothing else are compiled
#: once for all evaluators.
FRAME = ("lines", "boards", "locks", "given", "initial0", "initial1", "gemm")


class Numbers(NamedTuple):
    """The sets of rows that a sweep reads and writes; those not needed have no room."""

    #: What the opponent's strategy is read from.
    facing: Array
    #: What his realisation plan is mixed into.
    plan: Array
    #: Mine: regrets, or whatever the rule keeps.
    rows: Array
    #: Where the rule writes.
    out: Array
    #: Prior weights, for the smoothed best responses.
    weights: Array
    #: Copy of the rows before the iteration, for simultaneous updates.
    before: Array
    #: 16-bit storage: what one unit of each decision's `plan` and `rows` is worth.
    plan_unit: Array
    rows_unit: Array


#: Of these, what a sweep reads on the way down, and on the way up.
GOING_DOWN = ("facing", "plan", "plan_unit")
GOING_UP = ("rows", "out", "weights", "rows_unit")


class Share(NamedTuple):
    """What one thread does of a sweep that a crew does (:mod:`.crew`), or a single thread.

    What is below the path falls into *duties*: boards dealt from the last of the path that are
    neighbours, all parts of the betting; or some parts of the betting on one board. Duties by boards are
    the same however many threads there are; the values of each are added up by themselves, and these
    sums in order. So the answer does not depend on the number of threads.
    """

    #: Boards from the root of the game to the one whose boards below are shared out.
    path: Array
    #: Part of the betting on that board, if it is in the last round.
    part: int
    #: [duty]: first board and the one after the last, first part of the last round and likewise.
    duties: Array
    #: Member m of the crew begins with the duties `owned[m]` to `owned[m + 1]`.
    owned: Array
    #: Number of this thread in the crew; the first does the boards of the path on the way up.
    member: int
    #: Room for sums: a slot for every duty; a single one if one thread does all, for then they are
    #: added as they come; none if there is but one duty and one thread.
    sums: Array
    #: Where the crew meets, and the address of what lets a thread sleep.
    board: Array
    rest: int


class Workspace(NamedTuple):
    """Buffers of one thread."""

    #: Vectors of all nodes: the opponent's reach on the way down, my values on the way up.
    field: Array
    #: Place of the reach that a node shares.
    slot: Array
    #: Sixteen rows side by side, going in and coming out.
    lanes_in: Array
    lanes_out: Array
    #: Reach on each card, sixteen lanes; and on each of the cards of hands that tie.
    on_card: Array
    ties: Array
    #: Offsets and coefficients of the sixteen terminals in a batch; and of folds beside showdowns.
    source: Array
    target: Array
    even: Array
    swing: Array
    fold_target: Array
    fold_even: Array
    #: Sizes of a product of matrices, as BLAS reads them.
    sizes: Array
    #: States that are reached by some of four terminals, how many of them, and sums of a panel.
    support: Array
    supported: Array
    tile: Array
    #: Parameters of the sweep.
    par: Array
    #: Position in the walk over boards.
    cursor: Array
    current: Array
