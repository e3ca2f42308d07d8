"""Seven ways to translate bets: their curves, and what a best response takes from each.

The documents are "Tartanian5: A Heads-Up No-Limit Texas Hold'em Poker-Playing Program" (Ganzfried
and Sandholm, 2012), whose figures 2 and 3 are drawn again, and "Action Translation in
Extensive-Form Games with Large Action Spaces" (the same, IJCAI 2013), which measures exploitability
in small games. In each game here both players solve the game with few bet sizes, play that strategy
in the game with all of them, translating (:mod:`equipoise.solve.strategies.extension`), and are
best-responded to exactly. Stacks and losses are in pots, the pot being the one at the start.

- Clairvoyance: bets in multiples of .1, menu {check, pot, all-in}. The bettor's menu holds his best
  bet, so only the caller loses; he calls a menu size `a` with 1/(1 + a). An equilibrium leaves open
  how bets that are not made are answered, and this answer is the one that makes them all alike.
- No-limit Kuhn: bets in multiples of .1, one bet a hand, menus {pot, all-in} and {.4 pot, all-in}.
- No-limit Leduc: menu {pot, all-in}; bets and raises without a cap in multiples of half a pot, or
  two a round in multiples of a quarter.

What a player loses is the value of the whole game to him less what the best response leaves him.
That includes what his menu costs him when he bets himself. Kuhn and Leduc are solved abstractly
twice, by linear programming and by DCFR: where equilibria differ in lines that equilibrium play does
not enter, so do the losses.

- Matches: one trained strategy, raw, with each mapping, against a player of odd sizes and against
  the field, over the same deals. What a mapping wins more than the randomised pseudo-harmonic one is
  paired by deals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equipoise.abstraction.bets.translation import MAPPINGS
from equipoise.agents.registry import AGENTS
from equipoise.bench.reproduce.meetings import Contender, Stable, Terms, difference, meet
from equipoise.games.betting import Betting
from equipoise.games.catalogue import clairvoyance, kuhn_nolimit, leduc_nolimit
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.rules import NOLIMIT_HOLDEM, Kind
from equipoise.run import Event, Limit, Listener
from equipoise.solve.solvers.cfr import DCFR
from equipoise.solve.solvers.linear_program import LinearProgram
from equipoise.solve.strategies.bestresponse import response_value
from equipoise.solve.strategies.extension import extended
from equipoise.solve.strategies.tabular import TabularStrategy
from equipoise.solve.sweep.tableau import Tableau

Data = dict[str, Any]

#: Neighbouring sizes in the figures of the Tartanian5 paper.
FIGURES = {"figure 2": (0.01, 1.0), "figure 3": (1.0, 4.0)}
_POINTS = 200

#: Stacks of the clairvoyance game, and the caller's exact loss in it, to compare with.
CLAIRVOYANCE_STACKS = (3, 5, 20, 100)
EXPECTED = {
    "arithmetic-deterministic": (0.24, 0.49, 2.37, 12.37),
    "arithmetic": (0.02, 0.09, 0.96, 5.94),
    "geometric-deterministic": (0.28, 0.36, 0.99, 2.45),
    "geometric-1": (0.23, 0.23, 0.36, 1.01),
    "geometric-2": (0.23, 0.23, 0.36, 1.00),
    "pseudo-harmonic-deterministic": (0.19, 0.33, 0.59, 0.71),
    "pseudo-harmonic": (0.0, 0.0, 0.0, 0.0),
}


@dataclass(frozen=True)
class Setting:
    """A small no-limit game, and the menu that its abstraction has."""

    #: `kuhn` or `leduc`.
    cards: str
    #: What each player has behind, in pots.
    stack_pots: int
    #: Sizes of the abstraction.
    menu: str
    #: Chips in the pot at the start: bets are whole chips.
    pot_chips: int
    #: Bets and raises a round; None is no cap.
    max_raises: int | None

    def game(self, menu: str | None) -> Game:
        """The game with the bets of a menu, or with all of them."""
        base = kuhn_nolimit() if self.cards == "kuhn" else leduc_nolimit()
        ante = self.pot_chips // 2
        stack = ante + self.stack_pots * self.pot_chips
        rules = replace(
            base.betting.rules,
            blinds=(ante, ante),
            stacks=(stack, stack),
            max_raises=(self.max_raises,) * base.betting.rounds,
            min_bet=1,
        )
        return replace(
            base,
            name=f"{self.cards}, stack {self.stack_pots} pots, bets {menu or 'of any size'}",
            betting=Betting.build(rules, BetMenu.of(menu)),
            unit_chips=float(self.pot_chips),
        )


SETTINGS = (
    *(
        Setting("kuhn", stack, menu, pot_chips=10, max_raises=1)
        for menu in ("100%,a", "40%,a")
        for stack in (3, 5, 20, 100)
    ),
    Setting("leduc", 3, "100%,a", pot_chips=2, max_raises=None),
    Setting("leduc", 5, "100%,a", pot_chips=2, max_raises=None),
    Setting("leduc", 3, "100%,a", pot_chips=4, max_raises=2),
)
QUICK_SETTINGS = tuple(setting for setting in SETTINGS[:9] if setting.stack_pots <= 5)

#: How the abstract games are solved.
_DCFR_ITERATIONS = 20_000


#: Blueprints for the matches: the first that is there plays.
PREFERRED = ("tartanian5", "tartanian5-m", "sampled", "8-4-3-3", "quick", "tartanian4")
FIELD = ("odd-sizes", "random", "call", "all-in")
HANDS, QUICK_HANDS = 100_000, 2_000


def run(
    seed: int,
    quick: bool,
    progress: Listener,
    hands: int | None = None,
    blueprints: Mapping[str, str] | None = None,
    workers: int = 1,
) -> Data:
    """Every experiment; only the matches draw at random."""
    data: Data = {"seed": seed}
    for name, experiment in EXPERIMENTS.items():
        data[name] = experiment(quick, progress)
    terms = Terms(
        NOLIMIT_HOLDEM,
        hands or (QUICK_HANDS if quick else HANDS),
        seed,
        workers,
        allin_equity=True,
    )
    return data | {"matches": matches(Stable(blueprints), terms, progress)}


def matches(stable: Stable, terms: Terms, progress: Listener) -> Data:
    """One blueprint with each mapping against the field."""
    chosen = stable.first(PREFERRED)
    if chosen is None:
        return {"missing": stable.missing["quick"]}
    others = [stable.find(name) for name in PREFERRED if name != chosen and name in AGENTS]
    field = [
        *(Contender(name) for name in FIELD),
        *(contender for contender in others if contender is not None),
    ]
    rows = []
    for number, opponent in enumerate(field):
        results = {}
        for name in MAPPINGS:
            progress(Event(number, len(field), f"{name} v {opponent.name}"))
            player = stable.find(chosen, name, translation=name, postprocess="raw")
            assert player is not None
            told, results[name] = meet(player, opponent, terms)
            rows.append(told)
        for row, result in zip(rows[-len(MAPPINGS) :], results.values(), strict=True):
            row["more_than_pseudo_harmonic"] = difference(result, results["pseudo-harmonic"])
    return {"blueprint": chosen, "hands": terms.hands, "rows": rows}


def curves(quick: bool, progress: Listener) -> Data:
    """Points of the papers' figures: f(x) of every randomised mapping."""
    found = {}
    for name, (small, large) in FIGURES.items():
        bets = np.linspace(small, large, _POINTS + 1)
        found[name] = {
            "small": small,
            "large": large,
            "bets": bets.tolist(),
            "mappings": {
                key: [mapping.smaller(float(bet), small, large) for bet in bets]
                for key, mapping in MAPPINGS.items()
                if mapping.randomised
            },
            "even_at": {key: even_size(key, small, large) for key in MAPPINGS},
        }
    return found


