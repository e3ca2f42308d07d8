"""The solvers by name.

Another package adds solvers through the entry-point group `equipoise.solvers`: each entry point leads
to a subclass of :class:`TableauSolver`.
"""

from __future__ import annotations

from typing import Any

from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.plugins import foreign, load_foreign
from equipoise.settings import did_you_mean, shown
from equipoise.solve.sampling.boardsampling import BoardSampling
from equipoise.solve.sampling.mccfr import (
    CardSampling,
    ChanceSampling,
    ExternalSampling,
    OutcomeSampling,
    PublicSampling,
)
from equipoise.solve.sampling.sharded import ShardedSampling
from equipoise.solve.solvers.cfr import CFR, DCFR, CFRPlus, LinearCFR, PCFRPlus
from equipoise.solve.solvers.egt import ExcessiveGap
from equipoise.solve.solvers.fictitious import BranchFictitiousPlay, FictitiousPlay
from equipoise.solve.solvers.linear_program import LinearProgram
from equipoise.solve.solvers.solver import Solver
from equipoise.solve.solvers.tableausolver import TableauSolver

#: Entry-point group through which other packages add solvers.
GROUP = "equipoise.solvers"

#: Those that sweep the whole tree, of small games and of buckets alike.
_SWEEPING: tuple[type[TableauSolver], ...] = (
    CFR,
    CFRPlus,
    LinearCFR,
    DCFR,
    PCFRPlus,
    FictitiousPlay,
    BranchFictitiousPlay,
    ExcessiveGap,
)

_OTHERS: tuple[type[TableauSolver], ...] = (
    LinearProgram,
    ExternalSampling,
    OutcomeSampling,
    ChanceSampling,
)

#: The solvers of this package. To add one, add its class.
SOLVERS: dict[str, type[TableauSolver]] = {kind.name: kind for kind in (*_SWEEPING, *_OTHERS)}

#: Those that train on the games of buckets that recipes make, or on real cards.
TRAINERS: dict[str, type[Solver]] = {kind.name: kind for kind in _SWEEPING} | {
    kind.name: kind for kind in (BoardSampling, CardSampling, PublicSampling, ShardedSampling)
}


def names() -> tuple[str, ...]:
    """Names of all solvers; those of other packages come last.

    >>> names()[:2]
    ('cfr', 'cfr+')
    """
    return tuple(dict.fromkeys((*SOLVERS, *foreign(GROUP))))


def solver_class(name: str) -> type[TableauSolver]:
    """The class of a solver.

    >>> solver_class("dcfr").__name__
    'DCFR'
    >>> solver_class("dcrf")
    Traceback (most recent call last):
        ...
    equipoise.errors.SolverError: no solver 'dcrf': did you mean 'dcfr'?
    """
    if name in SOLVERS:
        return SOLVERS[name]
    point = foreign(GROUP).get(name)
    if point is None:
        raise SolverError(f"no solver {shown(name)}: {did_you_mean(name, names())}")
    kind = load_foreign(point, "solver")
    if not (isinstance(kind, type) and issubclass(kind, TableauSolver)):
        raise SolverError(
            f"the solver {name!r} of another package is no subclass of eq.TableauSolver"
        )
    return kind


def make_solver(name: str, game: Game, **settings: Any) -> TableauSolver:
    """A solver of `game` by name.

    >>> from equipoise.games.catalogue import kuhn
    >>> make_solver("cfr+", kuhn()).iteration
    0
    """
    return solver_class(name)(game, **settings)
