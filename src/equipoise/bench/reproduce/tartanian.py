"""Tartanian5's two claims, tested; what getting off the tree costs; and local best responses.

The document is "Tartanian5: A Heads-Up No-Limit Texas Hold'em Poker-Playing Program" (Ganzfried and
Sandholm, 2012). It found of three sizes of card abstraction, solved for as long as there was time,
the middle one to play best, and purified strategies to beat thresholded ones. Here:

- *sizes*: 8-4-3-3, 8-12-4-4 and 12-25-6-6 on the same bet sizes, purified, against each other;
- *post-processing*: one blueprint purified, thresholded at 0.15 and raw, against each other and
  the field, and against the field what purification wins more, paired by deals;
- *off the tree*: the same blueprint without the guard, with it, and betting back onto the tree,
  against players who bet any amount (among each other they would never leave the tree), and what
  a local best response wins from each;
- *local best responses* to each no-limit agent, beside published figures of other agents with the same
  menu, where there are any.

No-limit matches need many hands: intervals stand beside everything, all-in pots are paid by equity,
and with `--aivat` the rest of the luck is taken out as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from equipoise.abstraction.bets.line import same_game
from equipoise.agents.blueprint.files import load_blueprint
from equipoise.agents.registry import AGENTS
from equipoise.arena.matchresult import MatchResult
from equipoise.arena.measures.lbr import local_best_response
from equipoise.bench.reproduce.meetings import (
    Contender,
    Data,
    Stable,
    Terms,
    difference,
    meet,
    verdict,
)
from equipoise.games.rules import NOLIMIT_HOLDEM, Rules
from equipoise.run import Event, Listener

#: Blueprints of the three sizes, on one menu of bets, and the document's exploitability in big
#: blinds a hand (the middle one as the run went on).
SIZES = {"8-4-3-3": "8-4-3-3", "8-12-4-4": "tartanian5-m", "12-25-6-6": "tartanian4"}
DOCUMENT_BB = {"8-4-3-3": "0.13", "8-12-4-4": "0.55, later 0.30", "12-25-6-6": "0.8"}
#: Which blueprint is processed in several ways: the first that is there.
PREFERRED = ("tartanian5", "tartanian5-m", "8-4-3-3", "tartanian4", "sampled", "quick")
POSTPROCESSING = {"purified": "purify", "threshold 0.15": "threshold 0.15", "raw": "raw"}
OFF_TREE: dict[str, Data] = {
    "no guard": {"guard": "never"},
    "guard when closing": {"guard": "closing"},
    "guard always": {"guard": "always"},
    "back onto the tree": {"guard": "never", "back_onto_tree": True},
}
FIELD = ("random", "call", "all-in", "odd-sizes")
#: Local best responses to agents of others, mbb/hand, by the responder's menu on each street (Lisý and
#: Bowling 2017; DeepStack by Moravčík and others 2017). A figure belongs to its menu: for pot and all-in
#: on all streets nothing is published.
PUBLISHED_LBR = {
    "fc": {
        "Hyperborean-2014": 721, "Slumbot-2016": 522, "Act1-2016": 407, "always fold": 250,
        "DeepStack": -428,
    },
    "c,c,fcpa,fcpa": {
        "Hyperborean-2014": 3852, "Slumbot-2016": 4020, "Act1-2016": 2597, "always fold": 750,
        "DeepStack": -383,
    },
    "c,c,56,56": {
        "Hyperborean-2014": 4675, "Slumbot-2016": 3763, "Act1-2016": 3302, "always fold": 750,
        "DeepStack": -775,
    },
    "c,56,fc,fc": {
        "Hyperborean-2014": 983, "Slumbot-2016": 1227, "Act1-2016": 847, "always fold": 750,
        "DeepStack": -602,
    },
}  # fmt: skip
#: What is measured here: two menus that others were measured with, and the widest on all streets.
MENUS = ("fc", "c,c,fcpa,fcpa", "fcpa")

HANDS, QUICK_HANDS = 200_000, 2_000
LBR_HANDS, QUICK_LBR_HANDS = 5_000, 60


def run(
    seed: int,
    quick: bool,
    progress: Listener,
    hands: int | None = None,
    blueprints: Mapping[str, str] | None = None,
    workers: int = 1,
    without_luck: bool = False,
) -> Data:
    """Every part, with the blueprints that are there."""
    stable = Stable(blueprints)
    terms = Terms(
        NOLIMIT_HOLDEM,
        hands or (QUICK_HANDS if quick else HANDS),
        seed,
        workers,
        allin_equity=True,
        without_luck=without_luck,
    )
    found = {label: stable.find(name, label, postprocess="purify", translation="pseudo-harmonic")
             for label, name in SIZES.items()}  # fmt: skip
    sizes = [contender for contender in found.values() if contender is not None]
    chosen = stable.first(PREFERRED)
    lbr_hands = hands or (QUICK_LBR_HANDS if quick else LBR_HANDS)
    data: Data = {
        "experiment": "tartanian5",
        "game": NOLIMIT_HOLDEM.name,
        "seed": seed,
        "hands": terms.hands,
        "trained": {one.name: one.facts for one in sizes},
        "document_exploitability_bb": DOCUMENT_BB,
        "blueprint": chosen,
        "sizes": against_each_other(sizes, terms, progress, "sizes"),
        "postprocessing": None,
        "off_tree": None,
    }
    styles: list[Contender | None] = []
    if chosen is not None:
        ways = [stable.find(chosen, label, postprocess=rule, translation="pseudo-harmonic")
                for label, rule in POSTPROCESSING.items()]  # fmt: skip
        field = [Contender(name) for name in FIELD] + _others(stable, chosen)
        data["postprocessing"] = against_field(ways, field, terms, progress, "post-processing")
        data["postprocessing"]["among"] = against_each_other(
            [way for way in ways if way is not None], terms, progress, "post-processing"
        )
        styles = [stable.find(chosen, label, postprocess="purify", **settings)
                  for label, settings in OFF_TREE.items()]  # fmt: skip
        field = [Contender("odd-sizes"), Contender("random")]
        data["off_tree"] = against_field(styles, field, terms, progress, "off the tree")
    players = [*_others(stable, ""), *(style for style in styles if style), Contender("fold")]
    data["lbr"] = local_best_responses(players, lbr_hands, seed, workers, progress)
    data["published_lbr"] = PUBLISHED_LBR
    data["missing"] = stable.missing
    data["claims"] = claims(data)
    return data


def _others(stable: Stable, chosen: str) -> list[Contender]:
    """The no-limit agents of the list that play another blueprint than the chosen one, of the same stacks."""
    names = [name for name, entry in AGENTS.items()
             if entry.game == "nolimit" and entry.settings.get("blueprint")]  # fmt: skip
    found = [stable.find(name) for name in names if name != chosen]
    return [one for one in found if one is not None and _plays(one, NOLIMIT_HOLDEM)]


def _plays(contender: Contender, rules: Rules) -> bool:
    """Whether a contender's blueprint was trained for these rules."""
    return same_game(load_blueprint(contender.settings["blueprint"]).recipe.rules, rules)