def even_size(name: str, small: float, large: float) -> float:
    """The bet that a mapping takes for both sizes alike, or where it steps, by bisection.

    >>> round(even_size("pseudo-harmonic", 1, 4), 6)
    1.857143
    """
    low, high = small, large
    for _ in range(60):
        middle = (low + high) / 2
        if MAPPINGS[name].smaller(middle, small, large) >= 0.5:
            low = middle
        else:
            high = middle
    return low


def clairvoyance_game(quick: bool, progress: Listener) -> list[Data]:
    """What the bettor takes from the caller beyond the value of the game, for each stack."""
    rows = []
    for number, stack in enumerate(CLAIRVOYANCE_STACKS):
        progress(Event(number, len(CLAIRVOYANCE_STACKS), "clairvoyance"))
        strategy = _caller(clairvoyance(stack, menu="100%,a"))
        whole = clairvoyance(stack, step=0.1)
        tableau, worth = Tableau(whole), stack / (2 * (1 + stack))
        found = {}
        for name, mapping in MAPPINGS.items():
            played = extended(strategy, whole, mapping)
            taken = response_value(tableau, 0, played.numbers) / whole.unit_chips
            found[name] = taken - worth
        expected = {name: figures[number] for name, figures in EXPECTED.items()}
        rows.append({"stack_pots": stack, "caller_loses_pots": found, "expected": expected})
    return rows


