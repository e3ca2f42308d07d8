"""Two hands that Claudico folded with the price to call, played again, and the second one on the river.

In both a raise of the opponent's was taken for a smaller one, and what was looked up then belongs to a
pot that is not there. Shown is what the translated line takes the pot for, and what is played with and
without the means against it: own bets back onto the tree, and for a river endgames, which have the true
pot. Before the river they cannot help: the article says so. What solves at the true pot there too,
`flagship`, stands beside it where it is here.
"""

from __future__ import annotations

from typing import Any

from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.files import has_blueprint
from equipoise.agents.registry import make_agent
from equipoise.agents.searching.claudicoagent import ClaudicoAgent
from equipoise.agents.searching.searchagent import SearchAgent, blueprint_player
from equipoise.cards.card import parse_cards
from equipoise.cards.combos import parse_combo
from equipoise.games.policy import PublicState
from equipoise.games.rules import NOLIMIT_HOLDEM, State

Data = dict[str, Any]

#: Name, betting, board, cards: the player to act folded them.
HANDS = (
    ("A4s", "r300r1000r3000r9900r20000", "", "As4s"),
    ("KT", "r300r900c/r2250r3600r9000c/r15000r20000", "Kc8d4d5d", "KdTh"),
    # The same raise, and the all-in bet on the river: there endgames have the true pot.
    ("KT, on the river", "r300r900c/r2250r3600r9000c/cc/r20000", "Kc8d4d5d2s", "KdTh"),
)


def replays(blueprint: str) -> list[Data]:
    """Both hands under every setting."""
    settings: dict[str, Data] = {
        "none": {"endgame": "none"},
        "back onto the tree": {"endgame": "none", "back_onto_tree": True},
        "lp": {"endgame": "lp"},
        "exact": {"endgame": "exact"},
    }
    agents = {
        name: make_agent("claudico", blueprint=blueprint, **told) for name, told in settings.items()
    }
    if has_blueprint("flagship"):
        agents["flagship"] = make_agent("flagship")
    return [_replay(*hand, agents) for hand in HANDS]


def _replay(name: str, betting: str, board: str, hole: str, agents: dict[str, Agent]) -> Data:
    state = State.from_betting_text(NOLIMIT_HOLDEM, betting)
    public = PublicState(state, parse_cards(board), 0)
    me = state.to_act
    assert me is not None
    owed = state.committed[1 - me] - state.committed[me]
    told: Data = {
        "hand": name,
        "cards": hole,
        "board": board,
        "betting": betting,
        "pot": state.pot,
        "to_call": owed,
        "price": owed / (state.pot + owed),
        "plays": {},
    }
    for label, agent in agents.items():
        policy = agent.policy(public)
        assert policy is not None
        row = policy.probabilities[parse_combo(hole)].tolist()
        told["plays"][label] = {
            **{str(action): chance for action, chance in zip(policy.actions, row, strict=True)},
            "believed": _believed(agent, public),
        }
    return told


def _solves(agent: Agent, public: PublicState) -> bool:
    """Whether an agent solves a situation, which it does on the true pot."""
    if not isinstance(agent, SearchAgent) or agent.first_street is None:
        return False
    if isinstance(agent, ClaudicoAgent):
        return public.state.round >= agent.first_street
    resolver = agent.resolvers[public.state.to_act or 0]
    return resolver.solves_preflop(public) or resolver.searches(public)


def _believed(agent: Agent, public: PublicState) -> list[Data]:
    """Pots that the lines on which the agent may stand take for the real one, with their chances."""
    state = public.state
    plain = blueprint_player(agent)
    if plain is None or plain.line is None:
        return []
    if _solves(agent, public):
        return [{"pot": state.pot, "chance": 1.0}]
    found: dict[int, float] = {}
    for line in plain.mixture.lines(state, public.board):
        pot = plain.blueprint.betting.states[line.standing.place].pot
        found[pot] = found.get(pot, 0.0) + line.drawn
    total = sum(found.values())
    return [{"pot": pot, "chance": chance / total} for pot, chance in sorted(found.items())]
