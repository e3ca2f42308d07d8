"""What endgames add at the table, river by river, without the luck of cards.

Before the river Claudico plays alike with endgames and without. So hands are played to the river without
them; there, from the ranges that both players really have (thresholds and all), what it wins with an
endgame solver and what it wins with its blueprint are computed exactly: every pair of hands, every line,
both policies asked wherever they lead (:mod:`equipoise.arena.measures.exact`). The difference, 0 for
hands that end before, has the mean of what endgames add in a match, and no card luck is left in it but that
of which river it is. Every deal is played from both seats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.agents.agent import Agent
from equipoise.arena.measures.endgames import play_into
from equipoise.arena.measures.exact import exact_endgame
from equipoise.arena.statistics import estimate
from equipoise.games.belief import Belief
from equipoise.games.dealing import SeededDeals
from equipoise.games.rules import NOLIMIT_HOLDEM, Rules
from equipoise.run import Event, Listener

Data = dict[str, Any]


def added_by_endgames(
    plain: Agent,
    solving: Agent,
    opponent: Agent,
    hands: int,
    seed: int,
    rules: Rules = NOLIMIT_HOLDEM,
    progress: Listener | None = None,
) -> Data:
    """What an agent that solves rivers wins more than its plain self from an opponent."""
    last, deals = rules.rounds - 1, SeededDeals(rules, seed)
    rates: list[float] = []
    pots: list[float] = []
    rivers = 0
    for pair in range(hands // 2):
        both = 0.0
        for seat in (0, 1):
            if progress is not None:
                progress(Event(2 * pair + seat, hands, "rivers with and without endgames"))
            trunk = (plain, opponent) if seat == 0 else (opponent, plain)
            root = play_into(trunk, deals, last, pair)
            if root is None:
                continue
            rivers += 1
            ranges = (Belief(rules, root.ranges[0]), Belief(rules, root.ranges[1]))
            values = []
            for mine in (solving, plain):
                players = (mine, opponent) if seat == 0 else (opponent, mine)
                won = exact_endgame(players, root.state, root.board, ranges, root.number)
                values.append(won if seat == 0 else -won)
            both += values[0] - values[1]
            pots.append((values[0] - values[1]) / root.state.pot)
        rates.append(both / 2 * 1000 / rules.big_blind)
    found = estimate(rates)
    return {
        "hands": 2 * (hands // 2),
        "rivers": rivers,
        "mbb_per_hand": found.mean,
        "ci95_mbb": found.half_width,
        "pct_of_river_pot": 100 * float(np.mean(pots)) if pots else 0.0,
        "fallbacks": solving.fallbacks,
    }