def against_each_other(
    players: list[Contender], terms: Terms, progress: Listener, what: str
) -> list[Data]:
    """Everybody against everybody."""
    rows = []
    pairs = list(combinations(players, 2))
    for number, (a, b) in enumerate(pairs):
        progress(Event(number, len(pairs), what))
        told, _ = meet(a, b, terms)
        rows.append(told | {"says": verdict(told)})
    return rows


def against_field(
    found: list[Contender | None],
    field: list[Contender],
    terms: Terms,
    progress: Listener,
    what: str,
) -> Data:
    """Some players against the field, and how much better the first does than the rest."""
    players = [player for player in found if player is not None]
    rows, better = [], []
    for number, opponent in enumerate(field):
        results: list[MatchResult] = []
        for player in players:
            progress(Event(number, len(field), f"{what}: {player.name} v {opponent.name}"))
            told, result = meet(player, opponent, terms)
            rows.append(told | {"says": verdict(told)})
            results.append(result)
        for player, result in zip(players[1:], results[1:], strict=True):
            told = {"a": players[0].name, "than": player.name, "against": opponent.name}
            more = difference(results[0], result)
            better.append(told | more | {"says": verdict(more)})
    return {"field": rows, "better": better}


def local_best_responses(
    players: list[Contender], hands: int, seed: int, workers: int, progress: Listener
) -> list[Data]:
    """What local best responses win from each player."""
    rows = []
    for number, player in enumerate(players):
        for menu in MENUS:
            progress(Event(number, len(players), f"lbr {menu} v {player.name}"))
            found = local_best_response(
                player.make(NOLIMIT_HOLDEM),
                NOLIMIT_HOLDEM,
                hands + hands % 2,
                menu,
                seed,
                workers=workers,
            ).match
            rows.append(
                {
                    "agent": player.name,
                    "menu": menu,
                    "hands": found.hands,
                    "mbb_per_hand": found.mbb_per_hand,
                    "ci95_mbb": found.ci95_mbb,
                }
            )
    return rows


def claims(data: Data) -> Data:
    """The document's two claims: what the matches say, None where they were not played."""
    says = {(row["a"], row["b"]): row["says"] for row in data["sizes"]}
    turned = {"wins": "loses", "loses": "wins", "open": "open", None: None}
    middle: Data = {
        "against 8-4-3-3": turned[says.get(("8-4-3-3", "8-12-4-4"))],
        "against 12-25-6-6": says.get(("8-12-4-4", "12-25-6-6")),
    }
    purified: Data = {}
    if data["postprocessing"] is not None:
        for row in data["postprocessing"]["among"]:
            if row["a"] == "purified":
                purified[f"against {row['b']}"] = row["says"]
        for row in data["postprocessing"]["better"]:
            purified[f"more than {row['than']} from {row['against']}"] = row["says"]
    return {"the_middle_size": middle, "purification": purified}
