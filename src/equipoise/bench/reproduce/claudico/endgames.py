"""Rivers by buckets beside the exact river, and who bluffs on them.

The article's endgame solver puts hands into buckets by equity. On spots A and B the strategy of the
buckets is played with real hands, and a best response with real hands says what that costs. Its
author's example of what equity does not see: on Js Ts 4s Kc Qh both 3s2c and 3c2c have the worst hand
there is, but only the first keeps the opponent from holding some flushes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.bench.reproduce.claudico.spots import EXACT_EV_OOP_CHIPS, SPOTS
from equipoise.cards.combos import parse_combo
from equipoise.run import Event, Listener
from equipoise.solve.spots.bucketedriver import BUCKETINGS, solve_river
from equipoise.solve.spots.solution import Solution

Data = dict[str, Any]

COUNTS, QUICK_COUNTS = (2, 4, 8, 12, 20, 40, 80), (4, 8, 20, 40)
#: Hands that make nothing on spots B and C, with a spade and without.
BLUFFS = ("3s2c", "3c2c")


def bucket_curves(quick: bool, progress: Listener) -> Data:
    """Exploitability in % of the pot by spot, bucketing and number of buckets."""
    found: Data = {}
    counts = QUICK_COUNTS if quick else COUNTS
    for name in ("A", "B"):
        rows: list[Data] = []
        for bucketing in BUCKETINGS:
            for count in counts:
                progress(Event(len(rows), len(counts) * len(BUCKETINGS), f"spot {name}"))
                solved = solve_river(SPOTS[name], count, bucketing)
                assert solved.program is not None
                rows.append(
                    {
                        "bucketing": bucketing,
                        "buckets": count,
                        "exploitability_pct_pot": solved.exploitability_pct_pot,
                        "program_share_of_pot": solved.program.ev_oop_chips / solved.pot,
                        "seconds": solved.seconds,
                    }
                )
        found[name] = rows
    return found


def exact_rivers(quick: bool, progress: Listener) -> Data:
    """The exact linear programs; the largest is left out of a quick run."""
    found: Data = {}
    for name, spot in SPOTS.items():
        if quick and name == "A":
            continue
        progress(Event(0, what=f"spot {name}, all hands"))
        solved = solve_river(spot)
        found[name] = {
            "ev_oop_chips": solved.to_dict()["ev_oop_chips"],
            "wanted_ev_oop_chips": EXACT_EV_OOP_CHIPS[name],
            "exploitability_pct_pot": solved.exploitability_pct_pot,
            "seconds": solved.seconds,
        }
        if name != "A":
            found[name]["overbets"] = {hand: overbet(solved, hand) for hand in BLUFFS}
    return found


def overbet(solved: Solution, hand: str) -> float:
    """How often a hand bets more than the pot at the start of a spot."""
    position = solved.at()
    hands = position.hands(position.decider()).tolist()
    play = np.asarray(position.strategy())[:, hands.index(parse_combo(hand))]
    large = [
        word.startswith("allin") or (word.startswith("bet") and int(word.split()[1]) > solved.pot)
        for word in position.actions
    ]
    return float(play[np.array(large)].sum())


def bluffs_by_buckets(quick: bool) -> list[Data]:
    """How often both hands jam on spot C, by buckets."""
    wanted = [("quantile", 20), ("width", 20), ("blockers", 20)]
    if not quick:
        wanted += [("quantile", 8), ("quantile", 40), ("quantile", 80)]
        wanted += [("blockers", 40), ("blockers", 80)]
    rows = []
    for bucketing, count in wanted:
        solved = solve_river(SPOTS["C"], count, bucketing)
        jams = {hand: overbet(solved, hand) for hand in BLUFFS}
        rows.append({"bucketing": bucketing, "buckets": count, "jams": jams})
    return rows