def _caller(game: Game) -> TabularStrategy:
    """Player 1 calls a bet of `a` pots with 1/(1 + a)."""
    betting, index = game.betting, TabularStrategy.uniform(game).index
    rows = np.zeros(index.size)
    for board, node in index.decisions():
        if int(betting.kind[node]) != 1:
            continue
        state, block = betting.states[node], index.block(rows, board, node)
        for line, child in zip(block, betting.children(node), strict=True):
            action = betting.actions[child]
            assert action is not None
            dead = state.pot - state.to_call
            line[:] = dead if action.kind == Kind.CALL else state.to_call
    return TabularStrategy(game, rows, index)


def small_games(quick: bool, progress: Listener) -> list[Data]:
    """What each player loses by translating in no-limit Kuhn and Leduc."""
    settings = QUICK_SETTINGS if quick else SETTINGS
    rows = []
    for number, setting in enumerate(settings):
        progress(Event(number, len(settings), setting.cards))
        rows.append(losses(setting))
    return rows


def losses(setting: Setting) -> Data:
    """Loss of each player, in pots a hand, for each mapping and each way to solve the abstraction."""
    whole, abstract = setting.game(None), setting.game(setting.menu)
    referee = LinearProgram(whole)
    referee.step()
    worth, pot = referee.value(), whole.unit_chips
    exact, iterative = LinearProgram(abstract), DCFR(abstract)
    exact.step()
    iterative.run(Limit(iterations=_DCFR_ITERATIONS, check_every=_DCFR_ITERATIONS))
    solved: Data = {}
    for solver in (exact, iterative):
        strategy = solver.average_strategy()
        lost = {}
        for name, mapping in MAPPINGS.items():
            rows = extended(strategy, whole, mapping).numbers
            first = (response_value(referee.tableau, 1, rows) + worth) / pot
            second = (response_value(referee.tableau, 0, rows) - worth) / pot
            lost[name] = {"players": [first, second], "mean": (first + second) / 2}
        solved[solver.name] = {
            "exploitability_in_abstraction_pots": solver.exploitability() / pot,
            "loses_pots": lost,
        }
    return {
        "game": setting.cards,
        "stack_pots": setting.stack_pots,
        "menu": setting.menu,
        "smallest_bet_pots": 1 / setting.pot_chips,
        "max_raises": setting.max_raises,
        "value_pots": worth / pot,
        "solved_by": solved,
    }


#: What is computed exactly, in order, by the name its results have.
EXPERIMENTS: dict[str, Callable[[bool, Listener], Any]] = {
    "curves": curves,
    "clairvoyance": clairvoyance_game,
    "small_games": small_games,
}
