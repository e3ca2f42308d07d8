"""Matches of Claudico's parts: endgames against none, thresholds, large bets in and out; its limps.

All are duplicate matches over the same deals, in big blinds a hundred hands as the competition was
judged, with the interval and the level at which a result is significant, two-sided.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.files import has_blueprint
from equipoise.agents.registry import make_agent
from equipoise.arena.match import play_match
from equipoise.arena.measures.opening import opening_chart
from equipoise.games.rules import NOLIMIT_HOLDEM
from equipoise.run import Event, Listener

Data = dict[str, Any]

#: Settings of Claudico by name.
SETTINGS: dict[str, Data] = {
    "none": {"endgame": "none"},
    "exact": {"endgame": "exact"},
    "lp": {"endgame": "lp"},
    "exact, no large bets": {"endgame": "exact", "large_bets": False},
    "lp, no large bets": {"endgame": "lp", "large_bets": False},
    "none, no thresholds": {"endgame": "none", "postprocess": "raw"},
    "none, purified": {"endgame": "none", "postprocess": "purify"},
}
#: Who meets whom: settings of Claudico, or other agents of the list whose blueprints are here.
MEETINGS = (
    ("exact", "none"),
    ("lp", "none"),
    ("exact", "lp"),
    ("none", "none, no thresholds"),
    ("none", "none, purified"),
    ("exact", "exact, no large bets"),
    ("lp", "lp, no large bets"),
    *((setting, other) for other in ("tartanian5", "tartanian4", "sampled") for setting in ("none", "exact")),
)  # fmt: skip


def significance_of(mean: float, half_width: float) -> float:
    """Level at which a mean differs from 0, two-sided, from its 95 % interval.

    >>> round(significance_of(1.96, 1.96), 3)
    0.95
    """
    if half_width <= 0:
        return 0.0 if mean == 0 else 1.0
    z = abs(mean) / half_width * NormalDist().inv_cdf(0.975)
    return 2 * NormalDist().cdf(z) - 1


def play_all(blueprint: str, hands: int, seed: int, workers: int, progress: Listener) -> list[Data]:
    """Every meeting whose players are here."""

    def player(name: str) -> Agent:
        if name in SETTINGS:
            return make_agent("claudico", blueprint=blueprint, **SETTINGS[name])
        return make_agent(name)

    wanted = [pair for pair in MEETINGS if pair[1] in SETTINGS or has_blueprint(pair[1])]
    rows: list[Data] = []
    for first, second in wanted:
        progress(Event(len(rows), len(wanted), f"{first} v {second}"))
        result = play_match(
            *(player(first), player(second), NOLIMIT_HOLDEM, hands, seed),
            workers=workers,
            allin_equity=True,
        )
        rows.append(
            {
                "a": first,
                "b": second,
                "hands": result.hands,
                "bb_per_100": result.mbb_per_hand / 10,
                "ci95_bb_per_100": result.ci95_mbb / 10,
                "significant_at": significance_of(result.mbb_per_hand, result.ci95_mbb),
                "fallbacks": list(result.fallbacks),
            }
        )
    return rows


def limps(blueprint: str) -> Data:
    """How often Claudico folds, limps and raises on the button, over all hands."""
    agent = make_agent("claudico", blueprint=blueprint, endgame="none")
    shares = opening_chart(agent, NOLIMIT_HOLDEM, "claudico").shares
    return {"ours": shares, "document": {"limp": 0.1}}
