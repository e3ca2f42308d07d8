"""The adaptive agent: what its beliefs, decisions and fit take, and thousands of hands of odd sizes.

All times are of the processor, on one core, so that they can be had on a machine that does other things too.

- *Beliefs.* On flops that nobody looked at before: what the first sight of the flop takes (hands that are
  gone, the agent's equity against each that is left, and with the document's φ q_win of each), then a bet of
  either player (Bayes' rule for one range); then the same on turns and rivers. Figures are medians over
  deals: a single one may meet a pause.
- *Odd sizes.* A match against `odd-sizes`, in which every action must be legal, every value, belief and
  number in memory finite and memory full at no more than it holds.
- *The fit.* The hands that ship, over and over until they are as many as those of the model that ships.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from equipoise.agents.adaptive.agent import AdaptiveAgent
from equipoise.agents.adaptive.beliefs import Beliefs, RangeRecursion
from equipoise.agents.adaptive.decisions import Decisions
from equipoise.agents.adaptive.expectimax import Choice
from equipoise.agents.adaptive.fitting import fit_players
from equipoise.agents.adaptive.memory import MOST_COUNT
from equipoise.agents.adaptive.model import SHIPPED, shipped
from equipoise.agents.adaptive.opponent import Opponent
from equipoise.arena.histories.played import played_hands, shipped_log
from equipoise.arena.match import play_match
from equipoise.bench.figures import figure
from equipoise.bench.oddbets import play_odd_bets
from equipoise.cards.card import DECK_SIZE
from equipoise.cards.streets import BOARD_SIZES, STREETS
from equipoise.games.checkdown import CheckDown
from equipoise.games.hand import HandResult, View
from equipoise.games.rules import NOLIMIT_HOLDEM, Rules, State, raise_to
from equipoise.solve.sweep.blas import on_one_thread

ODD_HANDS = 10_000
STATION_HANDS = 400
WARM_UP_HANDS = 300
DEALS = 24
FITTED_HANDS = 25_000
#: Milliseconds that a bet and the first sight of a flop may take, and anything on later streets.
BET_MS, FLOP_MS, LATER_MS = 20.0, 75.0, 10.0
#: MB that a match may add to what the process holds.
GROWN_MB = 50.0


def run(seed: int = 0) -> dict[str, Any]:
    """Measure everything."""
    on_one_thread()
    figures = [*belief_figures(seed), *odd_figures(seed)]
    station = Careful(NOLIMIT_HOLDEM)
    began = process_time()
    play_match(station, "station", NOLIMIT_HOLDEM, STATION_HANDS, seed)
    speed = STATION_HANDS / (process_time() - began)
    figures += [
        figure("hands a second of the processor, v station", speed, "hands/s", at_least=15),
        figure(f"fit to {FITTED_HANDS:,} hands, without reading them", fit_seconds(), "s",
               at_most=60),
    ]  # fmt: skip
    return {"suite": "adaptive", "seed": seed, "figures": figures}


class Careful(AdaptiveAgent):
    """Counts what its decisions take, and stops at the first number that is none."""

    def __init__(self, rules: Rules, **settings: Any) -> None:
        super().__init__(rules, **settings)
        #: Seconds of the processor of each decision.
        self.taken: list[float] = []

    def decide(self, view: View) -> Choice:
        """As ever, and a look at what it is decided by."""
        began = process_time()
        found = super().decide(view)
        self.taken.append(process_time() - began)
        beliefs = self.believe(view.hand, view.position, view.hole, view.board, view.state)
        if not np.isfinite(found.value) or not np.isclose(beliefs.p.sum(), 1):
            raise FloatingPointError(f"a value of {found.value}, beliefs of {beliefs.p.sum()}")
        return found

    def observe(self, result: HandResult) -> None:
        """As ever, and a look at the memory."""
        super().observe(result)
        memory = self.memory
        assert memory is not None
        for counts in (memory.sums, memory.numbers, memory.fine, memory.coarse, memory.sizes):
            if not (np.abs(counts) <= MOST_COUNT).all():
                raise FloatingPointError(f"memory holds {np.abs(counts).max()}")


def odd_figures(seed: int, hands: int = ODD_HANDS) -> list[dict[str, Any]]:
    """A match against odd sizes."""
    agent = Careful(NOLIMIT_HOLDEM)
    play_odd_bets(agent, NOLIMIT_HOLDEM, min(WARM_UP_HANDS, hands), seed + 1, name="adaptive")
    agent.taken.clear()
    began = process_time()
    seen = play_odd_bets(agent, NOLIMIT_HOLDEM, hands, seed, name="adaptive")
    took = process_time() - began
    before, after = seen.memory_mb
    what = f"in {seen.hands:,} hands of odd sizes"
    return [
        figure(f"illegal actions, exceptions, NaN {what}{': ' if seen.first else ''}{seen.first}",
               seen.illegal + seen.exceptions, "", at_most=0),
        figure(f"memory grown {what}", after - before, "MB", at_most=GROWN_MB),
        figure(f"slowest decision of {seen.decisions:,}", max(agent.taken), "s", at_most=1),
        figure("median decision", 1000 * median(agent.taken), "ms"),
        figure("hands a second of the processor, v odd sizes", seen.hands / took, "hands/s",
               at_least=15),
    ]  # fmt: skip


def belief_figures(seed: int, deals: int = DEALS) -> list[dict[str, Any]]:
    """Milliseconds of belief updates, for every φ that ships."""
    figures = []
    for features in SHIPPED:
        # The first deals load kernels and open tables.
        for part, (first, last) in (("warm-up", (0, 4)), ("", (4, 4 + deals))):
            times: dict[str, list[float]] = defaultdict(list)
            for number in range(first, last):
                _believe(features, Random(f"{seed} {features} {number}"), times)
            if part:
                continue
            for what, taken in times.items():
                early = what.startswith("flop")
                most = (FLOP_MS if "first sight" in what else BET_MS) if early else LATER_MS
                told = f"beliefs, φ {features}: {what}, median of {deals} deals"
                figures.append(figure(told, 1000 * median(taken), "ms", at_most=most))
    return figures


def _believe(features: str, random: Random, times: dict[str, list[float]]) -> None:
    """Follow a hand in which both players bet on every street."""
    cards = random.sample(range(DECK_SIZE), 7)
    player = Opponent(shipped(features))
    game = CheckDown(NOLIMIT_HOLDEM)
    recursion = RangeRecursion(NOLIMIT_HOLDEM, game, player)
    beliefs = Beliefs(NOLIMIT_HOLDEM, (cards[0], cards[1]), game, player, recursion)

    @contextmanager
    def timed(what: str) -> Iterator[None]:
        """Time an update, and what follows from it: p_win, and q_win where φ asks for it."""
        began = process_time()
        yield
        _ = beliefs.win
        if player.needs_winning_chances:
            recursion.winning()
        times[what].append(process_time() - began)

    betting, chips = "r300c/", 300
    for number in (1, 2, 3):
        street, board = STREETS[number], tuple(cards[2 : 2 + BOARD_SIZES[number]])
        state = State.from_betting_text(NOLIMIT_HOLDEM, betting)
        with timed(f"{street}, first sight"):
            beliefs.see(board)
        with timed(f"{street}, a bet of the opponent"):
            beliefs.opponent_acts(state, raise_to(2 * chips))
        with timed(f"{street}, a bet of the agent"):
            beliefs.agent_acts(state.apply(raise_to(2 * chips)), raise_to(4 * chips))
        betting, chips = f"{betting}r{2 * chips}r{4 * chips}c/", 4 * chips


def fit_seconds(hands: int = FITTED_HANDS) -> float:
    """Seconds of the processor that a fit takes."""
    with shipped_log() as path:
        few = list(played_hands([path]))
    played = [few[number % len(few)] for number in range(hands)]
    decisions = Decisions.of(played)
    began = process_time()
    fit_players(decisions)
    return process_time() - began
