"""Safe exploitation: its rules in repeated Kuhn poker, and what risk is worth in larger games.

The table of Ganzfried and Sandholm ("Safe opponent exploitation", the journal's) stands beside ours:
chips a hand in seat 0 of Kuhn poker, five rules against four classes of opponents, whose cards are
shown after every hand (:mod:`equipoise.solve.exploitation.repeated`). Ours are exact expectations hand
by hand, so that only opponents and what is seen of them are drawn; they are the same for every rule.

Beside it the curve of Johanson, Zinkevich and Bowling: what restricted Nash responses win from plain
opponents in Leduc hold'em and what they risk, exactly, and by regret minimisation in INOT's buckets.
"""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np

from equipoise.games.catalogue import kuhn, leduc
from equipoise.run import Event, Listener
from equipoise.solve.exploitation.curve import restricted_curve
from equipoise.solve.exploitation.opponents import plain
from equipoise.solve.exploitation.repeated import KINDS, RULES, SAFE, RepeatedGame, Rule
from equipoise.solve.exploitation.restricted import RestrictedNash
from equipoise.solve.exploitation.safe import Exploiter
from equipoise.solve.sweep.tableau import Tableau
from equipoise.solve.training.model import TrainingModel
from equipoise.solve.training.recipe import Recipe

Data = dict[str, Any]

#: Chips a hand in print, by rule: against random, sophisticated, dynamic and equilibrium opponents.
DOCUMENT = {
    "RWYWE": (0.3636, -0.0110, -0.02043, -0.0556),
    "BEFEWP": (0.3553, -0.0115, -0.02138, -0.0556),
    "BEFFE": (0.1995, -0.0131, -0.03972, -0.0556),
    "best equilibrium": (0.1450, -0.0148, -0.03522, -0.0556),
    "best response": (0.4700, 0.0548, -0.12094, -0.0556),
}
#: Rules that win more than the next, by class of opponents; differences are taken opponent by opponent.
ORDER: dict[str, tuple[Rule, ...]] = {
    "random": ("RWYWE", "BEFFE", "best equilibrium"),
    "dynamic": ("RWYWE", "best equilibrium", "BEFFE"),
}
#: What linear programs may miss: of what is risked in a hand, and of what was given so far.
_RISK_ROUNDING, _GIFT_ROUNDING = 1e-6, 1e-5
#: Opponents of a class, and hands of a match.
OPPONENTS, QUICK_OPPONENTS = 20, 3
HANDS, QUICK_HANDS = 1000, 150
#: Seats and opponents whose curve is drawn.
CURVES = ((0, "uniform"), (0, "fold"), (1, "call"), (1, "raise"))
#: The bucketed game, the opponent, the shares of hands in which he stands still, and iterations.
RECIPE, AGAINST = "inot", "call"
SHARES, ITERATIONS = (0.5, 0.9, 0.97), 100


def run(seed: int, quick: bool, progress: Listener) -> Data:
    """Play the matches, and draw the curves; quickly without the bucketed game."""
    opponents, hands = (QUICK_OPPONENTS, QUICK_HANDS) if quick else (OPPONENTS, HANDS)
    return {
        "experiment": "safe",
        "seed": seed,
        "opponents": opponents,
        "hands": hands,
        "repeated": repeated(seed, opponents, hands, progress),
        "curves": curves(progress),
        "bucketed": None if quick else bucketed(progress),
    }


