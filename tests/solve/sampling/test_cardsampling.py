"""Sampling on dealt cards: bit for bit as a slow walk, and right where the answer is known."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from equipoise.abstraction.boardindex import (
    BOARD_CLASSES,
    RENAMED_COMBO,
    board_place,
)
from equipoise.abstraction.lookup import lookup
from equipoise.cards.combos import CLASS_SIZE, COMBO_CLASS, combo_index
from equipoise.cards.evaluator import evaluate
from equipoise.errors import ArtefactError, SolverError
from equipoise.games.betting import Betting, measure
from equipoise.games.catalogue import leduc
from equipoise.games.library.jamfold import jamfold
from equipoise.games.library.smalldeck import holdem_small
from equipoise.games.menu import BetMenu
from equipoise.games.nodes import DEAL, SHOWDOWN
from equipoise.games.rules import LIMIT_HOLDEM, Rules
from equipoise.run import Limit
from equipoise.solve.sampling.cardsampling import CardGame, CardSampling
from equipoise.solve.sampling.cardwalk import deal_holdem
from equipoise.solve.sampling.deals import GameDealer, HoldemDealer
from equipoise.solve.sampling.rows import CardRows, CardStrategy, table_bytes
from equipoise.solve.solvers.cfr import CFRPlus

F = np.float32
MASK = (1 << 64) - 1
#: No-limit, all-in on any street, three sizes to choose from.
SHALLOW = Rules("shallow", False, (2, 1), (1, 0, 0, 0), stacks=(12, 12))


@pytest.fixture(scope="module")
def features():
    """Features of no meaning: any will do to compare two look-ups."""
    tables = [COMBO_CLASS.astype(np.uint16)]
    for size in (3, 4, 5):
        rows = np.arange(BOARD_CLASSES[size], dtype=np.uint16)[:, None]
        table = rows * np.uint16(13) + np.arange(1326, dtype=np.uint16) * np.uint16(7)
        table &= np.uint16(7)
        tables.append(table)
    return tables


@pytest.fixture(scope="module")
def dealer(features):
    """Every hand before the flop; the flop remembers nothing, the turn the flop."""
    eight = np.arange(8, dtype=np.uint16)[None]
    remember = (np.arange(8)[:, None] * 4 + np.arange(8) // 2).astype(np.uint16)
    children = [np.arange(169, dtype=np.uint16)[None], eight, remember, eight // np.uint16(2)]
    return HoldemDealer(lookup(features, children))


# ------------------------------------------------------------------------------- the slow twin


class Stream:
    """The random numbers of a thread, in plain integers."""

    def __init__(self, state):
        self.state = int(state)

    def number(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def unit(self):
        return (self.number() >> 11) * 2.0**-53


def slow_holdem(dealer):
    """Deal nine cards; buckets by renaming boards and hands, result by the evaluator."""
    tables = dealer.lookup

    def deal(stream):
        deck, drawn = list(range(52)), []
        for count in (4, 5):
            fraction = stream.number() & ((1 << 58) - 1)
            for _ in range(count):
                fraction *= 52 - len(drawn)
                i, j = len(drawn), len(drawn) + (fraction >> 58)
                fraction &= (1 << 58) - 1
                deck[i], deck[j] = deck[j], deck[i]
                drawn.append(deck[i])
        assert len(set(drawn)) == 9
        board = drawn[4:]
        buckets = []
        for hole in (drawn[:2], drawn[2:4]):
            combo = combo_index(*hole)
            path = [int(tables.preflop_child[0, tables.preflop_feature[combo]])]
            for size, feature, child in (
                (3, tables.flop_feature, tables.flop_child),
                (4, tables.turn_feature, tables.turn_child),
                (5, tables.river_feature, tables.river_child),
            ):
                place, renaming = board_place(board[:size])
                found = feature[place, RENAMED_COMBO[renaming, combo]]
                path.append(int(child[path[-1] if len(child) > 1 else 0, found]))
            buckets.append(path)
        mine, theirs = (evaluate([*hole, *board]) for hole in (drawn[:2], drawn[2:4]))
        return buckets, [np.sign(mine - theirs)] * 4

    return deal


def slow_listed(dealer):
    """Draw a line of the list, by the alias method."""
    deals = dealer._deals

    def deal(stream):
        spot = stream.unit() * len(deals.keep)
        line = int(spot)
        if spot - line >= deals.keep[line]:
            line = int(deals.other[line])
        bucket = deals.bucket[line].astype(int)
        return [bucket[0::2].tolist(), bucket[1::2].tolist()], deals.result[line].tolist()

    return deal


class SlowSampling:
    """The same walks over the betting tree as it is written, one number at a time."""

    def __init__(self, solver, deal):
        self.solver, self.deal = solver, deal
        self.betting, self.layout = solver.cards.betting, solver.layout
        self.rows = np.zeros_like(solver.rows)
        self.stream = Stream(solver.streams[0])
        self.iteration = self.skipped = self.early = 0

    def advance(self, count):
        solver, rule = self.solver, self.solver._rule
        for _ in range(count):
            self.iteration += 1
            for player in (0, 1):
                self.buckets, self.result = self.deal(self.stream)
                self.weight = F(self.iteration if solver.linear else 1)
                self.pruning = False
                if self.iteration > rule.prune_after:
                    self.pruning = self.stream.unit() < rule.prune_share
                self.floor = -F(rule.floor_chips) * self.weight
                self.threshold = -F(rule.prune_chips) * self.weight
                self.player = player
                self.walk(0)

    def past_deals(self, node):
        betting = self.betting
        while betting.kind[node] == DEAL:
            node = int(betting.next_root[node])
        return node

    def walk(self, node):
        betting = self.betting
        node = self.past_deals(node)
        kind, street = int(betting.kind[node]), betting.round_of(node)
        if kind > 1:
            self.early += kind == SHOWDOWN and street + 1 < betting.rounds
            sign = -1 if self.player else 1
            result = F(sign * self.result[street])
            return F(betting.even[node, self.player]) + F(betting.swing[node]) * result
        block = self.layout.block(self.rows, node)[self.buckets[kind][street]]
        regrets, average = block
        positive = [max(r, F(0)) for r in regrets]
        total = F(0)
        for part in positive:
            total += part
        actions, children = len(positive), betting.children(node)
        if kind != self.player:
            if total > 0:
                left, scale, chosen = F(self.stream.unit()) * total, self.weight / total, 0
                for a, part in enumerate(positive):
                    average[a] += part * scale
                    if left >= 0 and part > 0:
                        chosen = a
                    left -= part
            else:
                chosen = int(self.stream.unit() * actions)
                average += self.weight / F(actions)
            return self.walk(children[chosen])
        skipped = set()
        if self.pruning and street + 1 < betting.rounds and total > 0:
            skipped = {
                a
                for a, child in enumerate(children)
                if regrets[a] < self.threshold and betting.kind[self.past_deals(child)] < 2
            }
        self.skipped += len(skipped)
        values = {a: self.walk(child) for a, child in enumerate(children) if a not in skipped}
        mean, plain = F(0), F(0)
        for a, value in values.items():
            mean += positive[a] * value
            plain += value
        worth = mean / total if total > 0 else plain / F(actions)
        for a, value in values.items():
            regrets[a] = max(regrets[a] + self.weight * (value - worth), self.floor)
        return worth


def compare(solver, twin, iterations):
    solver.advance(iterations)
    twin.advance(iterations)
    assert solver.rows.any()
    np.testing.assert_array_equal(solver.rows, twin.rows)
    assert int(solver.streams[0]) == twin.stream.state


@pytest.mark.parametrize("linear", [True, False])
def test_walks_listed_deals_as_the_slow_twin(linear):
    game = CardGame.of(holdem_small("short", menu="100%,a"))
    solver = CardSampling(game, seed=3, linear=linear, prune=0.5, prune_after=50)
    twin = SlowSampling(solver, slow_listed(game.dealer))
    compare(solver, twin, 600)
    assert twin.skipped > 50
    assert twin.early > 50


@pytest.mark.parametrize("rules", [SHALLOW, LIMIT_HOLDEM], ids=["no-limit", "limit"])
def test_walks_holdem_as_the_slow_twin(dealer, rules):
    menu = BetMenu.full() if rules.limit else BetMenu.parse("50%,100%,a")
    game = CardGame("cards", Betting.build(rules, menu), dealer)
    solver = CardSampling(game, seed=4, prune=0.02, prune_after=20)
    twin = SlowSampling(solver, slow_holdem(dealer))
    compare(solver, twin, 60 if rules.limit else 250)
    assert twin.skipped > 5
    assert (twin.early > 0) != rules.limit


# ------------------------------------------------------------------------------------- quality


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
    assert solver.average_strategy().rows(0).shape == (game.betting.count[0], 66)


def test_real_cards_play_jam_or_fold(features):
    """All-in before the flop with every hand: the exact chart judges what the cards taught."""
    game, none = jamfold(10), np.zeros((1, 8), dtype=np.uint16)
    hands = np.arange(169, dtype=np.uint16)[None]
    dealer = HoldemDealer(lookup(features, [hands, none, none, none]))
    solver = CardSampling(CardGame("jam", game.betting, dealer, game), seed=1)
    solver.advance(600_000)
    assert solver.exploitability() < 0.012 * game.unit_chips
    assert solver.value() == pytest.approx(-0.0907, abs=0.01)


def test_deals_are_fair(dealer):
    """Classes of both players' hands come as often as there are combinations in them."""
    solver = CardSampling(
        CardGame("cards", Betting.build(LIMIT_HOLDEM, BetMenu.full()), dealer), seed=9
    )
    stack, state, deals = solver._stacks[0], solver.streams[0], 60_000
    seen, cards, result = np.zeros((2, 169)), np.zeros((5, 52)), 0.0
    for _ in range(deals):
        state = np.uint64(deal_holdem(dealer._deals, state, stack))
        seen[0, stack.bucket[0]] += 1
        seen[1, stack.bucket[1]] += 1
        cards[np.arange(5), stack.board] += 1
        result += stack.result[0]
    for counts, chances in [(row, CLASS_SIZE / 1326) for row in seen] + [
        (row, np.full(52, 1 / 52)) for row in cards
    ]:
        expected = deals * chances
        statistic = ((counts - expected) ** 2 / expected).sum()
        freedom = len(counts) - 1
        assert abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)
    assert abs(result) < 5 * np.sqrt(deals)


