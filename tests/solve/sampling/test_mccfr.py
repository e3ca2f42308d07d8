"""Sampling solvers: convergent, reproducible, resumable, on small games and on real cards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from threesuits import three_suits

from equipoise import artefact
from equipoise.abstraction.lookup import lookup
from equipoise.errors import ArtefactError, SolverError, TooLargeError
from equipoise.games.betting import Betting
from equipoise.games.catalogue import kuhn, leduc
from equipoise.games.library.jamfold import jamfold
from equipoise.games.library.smalldeck import holdem_small
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Rules
from equipoise.run import Limit
from equipoise.solve.sampling.deals import HoldemDeals, ListedDeals
from equipoise.solve.sampling.mccfr import (
    CardGame,
    CardSampling,
    ChanceSampling,
    ExternalSampling,
    MonteCarloCFR,
    OutcomeSampling,
)
from equipoise.solve.solvers.cfr import CFRPlus

SCHEMES = (ExternalSampling, OutcomeSampling, ChanceSampling)
SHALLOW = Rules("shallow", False, (2, 1), (1, 0, 0, 0), stacks=(12, 12))


@pytest.mark.parametrize(
    ("scheme", "on_kuhn", "on_leduc"),
    [(ExternalSampling, 0.005, 0.025), (OutcomeSampling, 0.012, 0.13), (ChanceSampling, 0.005, 0.018)],
)  # fmt: skip
def test_converges(scheme, on_kuhn, on_leduc):
    for game, iterations, bound in ((kuhn(), 200_000, on_kuhn), (leduc(), 500_000, on_leduc)):
        solver = scheme(game, seed=7)
        solver.advance(iterations)
        assert solver.exploitability() < bound
    assert solver.value() == pytest.approx(-0.0856, abs=0.02)


@pytest.mark.parametrize("options", [{"linear": True}, {"clipped": True}])
def test_options_converge_too(options):
    solver = ExternalSampling(leduc(), seed=7, **options)
    solver.advance(500_000)
    assert solver.exploitability() < 0.05
    assert (solver.regrets.min() >= 0) == options.get("clipped", False)


def test_linear_weights():
    """Weights 1 to 3 make the plan of a player's first decision add up to six walks."""
    solver = ExternalSampling(kuhn(), seed=1, linear=True)
    solver.advance(3)
    assert solver.tableau.index.block(solver.plan, 0, 0).sum() == pytest.approx(1 + 2 + 3)


def test_merged_suits_converge_and_stay_symmetric():
    solver = ExternalSampling(three_suits(), seed=3)
    solver.advance(100_000)
    block = solver.tableau.index.block(solver.plan, 0, 0)
    np.testing.assert_array_equal(block[:, 0], block[:, 2])
    assert solver.exploitability() < 0.03


@pytest.mark.parametrize("scheme", SCHEMES)
def test_resumes_bit_for_bit(scheme, tmp_path):
    path = tmp_path / "half.eq"
    straight, half = scheme(leduc(), seed=9), scheme(leduc(), seed=9)
    straight.advance(3000)
    half.run(Limit(iterations=1000), checkpoint=path)
    resumed = scheme.load(path, leduc())
    resumed.advance(2000)
    assert resumed.iteration == straight.iteration
    for name, array in straight.arrays().items():
        np.testing.assert_array_equal(resumed.arrays()[name], array)
    other = scheme(leduc(), seed=10)
    other.advance(3000)
    assert (other.plan != straight.plan).any()
    with pytest.raises(ArtefactError):
        MonteCarloCFR.load(path, leduc())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_threads_agree_statistically(scheme):
    # How often threads get in each other's way is up to the machine.
    bound = 0.16 if scheme is OutcomeSampling else 0.03
    solver = scheme(leduc(), seed=7, threads=2)
    solver.advance(500_001)
    assert solver.iteration == 500_001
    assert solver.exploitability() < bound
    # Every walk of a player passes the other's first decision, less what a race may lose; a mixture
    # read while it is written may sum to a little more than 1.
    first = solver.tableau.index.block(solver.plan, 0, 0).sum()
    assert 0.9 * 500_001 < first < 1.0001 * 500_001


