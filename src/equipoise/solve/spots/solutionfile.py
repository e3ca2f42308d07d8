"""Solutions on disk.

An artefact (:mod:`equipoise.artefact`) whose manifest holds the spot as TOML and the version that
wrote it. Three sorts:

    whole    regrets and average strategy as the solver holds them: opens ready to solve on
    answer   the strategy alone in 16 bits, each hand's probabilities scaled to fill them
    cut      strategy and values up to a street; boards stand round by round, so the rows of the
             streets kept are simply the first

All hold the values of both players on all streets but the last that is played, so that :func:`look`
shows any node without a sweep: the arrays are mapped, and the values of a river follow from its strategy
(:mod:`equipoise.solve.spots.laststreet`).
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.errors import ArtefactError, EquipoiseError, SolverError
from equipoise.games.spot import Spot
from equipoise.settings import brief
from equipoise.solve import restoring
from equipoise.solve.spots.answer import Answer, Values
from equipoise.solve.spots.cost import spot_cost
from equipoise.solve.spots.fitting import check_fits
from equipoise.solve.spots.spotsolver import SpotSolver
from equipoise.solve.sweep.layout import FULL
from equipoise.solve.sweep.rowindex import RowIndex
from equipoise.version import __version__

if TYPE_CHECKING:
    from equipoise.games.game import Game
    from equipoise.solve.restoring import Arrays
    from equipoise.solve.sweep.gamearrays import Lock

#: What is opened: an answer and what can be done with it.
A = TypeVar("A", bound=Answer)

KIND = "solution"
#: Changes whenever the meaning of the arrays does.
LAYOUT = 2
#: Exponents of a discount beyond which powers are no numbers any more.
_STEEPEST = 50.0
#: What files of before say nothing of, and how they were solved.
_UNSAID: dict[str, Any] = {"alpha_ramp": 0, "step": 0.0}
#: What the numbers of a strategy may be stored as.
_STORED = (np.dtype("float32"), np.dtype("float64"), np.dtype("int16"))


def is_solution(path: str | Path) -> bool:
    """Whether a file looks like an artefact rather than text: its ninth byte opens the header."""
    try:
        with open(path, "rb") as opened:
            return opened.read(9)[8:] == b"{"
    except OSError:
        return False


def write(answer: Answer, path: str | Path, through: str | None, answer_only: bool) -> None:
    """Write a solution whole, cut at a street, or as an answer in 16 bits."""
    streets = check_cut(answer, through)
    cut = streets < answer.spot.rounds
    configuration = {
        "spot": answer.spot.to_toml(),
        "game_fingerprint": answer.game.fingerprint(),
        "use_symmetry": answer.use_symmetry,
        "layout": LAYOUT,
    }
    whole = answer.solver is not None and not cut and not answer_only
    arrays: dict[str, NDArray[Any]] = {}
    solver_facts: dict[str, Any] | None = None
    if whole:
        assert answer.solver is not None
        arrays |= answer.solver.arrays()
        solver_facts = {
            "settings": answer.solver.settings(),
            "scalars": answer.solver.scalars(),
        }
    else:
        end = _rows_of(answer.index, answer.game, streets)
        arrays["plan"] = _packed(answer, streets) if answer_only else answer.plan[:end]
    valued = min(streets, answer.spot.rounds - 1)
    for player in (0, 1) if valued else ():
        arrays[f"values_{player}"] = _values_of(answer, valued, player)
    places = []
    for number, ((board, node), (mask, given)) in enumerate(answer.locks.items()):
        places.append([board, node])
        arrays[f"lock_{number}_hands"] = mask.astype(np.uint8)
        arrays[f"lock_{number}_play"] = given
    gained = answer.exploitability_chips
    artefact.write(
        path,
        KIND,
        configuration,
        arrays,
        version=__version__,
        solver=solver_facts,
        streets=streets,
        iterations=answer.iterations,
        seconds=answer.seconds,
        exploitability_chips=None if math.isnan(gained) else gained,
        target_pct_pot=answer.target_pct_pot,
        locks=places,
    )


def read(path: str | Path, threads: int | None, kind: type[A]) -> A:
    """Read a solution of any sort, as one of a kind of answers."""
    manifest, arrays = artefact.read(path, KIND)
    with artefact.understanding(path, KIND):
        try:
            return _read(manifest, arrays, threads, kind)
        except EquipoiseError as error:
            raise ArtefactError(f"{path}: {error}") from None


def look(path: str | Path, kind: type[A]) -> A:
    """Open a solution of any sort to be looked at: nothing is read but what is asked for.

    Files of hundreds of megabytes open at once, at the price of the checksum: damage within the
    arrays shows as numbers that make no sense. They cannot be solved on.
    """
    manifest, arrays = artefact.read(path, KIND, mapped=True)
    with artefact.understanding(path, KIND):
        try:
            return _read({**manifest, "solver": None}, arrays, None, kind, mapped=True)
        except EquipoiseError as error:
            raise ArtefactError(f"{path}: {error}") from None


def _read(
    manifest: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    threads: int | None,
    kind: type[A],
    mapped: bool = False,
) -> A:
    configuration = restoring.table(manifest["configuration"], "configuration")
    version = brief(manifest["version"])
    if restoring.whole(configuration["layout"], "layout") != LAYOUT:
        raise ArtefactError(
            f"written by version {version}, whose files this one "
            f"({__version__}) does not read: solve the spot again"
        )
    spot = Spot.from_toml(configuration["spot"])
    streets = restoring.whole(manifest["streets"], "streets", 1, spot.rounds)
    use_symmetry = restoring.truth(configuration["use_symmetry"], "use_symmetry")
    # What is to be built is as large as what is there, or nothing is built.
    numbers = spot_cost(spot, use_symmetry).numbers
    if streets == spot.rounds and numbers != len(arrays["plan"]):
        raise ArtefactError("the strategy is of another size: solve the spot again")
    game = spot.game(use_symmetry)
    if game.fingerprint() != configuration["game_fingerprint"]:
        raise ArtefactError(
            f"written by version {version}, which built another tree from the "
            "same spot: solve it again"
        )
    iterations = restoring.whole(manifest["iterations"], "iterations")
    valued = min(streets, spot.rounds - 1)
    kept = _kept_values(game, valued, arrays, not mapped) if valued else []
    if manifest["solver"] is not None:
        solver = _solver(spot, game, restoring.table(manifest["solver"], "solver"), threads)
        restoring.restore(arrays, solver.arrays())
        solver.iteration = iterations
        forgotten = restoring.table(manifest["solver"]["scalars"], "scalars")["forgotten"]
        solver.restore_scalars(
            {"forgotten": restoring.whole(forgotten, "forgotten", 0, iterations)}
        )
        solution = kind(spot, game, solver.plan, solver=solver, use_symmetry=use_symmetry)
    else:
        size = (_rows_of(RowIndex(game), game, streets),)
        solution = kind(
            spot,
            game,
            restoring.array(arrays, "plan", size, *_STORED, finite=not mapped),
            kept_streets=streets,
            kept_values=kept,
            use_symmetry=use_symmetry,
        )
    solution.restore_locks(_locks(game, manifest["locks"], arrays))
    solution.iterations = iterations
    solution.seconds = restoring.number(manifest["seconds"], "seconds", 0.0)
    # Nothing was measured yet where nothing stands; small gains may be negative by rounding.
    gained, target = manifest["exploitability_chips"], manifest["target_pct_pot"]
    if gained is not None:
        solution.exploitability_chips = restoring.number(gained, "exploitability_chips")
    if target is not None:
        solution.target_pct_pot = restoring.number(target, "target_pct_pot", 0.0)
    return solution


def _solver(spot: Spot, game: Game, facts: dict[str, Any], threads: int | None) -> SpotSolver:
    """The solver that wrote a file, as it was set up."""
    settings = restoring.table(facts["settings"], "settings")
    faded = restoring.table(settings["discounting"], "discounting")
    if not _UNSAID.keys() & faded.keys():
        faded = _UNSAID | faded
    if faded.keys() != asdict(SpotSolver.default).keys():
        raise ArtefactError(f"it has other settings ({brief(list(faded))}): solve the spot again")
    for name, value in faded.items():
        if name in ("clipped", "predictive"):
            restoring.truth(value, name)
        elif name in ("alpha_ramp", "beta_ramp", "warm_up"):
            restoring.whole(value, name)
        elif value not in (None, "linear") or name == "gamma":
            restoring.number(value, name, -_STEEPEST if name == "beta" else 0.0, _STEEPEST)
    compressed = restoring.truth(settings["compressed"], "compressed")
    alternating = restoring.truth(settings["alternating"], "alternating")
    check_fits(spot, compressed=compressed)
    return SpotSolver(
        game,
        threads=threads,
        discounting=faded,
        storage="16-bit" if compressed else "32-bit",
        alternating=alternating,
    )


def _locks(game: Game, places: Any, arrays: Arrays) -> dict[tuple[int, int], Lock]:
    """What a file says is fixed, once it is found to be a strategy at a decision."""
    locks: dict[tuple[int, int], Lock] = {}
    for number, (board, node) in enumerate(places):
        boards = len(game.deal.boards)
        street = game.deal.boards[restoring.whole(board, "a locked board", 0, boards - 1)].round
        first, last = game.betting.spans()[street]
        player = int(game.betting.kind[restoring.whole(node, "a locked node", first, last - 1)])
        if player > 1:
            raise ArtefactError("a lock stands where nobody decides: solve the spot again")
        states, count = game.deal.states(board, player), int(game.betting.count[node])
        mask = restoring.array(arrays, f"lock_{number}_hands", (states,), np.dtype("uint8"))
        play = restoring.array(arrays, f"lock_{number}_play", (count, states), np.dtype("float64"))
        fixed = play[:, mask.astype(bool)]
        if (fixed < 0).any() or not np.allclose(fixed.sum(axis=0), 1.0, atol=1e-6):
            raise ArtefactError("a lock is no strategy: solve the spot again")
        locks[board, node] = (mask.astype(bool), play)
    return locks


def check_cut(answer: Answer, through: str | None) -> int:
    """Streets that a file cut at a street keeps; what it could not hold is refused."""
    streets = streets_through(answer, through)
    for board, _ in answer.locks:
        if answer.game.deal.boards[board].round >= streets:
            raise SolverError("a decision is locked after the cut: save whole, or unlock it")
    return streets


def streets_through(answer: Answer, through: str | None) -> int:
    """How many streets there are up to and with one that a user named."""
    streets = answer.spot.streets[: answer.kept_streets]
    if through is None:
        return len(streets)
    if through.lower() not in streets:
        raise SolverError(f"{through!r}: cut at one of {', '.join(streets)}")
    return streets.index(through.lower()) + 1


def _rows_of(index: RowIndex, game: Game, streets: int) -> int:
    """How many numbers the rows of the first streets take."""
    after = [b for b, board in enumerate(game.deal.boards) if board.round >= streets]
    return int(index.base[after[0], 0]) if after else index.size


def _packed(answer: Answer, streets: int) -> NDArray[np.int16]:
    """The strategy in 16 bits; hands that never get somewhere stay at zero."""
    index, game = answer.index, answer.game
    packed = np.zeros(_rows_of(index, game, streets), dtype=np.int16)
    for board, node in index.decisions():
        if game.deal.boards[board].round >= streets:
            break
        block = index.block(answer.plan, board, node)
        reached = block.max(axis=0) > 0
        play = answer.rows(node, board)
        scaled = np.rint(play * (FULL / np.maximum(play.max(axis=0), 1e-30)))
        index.block(packed, board, node)[:] = np.where(reached, scaled, 0)
    return packed


def _nodes(game: Game, streets: int) -> list[tuple[int, range]]:
    """Boards of the first streets with the nodes of their rounds."""
    spans = [range(a, b) for a, b in game.betting.spans()]
    return [
        (b, spans[board.round]) for b, board in enumerate(game.deal.boards) if board.round < streets
    ]


def _values_of(answer: Answer, streets: int, player: int) -> NDArray[np.float32]:
    parts = []
    for board, nodes in _nodes(answer.game, streets):
        values = answer.value_rows(player, board)
        parts += [values[node].astype(np.float32) for node in nodes]
    return np.concatenate(parts)


def _kept_values(
    game: Game, streets: int, arrays: dict[str, NDArray[Any]], finite: bool
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
    for player in (0, 1):
        size = (at[player],)
        restoring.array(arrays, f"values_{player}", size, np.dtype("float32"), finite=finite)
    return list(boards)