# -------------------------------------------------------------------------------------- layout


def test_subtrees_are_stretches_of_their_own():
    betting = Betting.build(LIMIT_HOLDEM, BetMenu.full())
    buckets = np.array([[3, 4], [5, 6], [7, 8], [9, 10]])
    layout = CardRows(betting, buckets)
    assert sorted(layout.decisions.tolist()) == np.flatnonzero(betting.kind < 2).tolist()
    rows = np.zeros(layout.size, dtype=np.float32)
    for node in layout.decisions.tolist():
        block = layout.block(rows, node)
        assert block.shape == (layout.width(node), 2, betting.count[node])
        block += 1
    assert (rows == 1).all()
    assert table_bytes(measure(LIMIT_HOLDEM, BetMenu.full()), buckets) == rows.nbytes
    ends = [0, *(s.last for s in layout.subtrees)]
    trunk = layout.subtrees[0].first
    assert [s.first for s in layout.subtrees] == [trunk, *ends[1:-1]]
    assert ends[-1] == layout.size
    for node in layout.decisions.tolist():
        begun = betting.states[node].history[0]
        homes = [s for s in layout.subtrees if betting.states[s.node].history[0] == begun]
        at = int(layout.base[node])
        if betting.round_of(node) == 0:
            assert at < trunk
        else:
            assert [s.first <= at < s.last for s in homes] == [True]