def test_what_is_refused_of_small_games():
    with pytest.raises(SolverError, match="scheme 'robust'"):
        MonteCarloCFR(kuhn(), scheme="robust")
    with pytest.raises(SolverError, match="exploration"):
        OutcomeSampling(kuhn(), exploration=0)
    with pytest.raises(SolverError, match="threads"):
        ExternalSampling(kuhn(), threads=0)
    with pytest.raises(SolverError, match="seed"):
        ExternalSampling(kuhn(), seed=-1)
    with pytest.raises(TooLargeError, match=r"24 complete deals.*dcfr"):
        ExternalSampling(leduc(), most_deals=20)


# --------------------------------------------------------------------------------- real cards


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"prune": 20.0, "prune_after": 50_000}])
def test_small_deck_below_one_percent_of_the_pot(options):
    game = holdem_small("flop", menu="50%,100%,a")
    solver, exact = CardSampling(CardGame.of(game), seed=2, **options), CFRPlus(game)
    solver.advance(1_000_000)
    exact.advance(300)
    pot = sum(game.betting.rules.blinds)
    assert solver.iteration == 1_000_000
    assert solver.exploitability() < 0.01 * pot
    assert solver.value() == pytest.approx(exact.value(), abs=0.01 * pot)
    # The same strategy, told by board and hand.
    assert solver.judged_strategy().rows(0).shape == (game.betting.count[0], 66)


def test_real_cards_play_jam_or_fold(features):
    """All-in before the flop with every hand: the exact chart judges what the cards taught."""
    game, none = jamfold(10), np.zeros((1, 8), dtype=np.uint16)
    hands = np.arange(169, dtype=np.uint16)[None]
    deals = HoldemDeals(lookup(features, [hands, none, none, none]))
    solver = CardSampling(CardGame("jam", game.betting, deals, game), seed=1)
    solver.advance(600_000)
    assert solver.exploitability() < 0.012 * game.unit_chips
    assert solver.value() == pytest.approx(-0.0907, abs=0.01)


def test_real_cards_resume_bit_for_bit(tmp_path):
    path, game = tmp_path / "half.eq", CardGame.of(leduc())
    options = {"seed": 9, "prune": 1.0, "prune_after": 500}
    straight, half = CardSampling(game, **options), CardSampling(game, **options)
    straight.advance(3000)
    half.run(Limit(iterations=1000), checkpoint=path)
    resumed = CardSampling.load(path, CardGame.of(leduc()))
    resumed.advance(2000)
    assert resumed.iteration == straight.iteration
    for name, array in straight.arrays().items():
        np.testing.assert_array_equal(resumed.arrays()[name], array)
    other = CardSampling(game, **{**options, "seed": 10})
    other.advance(3000)
    assert (other.sampler.rows != straight.sampler.rows).any()


def test_checkpoints_of_older_versions_go_on(tmp_path, deals):
    """Files written before sampling on cards was a solver like the others say less of themselves."""
    path = tmp_path / "old.eq"
    game = CardGame("cards", Betting.build(SHALLOW, BetMenu.parse("100%,a")), deals)
    straight, half = (CardSampling(game, seed=9, prune_after=100) for _ in range(2))
    straight.advance(500)
    half.advance(200)
    configuration = {
        "game": "cards",
        "game_fingerprint": game.fingerprint(),
        "solver": "cards",
        "settings": {
            "seed": 9,
            "linear": True,
            "prune": 100.0,
            "prune_share": 0.95,
            "prune_after": 100,
        },
    }
    arrays = {"rows": half.sampler.rows, "streams": half.sampler.streams}
    artefact.write(path, "card solver", configuration, arrays, iteration=200)
    resumed = CardSampling.load(path, game)
    assert resumed.settings() == straight.settings()
    resumed.advance(300)
    assert resumed.iteration == 500
    np.testing.assert_array_equal(resumed.sampler.rows, straight.sampler.rows)
    np.testing.assert_array_equal(resumed.sampler.streams, straight.sampler.streams)


