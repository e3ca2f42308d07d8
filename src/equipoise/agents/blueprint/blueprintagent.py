"""An agent that plays a blueprint at a real table.

Between the trained strategy and the game stand, in this order: translation of bets that the tree
does not have (:mod:`equipoise.abstraction.bets.line`), the buckets of the cards, post-processing
(:mod:`.book`), bets sized on the real pot, and the guard against folding a hand that has the
price to call (:mod:`.guard`). `policy` is all of that for every hand at once, and `act` draws from
it.

The abstract hand can be over before the real one, after bets taken for an all-in that was called, or
for the call that ends a round: what is left is checked and called.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.bets.line import AbstractLine, LinePlace
from equipoise.abstraction.bets.translation import mapping
from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.book import Book
from equipoise.agents.blueprint.files import load_blueprint, make_blueprint_once
from equipoise.agents.blueprint.guard import Guard
from equipoise.cards.combos import combo_index
from equipoise.errors import EquipoiseError, GameError
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState, same_for_all
from equipoise.games.rules import CALL, FOLD, Action, Rules, State
from equipoise.solve.strategies.postprocessing import PostProcessing
from equipoise.solve.training.blueprint import Blueprint

#: Columns whose mixture is kept decoded.
_KEPT_MIXES = 200_000

#: Actions, with the draws up to which each is played.
_Mix = tuple[tuple[Action, float], ...]


class BlueprintAgent(Agent):
    """Plays a trained strategy, limit or no-limit.

    `blueprint` is one that ships or was trained here, by name, or a file; `translation` a mapping of
    :mod:`equipoise.abstraction.bets.translation`; `postprocess` the rules of
    :mod:`equipoise.solve.strategies.postprocessing`, one for each round. `guard` says where hands that have
    the price to call are called in place of folded off the tree: `always`, where that would be
    `closing` the betting, or `never`. `back_onto_tree` sizes own bets by the abstract pot. `train` trains
    a blueprint that ships as a recipe alone when it is first played, and keeps it in the cache folder.
    """

    name = "blueprint"

    def __init__(
        self,
        rules: Rules,
        blueprint: str | Path | Blueprint = "",
        translation: str = "pseudo-harmonic",
        postprocess: str = "raw",
        guard: str = "always",
        back_onto_tree: bool = False,
        train: bool = False,
    ) -> None:
        super().__init__()
        if blueprint == "":
            raise EquipoiseError(
                'which blueprint? set one in a TOML file: agent = "blueprint", blueprint = "quick"'
            )
        chosen = mapping(translation)
        processing = PostProcessing.parse(postprocess)
        self._given: dict[str, Any] = {
            "rules": rules,
            "blueprint": blueprint,
            "translation": translation,
            "postprocess": postprocess,
            "guard": guard,
            "back_onto_tree": back_onto_tree,
        }
        if train and isinstance(blueprint, str):
            make_blueprint_once(blueprint)
        self.blueprint = (
            blueprint if isinstance(blueprint, Blueprint) else load_blueprint(blueprint)
        )
        trained = self.blueprint.recipe.rules
        if replace(rules, name="") != replace(trained, name=""):
            raise GameError(
                f"{self.blueprint.name} was trained for {trained.name} with blinds of "
                f"{min(trained.blinds)} and {max(trained.blinds)}"
                + ("" if trained.limit else f" and stacks of {trained.stacks[0]}")
                + ": play it by those rules"
            )
        betting = self.blueprint.betting
        self.book = Book(self.blueprint, processing)
        self.line = None if trained.limit else AbstractLine(betting, chosen, back_onto_tree)
        self.guard = Guard(self.book, guard)
        self._betting = betting
        #: Seed of the draws that translate.
        self.seed = 0
        #: Decisions by the betting that leads to them.
        self._nodes = self.blueprint.nodes
        self._stride = int(self.blueprint.layout.columns.max())
        self._mixes: dict[int, _Mix] = {}
        self._cards: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
        self._column = -1

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and other processes make their own from the same settings: tables are not sent.
        return _made, (type(self), self._given, self.seed)

    def __deepcopy__(self, memo: dict[int, Any]) -> BlueprintAgent:
        return _made(type(self), {**self._given, "blueprint": self.blueprint}, self.seed)

    def reset(self, seed: int) -> None:
        """A new match, in which bets are translated by other draws."""
        super().reset(seed)
        self.seed = seed

    # ------------------------------------------------------------------------------- one hand

    def act(self, view: View) -> Action:
        """Draw an action from the policy's row."""
        state, _, hole, board, hand = view
        node = self._nodes.get(state.history)
        if node is None:
            return self._act_off_tree(state, hole, board, hand)
        if self._cards != (hole, board):
            self._cards = (hole, board)
            self._column = self.book.column(hole, board)
        key = node * self._stride + self._column
        mix = self._mixes.get(key)
        if mix is None:
            mix = self._decode(key, node, state.round)
        draw = self.random.random()
        for action, upto in mix:
            if draw < upto:
                return action
        return mix[-1][0]

    def _decode(self, key: int, node: int, street: int) -> _Mix:
        chances = self.book.mix(node, self._column, street)
        total = sum(chances)
        reached = [upto / total for upto in accumulate(chances)]
        mix = tuple(
            (action, upto)
            for action, upto, chance in zip(self.book.actions(node), reached, chances, strict=True)
            if chance > 0
        )
        if len(self._mixes) >= _KEPT_MIXES:
            self._mixes.clear()
        self._mixes[key] = mix
        return mix

    def _act_off_tree(
        self, state: State, hole: tuple[int, ...], board: tuple[int, ...], hand: int
    ) -> Action:
        standing = self._standing(state, hand)
        if standing is None:
            return CALL
        place = standing.place
        column = self.book.column(hole, board)
        chances = self.book.mix(place, column, state.round)
        draw, reached = self.random.random() * sum(chances), 0.0
        action = CALL
        for child, chance in zip(self._betting.children(place), chances, strict=True):
            reached += chance
            if chance > 0:
                action = self._carried(place, child, state)
                if draw < reached:
                    break
        if (
            action == FOLD
            and self._guarded(place, state)
            and self.guard.calls(combo_index(*hole), state, board, standing.opponent)
        ):
            return CALL
        return action

    # ------------------------------------------------------------------------------- all hands

    def policy(self, public: PublicState) -> Policy:
        """What every hand plays here, translation, post-processing and guard included."""
        state, board, hand = public
        if state.to_act is None:
            raise GameError("the hand is over: a policy is for a player who is to act")
        node = self._nodes.get(state.history)
        standing = LinePlace(node, ()) if node is not None else self._standing(state, hand)
        if standing is None:
            return same_for_all(state, {CALL: 1.0})
        place = standing.place
        columns = self.book.columns(board)[-1]
        chances = self.book.table(place)[:, np.maximum(columns, 0)]
        actions: list[Action] = []
        merged: list[NDArray[np.float64]] = []
        for row, child in enumerate(self._betting.children(place)):
            action = self._carried(place, child, state)
            if action in actions:
                merged[actions.index(action)] = merged[actions.index(action)] + chances[row]
            else:
                actions.append(action)
                merged.append(chances[row])
        if node is None and FOLD in actions and self._guarded(place, state):
            fold, call = actions.index(FOLD), actions.index(CALL)
            if merged[fold].any():
                priced = self.guard.has_price(state, board, standing.opponent)
                merged[call] = merged[call] + np.where(priced, merged[fold], 0.0)
                merged[fold] = np.where(priced, 0.0, merged[fold])
        table = np.stack(merged, axis=1)
        table /= table.sum(axis=1, keepdims=True)
        return Policy(tuple(actions), table.astype(np.float32))

    # ------------------------------------------------------------------------------------ parts

    def _standing(self, state: State, hand: int) -> LinePlace | None:
        """Where the abstract hand stands; None if nobody decides there."""
        if self.line is None:
            raise GameError(
                f"{self.blueprint.name} has no betting {state.betting_text()!r}: play it by the "
                "rules it was trained for"
            )
        standing = self.line.stand(state, self.seed, hand)
        return standing if self.line.tree.turn(standing.place, state) else None

    def _carried(self, place: int, child: int, state: State) -> Action:
        if self.line is None or not self.line.off_tree(place, state):
            action = self._betting.actions[child]
            assert action is not None
            return state.nearest(action)
        return self.line.carried(place, child, state)

    def _guarded(self, place: int, state: State) -> bool:
        off_tree = self.line is not None and self.line.off_tree(place, state)
        return off_tree and self.guard.watches(state)


def _made(kind: type[BlueprintAgent], given: dict[str, Any], seed: int) -> BlueprintAgent:
    agent = kind(**given)
    agent.reset(seed)
    return agent