def test_average_strategy_by_bucket():
    betting = Betting.build(LIMIT_HOLDEM, BetMenu.full())
    layout = CardRows(betting, np.full((4, 2), 6))
    rows = np.zeros(layout.size, dtype=np.float32)
    rng = np.random.default_rng(1)
    for node in layout.decisions.tolist():
        layout.block(rows, node)[1:, 1] = rng.random((5, int(betting.count[node])))
    strategy = layout.average(rows)
    for node in layout.decisions[::37].tolist():
        table, sums = strategy.rows(node), layout.block(rows, node)[:, 1]
        np.testing.assert_allclose(table[:, 1:], (sums[1:] / sums[1:].sum(1, keepdims=True)).T)
        np.testing.assert_allclose(table[:, 0], 1 / len(table))
    with pytest.raises(SolverError, match="another betting tree"):
        CardStrategy(layout, strategy.probabilities[1:])
    with pytest.raises(SolverError, match="no decision"):
        strategy.rows(int(np.flatnonzero(betting.kind > 1)[0]))
    with pytest.raises(SolverError, match="no decision"):
        layout.block(rows, int(np.flatnonzero(betting.kind > 1)[0]))


# --------------------------------------------------------------------------------- checkpoints


def test_resumes_bit_for_bit(tmp_path):
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
    assert (other.rows != straight.rows).any()