def test_foreign_and_damaged_checkpoints_are_refused(tmp_path, deals, features):
    path = tmp_path / "cards.eq"
    betting = Betting.build(SHALLOW, BetMenu.parse("a"))
    game = CardGame("cards", betting, deals)
    CardSampling(game).save(path)
    assert CardSampling.load(path, game).iteration == 0
    eight = np.arange(8, dtype=np.uint16)[None]
    others = lookup(features, [np.arange(169, dtype=np.uint16)[None], eight, eight, eight])
    with pytest.raises(ArtefactError, match="another game or abstraction"):
        CardSampling.load(path, CardGame("cards", betting, HoldemDeals(others)))
    wider = Betting.build(SHALLOW, BetMenu.parse("100%,a"))
    with pytest.raises(ArtefactError, match="another game or abstraction"):
        CardSampling.load(path, CardGame("cards", wider, deals))
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArtefactError, match="damaged"):
        CardSampling.load(path, game)
    path.write_bytes(data[:-40])
    with pytest.raises(ArtefactError, match="damaged"):
        CardSampling.load(path, game)


def test_a_killed_run_loses_at_most_an_interval(tmp_path):
    path = tmp_path / "killed.eq"
    program = (
        "from equipoise.games.catalogue import leduc\n"
        "from equipoise.solve.sampling.mccfr import CardGame, CardSampling\n"
        "from equipoise.run import Limit\n"
        "solver = CardSampling(CardGame.of(leduc()), seed=5)\n"
        "solver.advance(1)\n"
        f"solver.run(Limit(seconds=120), checkpoint={str(path)!r}, checkpoint_seconds=0.2)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    try:
        begun = time.monotonic()
        while not path.exists() and time.monotonic() - begun < 60:
            time.sleep(0.02)
        time.sleep(0.5)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    resumed = CardSampling.load(path, CardGame.of(leduc()))
    fresh = CardSampling(CardGame.of(leduc()), seed=5)
    assert resumed.iteration > 0
    fresh.advance(resumed.iteration)
    np.testing.assert_array_equal(resumed.sampler.rows, fresh.sampler.rows)


# ------------------------------------------------------------------------------------ refusals


def test_what_is_refused_of_real_cards(deals):
    game = CardGame.of(leduc())
    for options, told in [
        ({"seed": -1}, "seed"),
        ({"prune": 0.0}, "prune = 0"),
        ({"prune_share": 1.0}, "prune_share"),
        ({"prune_after": -1}, "prune_after"),
        ({"threads": 0}, "threads"),
    ]:
        with pytest.raises(SolverError, match=told):
            CardSampling(game, **options)
    small = holdem_small("flop")
    with pytest.raises(SolverError, match="not dealt as hold'em"):
        CardGame("small", small.betting, deals)
    with pytest.raises(SolverError, match="rounds of betting"):
        CardGame("rounds", holdem_small("short").betting, ListedDeals(leduc()))
    with pytest.raises(SolverError, match="other betting"):
        CardGame("judge", leduc().betting, ListedDeals(leduc()), small)


def test_without_a_judge(deals):
    game = CardGame("cards", Betting.build(SHALLOW, BetMenu.parse("a")), deals)
    solver = CardSampling(game)
    told = []
    event = solver.run(Limit(iterations=100), told.append)
    assert event.done == 100
    assert {one.exploitability_chips for one in told} == {None}
    assert solver.judge is None
    assert solver.average_strategy().rows(0).shape == (game.betting.count[0], 169)
    for ask in (solver.exploitability, solver.value, solver.judged_strategy):
        with pytest.raises(SolverError, match="no judge: give its bucket game"):
            ask()
    with pytest.raises(SolverError, match="limit iterations or seconds"):
        solver.run(Limit(exploitability_bb=0.1))
