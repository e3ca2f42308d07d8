"""Small games: values, convergence and speed of every solver, OpenSpiel beside them in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from equipoise.bench.figures import best_seconds, figure

#: Exploitability in chips a hand after 100 and 1,000 iterations, to be met within a factor of two.
CONVERGENCE: dict[str, dict[str, tuple[float | None, float]]] = {
    "cfr": {"kuhn": (8.2e-3, 9.4e-4), "leduc": (9.6e-2, 1.2e-2)},
    "cfr+": {"kuhn": (1.2e-3, 8.7e-5), "leduc": (1.3e-2, 2.6e-4)},
    "linear": {"kuhn": (1.1e-3, 9.4e-5), "leduc": (3.5e-2, 6.7e-3)},
    "dcfr": {"kuhn": (1.7e-3, 1.5e-4), "leduc": (7.8e-3, 1.5e-4)},
    "pcfr+": {"kuhn": (2.3e-5, 2.4e-8), "leduc": (2.0e-2, 7.1e-4)},
    "egt": {"kuhn": (None, 3e-4), "leduc": (3.3e-2, 2.0e-3)},
}


def run(seed: int = 0) -> dict[str, Any]:
    """Measure everything; OpenSpiel is left out if it is not installed."""
    figures = [
        *_values(seed),
        *_convergence(),
        *_speed(seed),
        *_linear_programs(),
        *_jam_or_fold(),
        *_rhode_island(),
    ]
    return {"suite": "games", "seed": seed, "figures": figures}


def _values(seed: int) -> list[dict[str, Any]]:
    """Distance of each solver's value from the known one, in units of what it reports as error."""
    from equipoise.games.catalogue import game
    from equipoise.run import Limit
    from equipoise.solve.registry import SOLVERS, make_solver

    known = [
        (game("kuhn"), -1 / 18),
        (game("leduc"), -0.0856064241),
        (game("clairvoyance", stack=3), None),
        (game("jamfold", stack=10), None),
    ]
    figures = []
    for solved, value in known:
        if value is None:
            exact = make_solver("lp", solved)
            exact.advance(1)
            value = exact.value()
            figures.append(figure(f"{solved.name}: value by lp", value, "chips"))
        for name, kind in SOLVERS.items():
            settings = {"seed": seed} if kind.samples else {}
            solver = make_solver(name, solved, **settings)
            last = solver.run(Limit(iterations=200_000 if kind.samples else 1000))
            assert last.exploitability_chips is not None
            # The value of a profile lies within its two best responses, whose distance is twice
            # the exploitability; rounding adds a little.
            allowed = 2 * last.exploitability_chips + 1e-9
            off = abs(solver.value() - value)
            figures.append(
                figure(f"{solved.name}, {name}: value off by", off, "chips", at_most=allowed)
            )
    return figures


def _convergence() -> list[dict[str, Any]]:
    from equipoise.games.catalogue import game
    from equipoise.solve.registry import make_solver

    figures = []
    for name, games in CONVERGENCE.items():
        for title, expected in games.items():
            solver = make_solver(name, game(title))
            for iterations, published in zip((100, 1000), expected, strict=True):
                solver.advance(iterations - solver.iteration)
                if published is not None:
                    figures.append(
                        figure(
                            f"{title}, {name}, {iterations} iterations: exploitability",
                            solver.exploitability(),
                            "chips",
                            at_most=2 * published,
                        )
                    )
    return figures


def _speed(seed: int) -> list[dict[str, Any]]:
    from equipoise.games.catalogue import game
    from equipoise.solve.registry import make_solver

    leduc = game("leduc")
    figures = []
    ours: dict[str, float] = {}
    for name, count in (("cfr+", 1000), ("dcfr", 1000), ("external", 100_000)):
        settings = {"seed": seed} if name == "external" else {}
        solver = make_solver(name, leduc, **settings)
        solver.advance(count)
        ours[name] = best_seconds(lambda s=solver, n=count: s.advance(n), 7) / count  # type: ignore[misc]
        figures.append(figure(f"leduc, {name}: an iteration", 1e6 * ours[name], "µs"))
    peers = _open_spiel(seed)
    for name, peer, least in (
        ("cfr+", "CFR+", 100),
        ("dcfr", "CFR+", 100),
        ("external", "external sampling", 50),
    ):
        if peer in peers:
            theirs = peers[peer]
            title = f"leduc, {name}: ours over OpenSpiel's C++ {peer} ({1e6 * theirs:,.0f} µs)"
            figures.append(figure(title, theirs / ours[name], "×", at_least=least))
    return figures