def repeated(seed: int, opponents: int, hands: int, progress: Listener) -> Data:
    """Mean of every rule against every class, and whether the safe ones were safe in every hand."""
    game = RepeatedGame(kuhn(), 0)
    means: dict[Rule, dict[str, list[float]]] = {rule: {} for rule in RULES}
    most_above_gift, least_gift = -np.inf, np.inf
    total, done = len(RULES) * len(KINDS) * opponents, 0
    for number, kind in enumerate(KINDS):
        for rule in RULES:
            found = []
            for which in range(opponents):
                # The same opponent and the same luck for every rule.
                rng = np.random.default_rng([seed, number, which])
                match = game.play(rule, game.opponent(kind, rng), hands, rng)
                found.append(match.mean)
                if rule in SAFE:
                    above = np.array(match.exploitability) - np.array(match.gift)
                    most_above_gift = max(most_above_gift, float(above.max()))
                    least_gift = min(least_gift, min(match.gift))
                done += 1
                progress(Event(done, total, "Kuhn poker again and again"))
            means[rule][kind] = found
    rows = [
        {
            "rule": rule,
            "against": kind,
            "chips": float(np.mean(means[rule][kind])),
            "standard_error": _error(means[rule][kind]),
            "document": DOCUMENT[rule][KINDS.index(kind)],
        }
        for rule in RULES
        for kind in KINDS
    ]
    pairs = [
        _difference(kind, *two, means) for kind, rules in ORDER.items() for two in pairwise(rules)
    ]
    return {
        "value_chips": game.value_chips,
        "rows": rows,
        "differences": pairs,
        "most_risked_above_gift_chips": most_above_gift,
        "least_gift_chips": least_gift,
        "claims": claims(game.value_chips, rows, pairs, most_above_gift, least_gift),
    }


def claims(
    value: float, rows: list[Data], pairs: list[Data], most_above_gift: float, least_gift: float
) -> dict[str, bool]:
    """What must hold: safety hand by hand and on average, and the order of rules."""
    return {
        "no_more_risked_than_given": most_above_gift <= _RISK_ROUNDING
        and least_gift >= -_GIFT_ROUNDING,
        "safe_rules_keep_the_value": all(
            row["chips"] >= value - _RISK_ROUNDING for row in rows if row["rule"] in SAFE
        ),
        "best_response_below_value": all(
            row["chips"] < value
            for row in rows
            if (row["rule"], row["against"]) == ("best response", "dynamic")
        ),
        "rules_stand_in_order": all(pair["chips"] > 0 for pair in pairs),
    }


def _difference(
    kind: str, better: Rule, worse: Rule, means: dict[Rule, dict[str, list[float]]]
) -> Data:
    """What one rule wins more than another from the same opponents."""
    more = [a - b for a, b in zip(means[better][kind], means[worse][kind], strict=True)]
    return {
        "against": kind,
        "rule": better,
        "than": worse,
        "chips": float(np.mean(more)),
        "standard_error": _error(more),
    }


def _error(found: list[float]) -> float:
    return float(np.std(found, ddof=1) / sqrt(len(found))) if len(found) > 1 else 0.0


def curves(progress: Listener) -> list[Data]:
    """What restricted Nash responses win and risk in Leduc hold'em, by the linear program."""
    game, found = leduc(), []
    for number, (player, name) in enumerate(CURVES):
        progress(Event(number, len(CURVES), "Leduc hold'em by the linear program"))
        exploiter = Exploiter(game, player)
        points = restricted_curve(exploiter, plain(game, name))
        found.append(
            {
                "player": player,
                "against": name,
                "exploitability_chips": [one.exploitability_chips for one in points],
                "wins_chips": [one.wins_chips for one in points],
            }
        )
    return found


def bucketed(progress: Listener) -> Data:
    """Restricted Nash responses in the game of INOT's buckets, by regret minimisation."""
    model = TrainingModel(Recipe.load(RECIPE), progress=progress)
    game = model.game
    assert game is not None
    tableau = Tableau(game, "float32", model.threads)
    fixed, rows, value = plain(game, AGAINST), list[Data](), 0.0
    for share in (0.0, *SHARES):
        solver = RestrictedNash(game, 0, fixed, share, tableau=tableau)
        solver.run(ITERATIONS, progress)
        lower, upper = solver.bounds()
        if share == 0.0:
            value = (lower + upper) / 2
        answer = solver.answer(value)
        per_hand = 1000 / game.unit_chips
        rows.append(
            {
                "share": share,
                "objective_mbb": lower * per_hand,
                "gap_mbb": (upper - lower) * per_hand,
                "wins_mbb": answer.wins_chips * per_hand,
                "exploitability_mbb": answer.exploitability_chips * per_hand,
            }
        )
    return {"recipe": RECIPE, "against": AGAINST, "iterations": ITERATIONS, "rows": rows}
