"""The solvers by name."""

from __future__ import annotations

import difflib
from typing import Any

from equipoise.errors import SolverError
from equipoise.games.game import Game
from equipoise.settings import brief
from equipoise.solve.sampling.mccfr import ChanceSampling, ExternalSampling, OutcomeSampling
from equipoise.solve.solvers.cfr import CFR, DCFR, CFRPlus, LinearCFR, PCFRPlus
from equipoise.solve.solvers.egt import ExcessiveGap
from equipoise.solve.solvers.fictitious import BranchFictitiousPlay, FictitiousPlay
from equipoise.solve.solvers.linear_program import LinearProgram
from equipoise.solve.solvers.solver import Solver

SOLVERS: dict[str, type[Solver]] = {
    kind.name: kind
    for kind in (
        CFR,
        CFRPlus,
        LinearCFR,
        DCFR,
        PCFRPlus,
        FictitiousPlay,
        BranchFictitiousPlay,
        ExcessiveGap,
        LinearProgram,
        ExternalSampling,
        OutcomeSampling,
        ChanceSampling,
    )
}


def solver_class(name: str) -> type[Solver]:
    """The class of a solver.

    >>> solver_class("dcfr").__name__
    'DCFR'
    >>> solver_class("dcrf")
    Traceback (most recent call last):
        ...
    equipoise.errors.SolverError: no solver 'dcrf': did you mean 'dcfr'?
    """
    if name not in SOLVERS:
        close = difflib.get_close_matches(name, SOLVERS, n=1)
        cure = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(SOLVERS)}"
        raise SolverError(f"no solver {brief(name)!r}: {cure}")
    return SOLVERS[name]


def make_solver(name: str, game: Game, **settings: Any) -> Solver:
    """A solver of `game` by name.

    >>> from equipoise.games.catalogue import kuhn
    >>> make_solver("cfr+", kuhn()).iteration
    0
    """
    return solver_class(name)(game, **settings)
