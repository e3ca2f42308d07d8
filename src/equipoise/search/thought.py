"""What a searching player thinks at a point of a hand: ranges, tree, policy and values, to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from equipoise.cards.card import cards_text
from equipoise.cards.combos import combo_text
from equipoise.cards.matchup import compatible_weight
from equipoise.games.betting import Betting
from equipoise.games.notation.labels import action_label
from equipoise.games.policy import Policy, PublicState
from equipoise.run import Stop
from equipoise.search.resolver import Resolver
from equipoise.search.rollouts import StoppedError
from equipoise.search.subgame import Weights
from equipoise.search.trunk import asked, trunk_ranges

#: Weight, beside the likeliest, below which a hand is not told.
_TOLD = 1e-6


@dataclass(frozen=True, eq=False)
class Thought:
    """What one seat thinks of a public situation."""

    public: PublicState
    #: Whose thought it is.
    seat: int
    #: `trunk` where nothing is solved, `preflop`, `flop`, which is cut at its end, or `subgame`.
    source: str
    #: Both ranges here.
    ranges: tuple[Weights, Weights]
    #: What every hand of the player to act plays.
    policy: Policy
    #: What every hand of both is worth, in chips from the start of the hand; None where nothing is solved.
    values: tuple[Weights, Weights] | None
    #: The tree that was solved.
    betting: Betting | None
    iterations: int
    seconds: float

    @property
    def stacks(self) -> tuple[int, int]:
        """Chips that both have left."""
        state = self.public.state
        first, second = (s - c for s, c in zip(state.rules.stacks, state.committed, strict=True))
        return first, second

    @property
    def actions(self) -> list[str]:
        """The actions in the words of a player."""
        return [action_label(self.public.state, action) for action in self.policy.actions]

    def mix(self, hand: int | None = None) -> list[float]:
        """What one hand plays, or the whole range of the player to act on average."""
        if hand is not None:
            return [float(p) for p in self.policy.probabilities[hand]]
        player = self.public.state.to_act or 0
        weight = self.ranges[player] * compatible_weight(self.ranges[1 - player])
        mean = weight @ self.policy.probabilities / max(float(weight.sum()), 1e-300)
        return [float(p) for p in mean]

    def to_dict(self, hand: int | None = None) -> dict[str, Any]:
        """All of it by names, for JSON; hands that a range leaves out are left out."""
        state = self.public.state
        held = [np.flatnonzero(own > _TOLD * own.max()).tolist() for own in self.ranges]
        player = state.to_act or 0
        told: dict[str, Any] = {
            "history": state.betting_text(),
            "board": cards_text(self.public.board),
            "seat": self.seat,
            "to_act": player,
            "source": self.source,
            "pot": state.pot,
            "to_call": state.to_call,
            "stacks": list(self.stacks),
            "ranges": [{combo_text(h): float(self.ranges[p][h]) for h in held[p]} for p in (0, 1)],
            "tree": self._tree(),
            "policy": {
                "actions": [str(action) for action in self.policy.actions],
                "words": self.actions,
                "range": self.mix(),
                "hands": {combo_text(h): self.mix(h) for h in held[player]},
            },
            "values": None,
            "iterations": self.iterations,
            "seconds": self.seconds,
        }
        if self.values is not None:
            told["values"] = [
                {combo_text(h): float(self.values[p][h]) for h in held[p]} for p in (0, 1)
            ]
        if hand is not None:
            told["hand"] = {"cards": combo_text(hand), "policy": self.mix(hand)}
            if self.values is not None:
                told["hand"]["value"] = float(self.values[player][hand])
        return told

    def _tree(self) -> dict[str, Any] | None:
        betting = self.betting
        if betting is None:
            return None
        # Where a flop is cut somebody chooses how it goes on, by no action.
        decisions = [
            node
            for node in range(len(betting.kind))
            if betting.kind[node] < 2 and betting.actions[betting.children(node)[0]] is not None
        ]
        return {
            "begins": betting.origin.betting_text(),
            "decisions": len(decisions),
            "nodes": [
                {
                    "betting": betting.states[node].betting_text(),
                    "to_act": int(betting.kind[node]),
                    "actions": [betting.label(child) for child in betting.children(node)],
                }
                for node in decisions
            ],
        }


def think(resolver: Resolver, public: PublicState, stop: Stop | None = None) -> Thought | None:
    """What the seat of a resolver thinks; before the streets that it searches that is its trunk.

    None if it was stopped: half a thought is none.
    """
    began = perf_counter()
    state, board, hand = public
    seat = resolver.seat
    if resolver.solves_preflop(public):
        found = resolver.solved_preflop(public, stop)
        if stop is not None and stop.is_set():
            return None
        ranges, values = found.ranges(), (found.values(0), found.values(1))
        return Thought(
            public, seat, "preflop", ranges, found.policy(), values, found.game.betting,
            found.solver.iteration, perf_counter() - began,
        )  # fmt: skip
    if not resolver.searches(public):
        ranges = trunk_ranges(resolver.trunk, state, board, hand)
        policy = asked(resolver.trunk, public)
        seconds = perf_counter() - began
        return Thought(public, seat, "trunk", ranges, policy, None, None, 0, seconds)
    try:
        solved = resolver.solved(public, stop)
    except StoppedError:
        return None
    if stop is not None and stop.is_set():
        return None
    ranges = (solved.reach(0, state, board), solved.reach(1, state, board))
    values = (solved.values(0, state, board), solved.values(1, state, board))
    source = "flop" if state.round == 1 else "subgame"
    return Thought(
        public, seat, source, ranges, solved.policy(state, board), values, solved.game.betting,
        solved.iterations, perf_counter() - began,
    )  # fmt: skip
