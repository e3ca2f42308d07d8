"""What walks of public chance sampling read and write on: betting rounds, the board, vectors of hands."""

from __future__ import annotations

from typing import Any, NamedTuple

from equipoise.solve.sampling.dealkernels import Dealt

Array = Any

#: Hands that a full board leaves, filled up to whole blocks, and how many of them one of them can meet.
HANDS = 1088
MET = 990


class Rounds(NamedTuple):
    """The betting rounds of a tree in the order in which they are walked, and where vectors stand."""

    #: Rounds as they begin and end: the number of a round, or minus that less 1 at its end.
    events: Array
    #: At its beginning: the event of its end.
    end: Array
    #: [round]: the first of its decisions, in the order of the lists below; one more at the end.
    first: Array
    #: Decisions, those above first.
    node: Array
    #: [round]: the first of its folds and of its showdowns; one more at the end.
    first_fold: Array
    folds: Array
    first_showdown: Array
    showdowns: Array
    #: [node]: where its values stand.
    home: Array
    #: [player, node]: where the reach of his opponent stands when he walks.
    reach: Array


class Work(NamedTuple):
    """What the evaluators of folds and showdowns write on."""

    lanes_in: Array
    lanes_out: Array
    on_card: Array
    even: Array
    swing: Array
    source: Array
    target: Array


class PublicStack(NamedTuple):
    """What one thread writes on: the board, its hands, and vectors of the rounds on the current line."""

    dealt: Dealt
    rounds: Rounds
    work: Work
    #: Of all combinations: strength, scratch, the live ones in order, and buckets on every street.
    strength: Array
    half_sorted: Array
    order: Array
    buckets: Array
    #: [bucket]: which of those on the board it is.
    number: Array
    #: Both cards of each hand, and where the same hand stands among the opponent's.
    card1: Array
    card2: Array
    same: Array
    #: Groups of equal strength (:class:`equipoise.solve.sweep.showdown.Groups`).
    group_end: Array
    weaker_end: Array
    tied_end: Array
    #: [street, bucket on it]: the buckets that some hand is in, ascending; [street]: how many.
    known: Array
    count: Array
    #: [street * HANDS + hand]: which of them.
    place: Array
    #: [node]: where the opponent's reach and the values of a walk stand, and whether he is there.
    reach: Array
    value: Array
    present: Array
    #: [action * HANDS + bucket]: a strategy, and sums over the hands of a bucket.
    strategy: Array
    total: Array
    #: What an informed opponent does with each hand, where the values of a decision stand.
    choice: Array
    #: [rounds begun]: how often what is learnt there counts, since it is walked by chance.
    scale: Array
