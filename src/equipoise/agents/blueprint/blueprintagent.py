"""An agent that plays a blueprint at a real table.

Between the trained strategy and the game stand, in this order: translation of bets that the tree
does not have (:mod:`equipoise.abstraction.bets.line`), the buckets of the cards, post-processing
(:mod:`.book`), bets sized on the real pot, and the guard against folding a hand that has the
price to call (:mod:`.guard`). `act` is all of that for one hand and one draw of what each bet is taken
for, which is kept while the hand lasts. `policy` is what others may know of it: the mixture over these
draws, for every hand at once (:mod:`.mixture`).

The abstract hand can be over before the real one, after bets taken for an all-in that was called, or
for the call that ends a round: what is left is checked and called.
"""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

from equipoise.abstraction.bets.line import AbstractLine, same_but_for_chips, same_game
from equipoise.abstraction.bets.translation import mapping
from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.book import Book
from equipoise.agents.blueprint.files import load_blueprint, make_blueprint_once
from equipoise.agents.blueprint.guard import Guard
from equipoise.agents.blueprint.mixture import Mixture
from equipoise.cards.combos import combo_index
from equipoise.errors import EquipoiseError, GameError
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState
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
    `closing` the betting, or `never`. `back_onto_tree` sizes own bets by the abstract pot. With `any_stack`
    it also plays no-limit with other stacks than those it was trained for: bets by their size in pots,
    all-in as all-in. `train` trains a blueprint that ships as a recipe alone when it is first played, and
    keeps it in the cache folder.
    """

    name = "blueprint"

    def __init__(
        self,
        rules: Rules,
        blueprint: str | Path | Blueprint = "",
        translation: str = "pseudo-harmonic",
        postprocess: str = "raw",
        guard: str = "never",
        back_onto_tree: bool = False,
        any_stack: bool = False,
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
            "any_stack": any_stack,
        }
        if train and isinstance(blueprint, str):
            make_blueprint_once(blueprint)
        self.blueprint = (
            blueprint if isinstance(blueprint, Blueprint) else load_blueprint(blueprint)
        )
        trained = self.blueprint.recipe.rules
        scaled = any_stack and not trained.limit and same_but_for_chips(rules, trained)
        if not (scaled or same_game(rules, trained)):
            raise GameError(
                f"{self.blueprint.name} was trained for {trained.name} with blinds of "
                f"{min(trained.blinds)} and {max(trained.blinds)}"
                + ("" if trained.limit else f" and stacks of {trained.stacks[0]}")
                + ": play it by those rules"
            )
        betting = self.blueprint.betting
        self.book = Book(self.blueprint, processing)
        self.line = None if trained.limit else AbstractLine(betting, chosen, back_onto_tree, rules)
        self.guard = Guard(self.book, guard)
        self.mixture = Mixture(self.book, self.line, self.guard)
        self._betting = betting
        #: Seed of the draws that translate.
        self.seed = 0
        #: Decisions by the betting that leads to them.
        foreign = self.line is not None and self.line.foreign
        self._nodes = {} if foreign else self.blueprint.nodes
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
        """Draw an action, after bets that were translated by this hand's draws."""
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
        line = self.mixture.translating(state)
        standing = line.stand(state, self.seed, hand)
        place = standing.place
        if not line.tree.turn(place, state):
            return CALL
        column = self.book.column(hole, board)
        chances = self.book.mix(place, column, state.round)
        draw, reached = self.random.random() * sum(chances), 0.0
        action = CALL
        for child, chance in zip(self._betting.children(place), chances, strict=True):
            reached += chance
            if chance > 0:
                action = line.carried(place, child, state)
                if draw < reached:
                    break
        if (
            action == FOLD
            and self.mixture.guarded(place, state)
            and self.guard.calls(combo_index(*hole), state, board, standing.opponent)
        ):
            return CALL
        return action

    # ------------------------------------------------------------------------------- all hands

    def policy(self, public: PublicState) -> Policy:
        """What every hand plays here as others see it, whatever the draws that translate."""
        if public.state.to_act is None:
            raise GameError("the hand is over: a policy is for a player who is to act")
        return self.mixture.policy(public.state, public.board)


def _made(kind: type[BlueprintAgent], given: dict[str, Any], seed: int) -> BlueprintAgent:
    agent = kind(**given)
    agent.reset(seed)
    return agent
