"""Equipoise: a heads-up Texas hold'em workbench.

>>> import equipoise as eq
>>> eq.hand_name("AsAhAdKsKh")
'full house, aces over kings'
>>> round(eq.equity(["AsAh", "KcKd"]).equity[0], 4)
0.8126
>>> eq.Range.parse("QQ+, AKs").combos
22.0
>>> solver = eq.make_solver("dcfr", eq.game("kuhn"))
>>> done = solver.run(eq.Limit(iterations=500))
>>> abs(solver.value() + 1 / 18) < 0.001
True

The public names are loaded when first used, so that `import equipoise` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from equipoise.agents.agent import Agent as Agent
    from equipoise.agents.registry import make_agent as make_agent
    from equipoise.arena.match import play_match as play_match
    from equipoise.cards.card import Deck as Deck
    from equipoise.cards.card import card_text as card_text
    from equipoise.cards.card import cards_text as cards_text
    from equipoise.cards.card import parse_card as parse_card
    from equipoise.cards.card import parse_cards as parse_cards
    from equipoise.cards.equity import equity as equity
    from equipoise.cards.equity import hand_equities as hand_equities
    from equipoise.cards.evaluator import evaluate as evaluate
    from equipoise.cards.evaluator import evaluate_many as evaluate_many
    from equipoise.cards.evaluator import hand_name as hand_name
    from equipoise.cards.isomorphism import HandIndexer as HandIndexer
    from equipoise.cards.range import Range as Range
    from equipoise.cards.strength import equity_histogram as equity_histogram
    from equipoise.cards.strength import potential as potential
    from equipoise.errors import EquipoiseError as EquipoiseError
    from equipoise.games.catalogue import game as game
    from equipoise.games.game import Game as Game
    from equipoise.games.menu import BetMenu as BetMenu
    from equipoise.games.rules import Rules as Rules
    from equipoise.games.rules import State as State
    from equipoise.games.spot import Spot as Spot
    from equipoise.solve.registry import make_solver as make_solver
    from equipoise.solve.solvers.solver import Limit as Limit
    from equipoise.solve.spots.solution import Solution as Solution
    from equipoise.solve.spots.solution import solve_spot as solve_spot
    from equipoise.solve.strategies.strategy import Strategy as Strategy

#: Public name -> module that defines it.
_HOME = {
    "Agent": "equipoise.agents.agent",
    "BetMenu": "equipoise.games.menu",
    "Deck": "equipoise.cards.card",
    "EquipoiseError": "equipoise.errors",
    "Game": "equipoise.games.game",
    "HandIndexer": "equipoise.cards.isomorphism",
    "Limit": "equipoise.solve.solvers.solver",
    "Range": "equipoise.cards.range",
    "Rules": "equipoise.games.rules",
    "Solution": "equipoise.solve.spots.solution",
    "Spot": "equipoise.games.spot",
    "State": "equipoise.games.rules",
    "Strategy": "equipoise.solve.strategies.strategy",
    "card_text": "equipoise.cards.card",
    "cards_text": "equipoise.cards.card",
    "equity": "equipoise.cards.equity",
    "equity_histogram": "equipoise.cards.strength",
    "evaluate": "equipoise.cards.evaluator",
    "evaluate_many": "equipoise.cards.evaluator",
    "game": "equipoise.games.catalogue",
    "hand_equities": "equipoise.cards.equity",
    "hand_name": "equipoise.cards.evaluator",
    "make_agent": "equipoise.agents.registry",
    "make_solver": "equipoise.solve.registry",
    "parse_card": "equipoise.cards.card",
    "parse_cards": "equipoise.cards.card",
    "play_match": "equipoise.arena.match",
    "potential": "equipoise.cards.strength",
    "solve_spot": "equipoise.solve.spots.solution",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'equipoise' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