def test_foreign_and_damaged_checkpoints_are_refused(tmp_path, dealer, features):
    path = tmp_path / "cards.eq"
    betting = Betting.build(SHALLOW, BetMenu.parse("a"))
    game = CardGame("cards", betting, dealer)
    CardSampling(game).save(path)
    assert CardSampling.load(path, game).iteration == 0
    eight = np.arange(8, dtype=np.uint16)[None]
    others = lookup(features, [np.arange(169, dtype=np.uint16)[None], eight, eight, eight])
    with pytest.raises(ArtefactError, match="another game or abstraction"):
        CardSampling.load(path, CardGame("cards", betting, HoldemDealer(others)))
    wider = Betting.build(SHALLOW, BetMenu.parse("100%,a"))
    with pytest.raises(ArtefactError, match="another game or abstraction"):
        CardSampling.load(path, CardGame("cards", wider, dealer))
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
        "from equipoise.solve.sampling.cardsampling import CardGame, CardSampling\n"
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
    np.testing.assert_array_equal(resumed.rows, fresh.rows)


# ------------------------------------------------------------------------------------ refusals


def test_refusals(dealer):
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
        CardGame("small", small.betting, dealer)
    with pytest.raises(SolverError, match="rounds of betting"):
        CardGame("rounds", holdem_small("short").betting, GameDealer(leduc()))
    with pytest.raises(SolverError, match="other betting"):
        CardGame("judge", leduc().betting, GameDealer(leduc()), small)
    with pytest.raises(SolverError, match="no bucket game"):
        dealer.buckets_of(small)
    with pytest.raises(SolverError, match="cannot be judged"):
        GameDealer(leduc()).buckets_of(small)
    with pytest.raises(SolverError, match="at least one bucket"):
        CardRows(leduc().betting, np.zeros((2, 2), dtype=np.int64))


def test_without_a_judge(dealer):
    game = CardGame("cards", Betting.build(SHALLOW, BetMenu.parse("a")), dealer)
    solver = CardSampling(game)
    event = solver.run(Limit(iterations=100))
    assert event.done == 100
    assert np.isnan(solver.exploitability())
    with pytest.raises(SolverError, match="card_strategy"):
        solver.average_strategy()
    with pytest.raises(SolverError, match="no judge"):
        solver.value()
