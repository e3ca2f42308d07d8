"""Post-processing: playing the likely actions of a computed strategy and not the unlikely ones.

Small probabilities in an abstract equilibrium are often what a coarse abstraction or a run not yet
converged left behind (Ganzfried, Sandholm and Waugh 2012). Four rules, one for each betting round:

    raw              as computed
    purify           the likeliest action, always; ties at random
    threshold 0.15   actions below 0.15 are dropped and the rest scaled up
    fold 0.2         fold if that has more than 0.2; else the likeliest of fold, call and all bets
                     and raises together; if those, the likeliest size

Rounds are separated by `/` and the last rule repeats: `raw/threshold 0.05/threshold 0.1/purify`. A
threshold that would drop every action keeps the likeliest.

A tie is broken by a draw that depends only on the seed, the decision, the private state and the
action: a state is treated the same in whatever order, and among whichever others, it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import SolverError
from equipoise.games.rules import Kind
from equipoise.settings import shown
from equipoise.solve.strategies.strategy import Plan
from equipoise.solve.strategies.tabular import TabularStrategy

#: Probabilities of actions: [action, state].
Table = NDArray[np.float64]

#: Probabilities that differ by no more are tied: solvers and 16-bit files round.
TIE = 1e-9

_NAMES = ("raw", "purify", "threshold", "fold")


@dataclass(frozen=True)
class RoundRule:
    """What is done in one betting round."""

    #: `raw`, `purify`, `threshold` or `fold`.
    name: str
    #: The least that a threshold keeps, or the most that `fold` plays on with.
    level: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in _NAMES:
            known = ", ".join(_NAMES)
            raise SolverError(f"no post-processing {shown(self.name)}: use one of {known}")
        if not 0 <= self.level < 1:
            raise SolverError(f"{self.name} {self.level}: give a probability from 0 to less than 1")

    @classmethod
    def parse(cls, text: str) -> RoundRule:
        """Read one rule.

        >>> RoundRule.parse("threshold 0.15")
        RoundRule(name='threshold', level=0.15)
        >>> RoundRule.parse("threshold")
        Traceback (most recent call last):
            ...
        equipoise.errors.SolverError: 'threshold': write a probability after it, as threshold 0.15
        """
        name, *rest = text.split() or [""]
        if name not in _NAMES or name in ("raw", "purify"):
            if rest and name in _NAMES:
                raise SolverError(f"{text.strip()!r}: {name} stands alone")
            return cls(name)
        try:
            (level,) = (float(word) for word in rest)
        except ValueError:
            raise SolverError(
                f"{text.strip()!r}: write a probability after it, as {name} 0.15"
            ) from None
        return cls(name, level)

    def __str__(self) -> str:
        return f"{self.name} {self.level:g}" if self.name in ("threshold", "fold") else self.name


@dataclass(frozen=True)
class PostProcessing:
    """A rule for every betting round, the last one repeating.

    >>> str(PostProcessing.parse("raw / threshold 0.05 / purify"))
    'raw/threshold 0.05/purify'
    """

    rules: tuple[RoundRule, ...] = (RoundRule("raw"),)
    #: Seed of ties.
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.rules:
            raise SolverError("post-processing needs a rule: raw changes nothing")

    @classmethod
    def parse(cls, text: str, seed: int = 0) -> PostProcessing:
        """Read the rules of all rounds."""
        return cls(tuple(RoundRule.parse(part) for part in text.split("/")), seed)

    def __str__(self) -> str:
        return "/".join(str(rule) for rule in self.rules)

    def apply(
        self,
        table: Table,
        kinds: Sequence[Kind],
        betting_round: int,
        decision: int,
        states: NDArray[np.int64] | None = None,
    ) -> Table:
        """The probabilities [action, state] that are played at a decision.

        `kinds` says what each action is, `decision` numbers the decision among all of the strategy,
        and `states` numbers the columns where they are not all states of it in order.

        >>> table = np.array([[0.3, 0.1], [0.4, 0.5], [0.2, 0.4], [0.1, 0.0]])
        >>> kinds = [Kind.FOLD, Kind.CALL, Kind.RAISE, Kind.RAISE]
        >>> for text in ("purify", "threshold 0.25", "fold 0.2"):
        ...     PostProcessing.parse(text).apply(table, kinds, 0, 0).T.round(3).tolist()
        [[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
        [[0.429, 0.571, 0.0, 0.0], [0.0, 0.556, 0.444, 0.0]]
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
        """
        if table.ndim != 2 or len(kinds) != len(table):
            raise SolverError("post-processing needs [action, state] and a kind for each action")
        rule = self.rules[min(betting_round, len(self.rules) - 1)]
        if rule.name == "raw":
            return table.copy()
        if rule.name == "threshold":
            return thresholded(table, rule.level)
        if states is None:
            states = np.arange(table.shape[1])
        draws = tie_draws(self.seed, decision, len(table), states)
        if rule.name == "purify":
            return purified(table, draws)
        return fold_or_purified(table, kinds, rule.level, draws)


class Processed:
    """A strategy as it is played: its rows after post-processing, on one betting tree for all boards."""

    def __init__(self, strategy: Plan, rules: PostProcessing) -> None:
        self.betting, self._strategy, self._rules = strategy.betting, strategy, rules

    def kinds(self, node: int) -> list[Kind]:
        """What each action of a decision is."""
        actions = [self.betting.actions[child] for child in self.betting.children(node)]
        return [action.kind for action in actions if action is not None]

    def rows(self, node: int, board: int | None = None) -> Table:
        """What is played at a decision: float64[action, state]."""
        table = self._strategy.rows(node, board)
        return self._rules.apply(table, self.kinds(node), self.betting.round_of(node), node)


def processed(strategy: TabularStrategy, rules: PostProcessing) -> TabularStrategy:
    """The strategy that `rules` make of `strategy`, for both players.

    >>> from equipoise.games.catalogue import kuhn
    >>> pure = processed(TabularStrategy.uniform(kuhn()), PostProcessing.parse("purify"))
    >>> sorted({p for entry in pure for p in entry.probabilities})
    [0.0, 1.0]
    """
    game, index = strategy.game, strategy.index
    betting = game.betting
    rows = np.zeros(index.size)
    for number, (board, node) in enumerate(index.decisions()):
        kinds: list[Kind] = []
        for child in betting.children(node):
            action = betting.actions[child]
            assert action is not None
            kinds.append(action.kind)
        index.block(rows, board, node)[:] = rules.apply(
            strategy.rows(node, board), kinds, game.deal.boards[board].round, number
        )
    return TabularStrategy(game, rows, index)


def purified(table: Table, draws: Table) -> Table:
    """The likeliest action always; of tied ones the one with the largest draw.

    >>> purified(np.array([[0.2], [0.4], [0.4]]), np.array([[0.9], [0.3], [0.6]])).T
    array([[0., 0., 1.]])
    """
    return _pure(_likeliest(table, draws), table.shape)


def thresholded(table: Table, least: float) -> Table:
    """Actions below `least` dropped, the rest scaled up; the likeliest stay whatever they have.

    >>> thresholded(np.array([[0.1], [0.3], [0.6]]), 0.15).round(3).T
    array([[0.   , 0.333, 0.667]])
    """
    # Probabilities that a solver rounded below the threshold by its last bit are at it.
    kept = np.where((table >= least - TIE) | (table >= table.max(axis=0)), table, 0.0)
    total: Table = kept.sum(axis=0)
    return kept / np.where(total > 0, total, 1.0)


def fold_or_purified(table: Table, kinds: Sequence[Kind], most: float, draws: Table) -> Table:
    """Fold where that has more than `most`; else the likeliest of fold, call and all bets.

    Bets and raises count together, and if they are chosen the likeliest of them is played.

    >>> table = np.array([[0.1], [0.4], [0.2], [0.3]])
    >>> kinds = [Kind.FOLD, Kind.CALL, Kind.RAISE, Kind.RAISE]
    >>> fold_or_purified(table, kinds, 0.2, np.zeros_like(table)).T
    array([[0., 0., 0., 1.]])
    """
    columns = np.arange(table.shape[1])
    groups = [np.flatnonzero(np.array(kinds) == kind) for kind in Kind]
    groups = [group for group in groups if len(group)]
    sums = np.array([table[group].sum(axis=0) for group in groups])
    # A group is drawn by its first action: a size of its own is drawn by all of them.
    chosen = _likeliest(sums, draws[[int(group[0]) for group in groups]])
    best = np.array([group[_likeliest(table[group], draws[group])] for group in groups])
    action = best[chosen, columns]
    if Kind.FOLD in kinds:
        fold = list(kinds).index(Kind.FOLD)
        action = np.where(table[fold] > most + TIE, fold, action)
    return _pure(action, table.shape)


def _likeliest(table: Table, draws: Table) -> NDArray[np.int64]:
    tied = table >= table.max(axis=0) - TIE
    chosen: NDArray[np.int64] = np.where(tied, draws, -1.0).argmax(axis=0)
    return chosen


def _pure(action: NDArray[np.int64], shape: tuple[int, ...]) -> Table:
    pure = np.zeros(shape)
    pure[action, np.arange(shape[1])] = 1.0
    return pure


def tie_draws(seed: int, decision: int, actions: int, states: NDArray[np.int64]) -> Table:
    """Uniform draws [action, state] from [0, 1), each from its own coordinates alone.

    >>> both = tie_draws(7, 12, 3, np.array([4, 9]))
    >>> bool((tie_draws(7, 12, 3, np.array([9]))[:, 0] == both[:, 1]).all())
    True
    """
    key = np.array([seed % 2**64], dtype=np.uint64)
    for part in (
        np.array([decision % 2**64], dtype=np.uint64),
        states.astype(np.uint64)[None, :],
        np.arange(actions, dtype=np.uint64)[:, None],
    ):
        key = _scattered(key ^ _scattered(part))
    return (key >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _scattered(key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function (Steele, Lea and Flood 2014): a bijection that scatters bits."""
    key = key + np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))
