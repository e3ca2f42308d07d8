"""Strategies for hold'em solved over equity buckets, made once and kept.

:func:`bucket_strategy` counts the joint tables of the buckets, solves the bucket game by CFR+ and
keeps the average strategy in the cache folder. Played with real cards it looks up the sequence of
buckets that a hand has been in. A sequence so rare that no board of the tables held it plays as the
one nearest to it, later streets counting more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.abstraction.buckets.equity import NO_BUCKET, STREETS, EquityBuckets
from equipoise.abstraction.lookup import BOARD_SIZES
from equipoise.abstraction.tables.bucketgame import bucket_game
from equipoise.abstraction.tables.joint import count_tables
from equipoise.cache import cache_folder, tell_making
from equipoise.cards.combos import COMBO_COUNT
from equipoise.errors import ArtefactError, IllegalActionError, SolverError
from equipoise.games.betting import Betting
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Action, Rules, State
from equipoise.run import Limit, Listener, about
from equipoise.solve.solvers.cfr import CFRPlus

_KIND = "bucket strategy"
#: Weight of a difference in the latest bucket, the one before it, and so on.
_RECENT_FIRST = (8, 4, 2, 1)

#: Told (what is done, how much of it, out of how much).


@dataclass(frozen=True)
class Training:
    """What a bucket strategy is made with."""

    rules: Rules
    buckets: EquityBuckets
    #: Random boards the joint tables are counted over.
    boards: int = 10_000
    #: Iterations of CFR+.
    iterations: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        # Sequences of more buckets make tables of gigabytes.
        told = {"buckets": (self.buckets.count, 8), "boards": (self.boards, 10_000_000),
                "iterations": (self.iterations, 1_000_000)}  # fmt: skip
        for name, (value, most) in told.items():
            if not 1 <= value <= most:
                raise SolverError(f"{name} = {value}: choose from 1 to {most:,}")

    def as_dict(self) -> dict[str, Any]:
        """Everything that decides the strategy, as an artefact keeps it."""
        return asdict(self)


class BucketStrategy:
    """What to play with any hand at any point of the betting."""

    def __init__(
        self,
        training: Training,
        sequences: Sequence[NDArray[np.int64]],
        probabilities: NDArray[np.float16],
        exploitability_mbb: float,
    ) -> None:
        self.training = training
        self.buckets = training.buckets
        #: Sequences of buckets known on each street.
        self.sequences = tuple(sequences)
        #: Behaviour at every decision, one block [action, sequence] after another.
        self.probabilities = probabilities
        #: Exploitability inside the bucket game, thousandths of a big blind a hand.
        self.exploitability_mbb = exploitability_mbb

    @cached_property
    def _nodes(self) -> dict[tuple[tuple[Action, ...], ...], tuple[tuple[Action, ...], int]]:
        """Actions and place of the block of every decision, by the betting that leads to it."""
        betting = Betting.build(self.training.rules, BetMenu.full())
        found, filled = {}, 0
        for street, (first, last) in enumerate(betting.spans()):
            for node in range(first, last):
                if betting.kind[node] > 1:
                    continue
                actions = tuple(betting.actions[child] for child in betting.children(node))
                found[betting.states[node].history] = (actions, filled)
                filled += len(actions) * len(self.sequences[street])
        if filled != len(self.probabilities):
            raise ArtefactError("a bucket strategy of another betting tree: train it again")
        return found  # type: ignore[return-value]

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], ...]:
        """For every sequence of a street, known or not, which known one it plays as."""
        places = []
        for street, known in enumerate(self.sequences):
            every = np.arange(self.buckets.count ** (street + 1))
            powers = self.buckets.count ** np.arange(street + 1)
            digits, known_digits = (
                x[:, None] // powers % self.buckets.count for x in (every, known)
            )
            weights = np.array(_RECENT_FIRST[: street + 1])
            apart = np.abs(digits[:, None, :] - known_digits[None, :, :]) @ weights
            places.append(np.argmin(apart, axis=1))
        return tuple(places)

    def sequence(self, hole: tuple[int, ...], board: tuple[int, ...]) -> int:
        """Number of the sequence of buckets of a hand."""
        number = 0
        for size in BOARD_SIZES[: BOARD_SIZES.index(len(board)) + 1]:
            number = number * self.buckets.count + self.buckets.bucket(hole, board[:size])
        return number

    def _block(self, state: State) -> tuple[tuple[Action, ...], NDArray[np.float16]]:
        node = self._nodes.get(state.history)
        if node is None:
            raise IllegalActionError(
                f"'{state.betting_text()}' is no decision of {self.training.rules.name}: play it "
                "by the rules it was trained for"
            )
        actions, start = node
        states = len(self.sequences[state.round])
        block = self.probabilities[start : start + len(actions) * states]
        return actions, block.reshape(len(actions), states)

    def play(self, state: State, sequence: int) -> tuple[tuple[Action, ...], NDArray[np.float16]]:
        """Actions and their probabilities with a sequence of buckets."""
        actions, block = self._block(state)
        return actions, block[:, self._places[state.round][sequence]]

    def policy(
        self, state: State, board: tuple[int, ...]
    ) -> tuple[tuple[Action, ...], NDArray[np.float32]]:
        """Actions and the probabilities of every combination, [hand, action]."""
        actions, block = self._block(state)
        sequence = np.zeros(COMBO_COUNT, dtype=np.int64)
        for size in BOARD_SIZES[: state.round + 1]:
            found = self.buckets.buckets(board[:size])
            sequence = sequence * self.buckets.count + np.where(found == NO_BUCKET, 0, found)
        chosen = block[:, self._places[state.round][sequence]].T.astype(np.float32)
        return actions, np.ascontiguousarray(chosen / chosen.sum(axis=1, keepdims=True))


#: Strategies of this process.
_loaded: dict[Training, BucketStrategy] = {}


def bucket_strategy(training: Training, progress: Listener | None = None) -> BucketStrategy:
    """The strategy of a training, from the cache folder, or trained and kept there."""
    if training not in _loaded:
        _loaded[training] = _stored(training) or _trained(training, progress)
    return _loaded[training]


def _path(training: Training) -> Path:
    return cache_folder() / f"buckets-{artefact.fingerprint(training.as_dict())}.safetensors"


def _stored(training: Training) -> BucketStrategy | None:
    """What is in the cache folder; a damaged file is as good as none."""
    try:
        manifest, arrays = artefact.read(_path(training), _KIND)
        with artefact.understanding(_path(training), _KIND):
            sequences = [arrays[f"sequences{street}"] for street in range(STREETS)]
            exploitability = float(manifest["exploitability_mbb"])
            return BucketStrategy(training, sequences, arrays["probabilities"], exploitability)
    except ArtefactError:
        return None


def _trained(training: Training, progress: Listener | None) -> BucketStrategy:
    tell_making(
        f"a strategy of {training.rules.name} over {training.buckets.count} buckets, a minute"
    )
    began = perf_counter()
    strategy = train(training, progress)
    stored: dict[str, NDArray[Any]] = {"probabilities": strategy.probabilities}
    for street, known in enumerate(strategy.sequences):
        stored[f"sequences{street}"] = known
    facts = {
        "exploitability_mbb": strategy.exploitability_mbb,
        "seconds": round(perf_counter() - began, 1),
    }
    artefact.write(_path(training), _KIND, training.as_dict(), stored, **facts)
    return strategy


def train(training: Training, progress: Listener | None = None) -> BucketStrategy:
    """Count tables, solve, and take the average strategy."""

    counted = None if progress is None else about("boards", progress)
    solved = None if progress is None else about("iterations", progress)
    tables = count_tables(training.buckets.lookup(), training.boards, training.seed, counted)
    game = bucket_game(training.rules, tables)
    solver = CFRPlus(game, precision="float32")
    last = solver.run(
        Limit(iterations=training.iterations, check_every=training.iterations), solved
    )
    strategy = solver.average_strategy()
    met = [np.flatnonzero(mass.any(axis=1)) for mass in tables.mass]
    blocks = [strategy.rows(node, street)[:, met[street]].astype(np.float16).reshape(-1)
              for street, (first, end) in enumerate(pairwise(game.betting.start.tolist()))
              for node in range(first, end)
              if game.betting.kind[node] < 2]  # fmt: skip
    assert last.exploitability_chips is not None
    exploitability = 1000 * last.exploitability_chips / training.rules.big_blind
    return BucketStrategy(training, met, np.concatenate(blocks), exploitability)
