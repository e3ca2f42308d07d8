"""Solutions on disk.

An artefact (:mod:`equipoise.artefact`) whose manifest holds the spot as TOML and the version that
wrote it. Three sorts:

    whole    regrets and average strategy as the solver holds them: opens ready to solve on
    answer   the strategy alone in 16 bits, each hand's probabilities scaled to fill them
    cut      strategy and values up to a street; boards stand round by round, so the rows of the
             streets kept are simply the first
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise import __version__, artefact
from equipoise.errors import ArtefactError, EquipoiseError, SolverError
from equipoise.games.spot import Spot
from equipoise.solve.solution import Solution
from equipoise.solve.spotsolver import SpotSolver
from equipoise.solve.sweep.layout import FULL
from equipoise.solve.sweep.rowindex import RowIndex

if TYPE_CHECKING:
    from equipoise.games.game import Game
    from equipoise.solve.solution import Values
    from equipoise.solve.sweep.gamearrays import Lock

KIND = "solution"
#: Changes whenever the meaning of the arrays does.
LAYOUT = 1


def is_solution(path: str | Path) -> bool:
    """Whether a file looks like an artefact rather than text: its ninth byte opens the header."""
    try:
        with open(path, "rb") as opened:
            return opened.read(9)[8:] == b"{"
    except OSError:
        return False


def write(solution: Solution, path: str | Path, through: str | None, compress: bool) -> None:
    """Write a solution whole, cut at a street, or as an answer in 16 bits."""
    streets = streets_through(solution, through)
    cut = streets < solution.spot.rounds
    configuration = {
        "spot": solution.spot.to_toml(),
        "game_fingerprint": solution.game.fingerprint(),
        "use_symmetry": solution.use_symmetry,
        "layout": LAYOUT,
    }
    whole = solution.solver is not None and not cut and not compress
    arrays: dict[str, NDArray[Any]] = {}
    solver_facts: dict[str, Any] | None = None
    if whole:
        assert solution.solver is not None
        arrays |= solution.solver.arrays()
        solver_facts = {
            "settings": solution.solver.settings(),
            "scalars": solution.solver.scalars(),
        }
    else:
        end = _rows_of(solution.index, solution.game, streets)
        arrays["plan"] = _packed(solution, streets) if compress else solution.plan[:end]
    if cut:
        for player in (0, 1):
            arrays[f"values_{player}"] = _values_of(solution, streets, player)
    places = []
    for number, ((board, node), (mask, given)) in enumerate(solution.locks.items()):
        if solution.game.deal.boards[board].round >= streets:
            raise SolverError("a decision is locked after the cut: save whole, or unlock it")
        places.append([board, node])
        arrays[f"lock_{number}_hands"] = mask.astype(np.uint8)
        arrays[f"lock_{number}_play"] = given
    artefact.write(
        path,
        KIND,
        configuration,
        arrays,
        version=__version__,
        solver=solver_facts,
        streets=streets,
        iterations=solution.iterations,
        seconds=solution.seconds,
        exploitability_chips=solution.exploitability_chips,
        target_pct_pot=solution.target_pct_pot,
        locks=places,
    )


def read(path: str | Path, threads: int | None) -> Solution:
    """Read a solution of any sort."""
    manifest, arrays = artefact.read(path, KIND)
    try:
        return _read(manifest, arrays, threads)
    except ArtefactError as error:
        raise ArtefactError(f"{path}: {error}") from None
    except EquipoiseError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise ArtefactError(f"{path}: damaged ({error!r}): solve the spot again") from None


def _read(
    manifest: dict[str, Any], arrays: dict[str, NDArray[Any]], threads: int | None
) -> Solution:
    configuration = manifest["configuration"]
    if configuration["layout"] != LAYOUT:
        raise ArtefactError(
            f"written by version {manifest['version']}, whose files this one "
            f"({__version__}) does not read: solve the spot again"
        )
    spot = Spot.from_toml(configuration["spot"])
    game = spot.game(configuration["use_symmetry"])
    if game.fingerprint() != configuration["game_fingerprint"]:
        raise ArtefactError(
            f"written by version {manifest['version']}, which built another tree from the same "
            "spot: solve it again"
        )
    streets = int(manifest["streets"])
    if manifest["solver"] is not None:
        settings = manifest["solver"]["settings"]
        spot.check_fits(compressed=settings["compressed"])
        solver = SpotSolver(game, threads=threads, **settings)
        for name, target in solver.arrays().items():
            if arrays[name].shape != target.shape or arrays[name].dtype != target.dtype:
                raise ArtefactError(f"{name} is of another size: solve the spot again")
            np.copyto(target, arrays.pop(name))
        solver.iteration = int(manifest["iterations"])
        solver.restore_scalars(manifest["solver"]["scalars"])
        solution = Solution(
            spot, game, solver.plan, solver=solver, use_symmetry=configuration["use_symmetry"]
        )
    else:
        index = RowIndex(game)
        if len(arrays["plan"]) != _rows_of(index, game, streets):
            raise ArtefactError("the strategy is of another size: solve the spot again")
        solution = Solution(
            spot,
            game,
            arrays["plan"],
            kept_streets=streets,
            kept_values=_kept_values(game, streets, arrays) if streets < spot.rounds else (),
            use_symmetry=configuration["use_symmetry"],
        )
    locks: dict[tuple[int, int], Lock] = {
        (int(board), int(node)): (
            arrays[f"lock_{number}_hands"].astype(bool),
            arrays[f"lock_{number}_play"],
        )
        for number, (board, node) in enumerate(manifest["locks"])
    }
    solution.restore_locks(locks)
    solution.iterations = int(manifest["iterations"])
    solution.seconds = float(manifest["seconds"])
    solution.exploitability_chips = float(manifest["exploitability_chips"])
    solution.target_pct_pot = manifest["target_pct_pot"]
    return solution


def streets_through(solution: Solution, through: str | None) -> int:
    """How many streets there are up to and with one that a user named."""
    streets = solution.spot.streets[: solution.kept_streets]
    if through is None:
        return len(streets)
    if through.lower() not in streets:
        raise SolverError(f"{through!r}: cut at one of {', '.join(streets)}")
    return streets.index(through.lower()) + 1


def _rows_of(index: RowIndex, game: Game, streets: int) -> int:
    """How many numbers the rows of the first streets take."""
    after = [b for b, board in enumerate(game.deal.boards) if board.round >= streets]
    return int(index.base[after[0], 0]) if after else index.size


def _packed(solution: Solution, streets: int) -> NDArray[np.int16]:
    """The strategy in 16 bits; hands that never get somewhere stay at zero."""
    index, game = solution.index, solution.game
    packed = np.zeros(_rows_of(index, game, streets), dtype=np.int16)
    for board, node in index.decisions():
        if game.deal.boards[board].round >= streets:
            break
        block = index.block(solution.plan, board, node)
        reached = block.max(axis=0) > 0
        play = solution.strategy_rows(board, node)
        scaled = np.rint(play * (FULL / np.maximum(play.max(axis=0), 1e-30)))
        index.block(packed, board, node)[:] = np.where(reached, scaled, 0)
    return packed


def _nodes(game: Game, streets: int) -> list[tuple[int, range]]:
    """Boards of the first streets with the nodes of their rounds."""
    spans = [range(a, b) for a, b in game.betting.spans()]
    return [
        (b, spans[board.round]) for b, board in enumerate(game.deal.boards) if board.round < streets
    ]


def _values_of(solution: Solution, streets: int, player: int) -> NDArray[np.float32]:
    parts = []
    for board, nodes in _nodes(solution.game, streets):
        values = solution.value_rows(player, board)
        parts += [values[node].astype(np.float32) for node in nodes]
    return np.concatenate(parts)


def _kept_values(
    game: Game, streets: int, arrays: dict[str, NDArray[Any]]
) -> list[tuple[Values, Values]]:
    boards: list[tuple[dict[int, Any], dict[int, Any]]] = []
    at = [0, 0]
    for board, nodes in _nodes(game, streets):
        pair: tuple[dict[int, Any], dict[int, Any]] = ({}, {})
        for player in (0, 1):
            states = game.deal.states(board, player)
            for node in nodes:
                pair[player][node] = arrays[f"values_{player}"][at[player] :][:states]
                at[player] += states
        boards.append(pair)
    if any(at[player] != len(arrays[f"values_{player}"]) for player in (0, 1)):
        raise ArtefactError("the values are of another size: solve the spot again")
    return list(boards)