def _open_spiel(seed: int) -> dict[str, float]:
    """Seconds an iteration of OpenSpiel's C++ solvers on Leduc."""
    try:
        import pyspiel
    except ImportError:
        return {}
    leduc = pyspiel.load_game("leduc_poker")
    plus = pyspiel.CFRPlusSolver(leduc)
    plus.evaluate_and_update_policy()

    def many(work: Callable[[], Any], count: int) -> float:
        return best_seconds(lambda: [work() for _ in range(count)], 5) / count

    times = {"CFR+": many(plus.evaluate_and_update_policy, 20)}
    sampler = pyspiel.ExternalSamplingMCCFRSolver(leduc, seed)
    times["external sampling"] = many(sampler.run_iteration, 500)
    return times


def _linear_programs() -> list[dict[str, Any]]:
    from equipoise.games.catalogue import game
    from equipoise.run import Limit
    from equipoise.solve.registry import make_solver

    leduc = game("leduc")
    make_solver("lp", leduc).advance(1)
    figures = [
        figure(
            "leduc: linear program",
            best_seconds(lambda: make_solver("lp", leduc).advance(1), 3),
            "s",
            at_most=1,
        )
    ]
    for title in ("leduc-nolimit", "holdem-small"):
        solved = game(title)
        exact = make_solver("lp", solved)
        exact.advance(1)
        solver = make_solver("dcfr", solved)
        solver.run(Limit(exploitability_chips=4e-7, seconds=300))
        off = abs(exact.value() - solver.value())
        figures.append(figure(f"{title}: lp and dcfr differ by", off, "chips", at_most=1e-6))
    return figures


def _jam_or_fold() -> list[dict[str, Any]]:
    from equipoise.games.catalogue import game
    from equipoise.run import Limit
    from equipoise.solve.registry import make_solver

    # The clock is that of a whole command: the game, then the solve. Kernels are loaded before.
    make_solver("dcfr", game("jamfold", stack=10)).run(Limit(iterations=2))
    began = time.perf_counter()
    solved = game("jamfold", stack=10)
    solver = make_solver("dcfr", solved)
    last = solver.run(Limit(exploitability_chips=1e-6 * solved.unit_chips))
    seconds = time.perf_counter() - began
    value = solver.value() / solved.unit_chips
    assert last.exploitability_chips is not None
    return [
        figure("jam or fold, 10 big blinds: to 0.001 mbb", seconds, "s", at_most=5),
        figure(
            "jam or fold, 10 big blinds: value off −0.04537 bb by",
            abs(value + 0.04537),
            "bb",
            at_most=5e-6 + last.exploitability_chips,
        ),
    ]


def _rhode_island() -> list[dict[str, Any]]:
    from equipoise.games.catalogue import game
    from equipoise.run import Limit
    from equipoise.solve.registry import make_solver

    def build() -> Any:
        return make_solver("dcfr", game("rhode-island"), threads=2)

    build()
    began = time.perf_counter()
    solver = build()
    built = time.perf_counter() - began
    solved = solver.game
    ante = solved.unit_chips
    last = solver.run(Limit(exploitability_chips=0.001 * ante, check_every=20, seconds=1800))
    assert last.exploitability_chips is not None
    return [
        figure("Rhode Island: built in", built, "s"),
        figure("Rhode Island: solved in, 2 threads", last.seconds, "s"),
        figure("Rhode Island: iterations", float(last.done), ""),
        figure(
            "Rhode Island: exploitability",
            last.exploitability_chips / ante,
            "antes",
            at_most=0.001,
        ),
        figure("Rhode Island: value to player 0", solver.value(), "chips (ante 5)"),
    ]
