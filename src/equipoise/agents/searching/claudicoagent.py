"""Claudico: a blueprint with thresholds by round, and rivers solved at the table.

    before the river   the blueprint, foreign bets translated, unlikely actions dropped by round
    river              both ranges by Bayes' rule from the blueprint as it was trained, no threshold; the
                       true pot; then, as `endgame` says,
                         lp      buckets of equity for each player apart, and the sequence-form linear
                                 program over them, as the article has it
                         exact   every hand of its own, by iteration: card removal is exact, too
                         none    the blueprint goes on

Ganzfried, "Reflections on the First Man Versus Machine No-Limit Texas Hold'em Competition" (2016). The
article names two weaknesses. After a bet that was translated the blueprint takes the pot for another
one; and buckets of equity bluff with cards that block nothing. On the river `exact` has neither, before
it both stay. A solve from ranges that the opponent may not hold promises nothing, `gadget = "resolve"`
keeps him from gaining by that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.searching.searchagent import Budget, SearchAgent, Seconds
from equipoise.games.hand import View
from equipoise.games.menu import BetMenu
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action, Rules, State
from equipoise.search.menus import endgame_menu
from equipoise.search.resolver import SearchSettings
from equipoise.settings import Within, choose
from equipoise.solve.spots.bucketedriver import BUCKETINGS, TREMBLE, Program
from equipoise.solve.training.blueprint import Blueprint

ENDGAMES = ("lp", "exact", "none")
#: Gadgets by the names that a file gives them.
_GADGETS = {"none": "unsafe", "resolve": "resolve", "maxmargin": "maxmargin"}


class ClaudicoAgent(SearchAgent):
    """Plays a blueprint with thresholds by round and solves rivers at the table.

    `postprocess` are the rules of the four rounds; a river that is solved has none. `endgame` is `lp`,
    `exact` or `none`; `buckets`, `bucketing` and `tremble` are those of `lp`, `gadget` is for `exact`.
    `large_bets` says whether endgames have sizes above the pot. `back_onto_tree` sizes own bets before
    the river so that the blueprint's pot and the real one come together again.
    """

    name = "claudico"

    def __init__(
        self,
        rules: Rules,
        blueprint: str | Path | Blueprint = "claudico",
        endgame: str = "exact",
        gadget: str = "none",
        postprocess: str = "threshold 0.02/threshold 0.05/threshold 0.1/threshold 0.15",
        buckets: Annotated[int, Within("whole", 1, 200)] = 20,
        bucketing: str = "quantile",
        tremble: Annotated[float, Within("number", 0, 0.05)] = TREMBLE,
        large_bets: bool = True,
        back_onto_tree: bool = False,
        budget: Budget = 1.0,
        river_seconds: Seconds = 1.0,
        translation: str = "pseudo-harmonic",
        threads: Annotated[int, Within("whole", 0, 1024)] = 0,
        train: bool = False,
    ) -> None:
        choose(endgame, ENDGAMES, "endgame")
        choose(bucketing, tuple(BUCKETINGS), "bucketing")
        self.endgame, self.large_bets = endgame, large_bets
        self._gadget = _GADGETS[choose(gadget, tuple(_GADGETS), "gadget")]
        self._program = Program(buckets, bucketing, tremble) if endgame == "lp" else None
        #: The blueprint as it was trained, by which both come to the river.
        self.trunk: BlueprintAgent | None = None
        super().__init__(
            rules,
            blueprint,
            search="none" if endgame == "none" else "river",
            budget=budget,
            river_seconds=river_seconds,
            translation=translation,
            threads=threads,
            train=train,
        )
        given: dict[str, Any] = {
            "endgame": endgame,
            "gadget": gadget,
            "postprocess": postprocess,
            "buckets": buckets,
            "bucketing": bucketing,
            "tremble": tremble,
            "large_bets": large_bets,
            "back_onto_tree": back_onto_tree,
        }
        kept = ("rules", "blueprint", "budget", "river_seconds", "translation", "threads")
        self._given = {key: self._given[key] for key in kept} | given
        self.trunk = self.plain
        self.plain = BlueprintAgent(
            rules,
            self.plain.blueprint,
            translation,
            postprocess,
            back_onto_tree=back_onto_tree,
            any_stack=True,
        )
        self.plain.random = self.random
        self.reset(0)

    def reset(self, seed: int) -> None:
        """A new match: nothing is known of the hands of the last."""
        super().reset(seed)
        if self.trunk is None:
            return
        self.trunk.reset(seed)
        self.settings = SearchSettings(
            first_street=3,
            gadget="unsafe" if self._program is not None else self._gadget,  # type: ignore[arg-type]
            menu=self._menu,
            program=self._program,
            preflop=False,
            budget=self.settings.budget,
            seconds=self.settings.seconds,
            least=self.settings.least,
            kept=self.settings.kept,
            threads=self.settings.threads,
        )
        self.resolvers = self._both_seats(self.trunk.policy)

    def _menu(self, state: State) -> BetMenu:
        return endgame_menu(state, self.large_bets)

    def act(self, view: View) -> Action:
        """Before the river the blueprint's own draws; there, from what was solved."""
        if view.state.round < 3:
            return self.plain.act(view)
        return super().act(view)

    def policy(self, public: PublicState) -> Policy:
        """What every hand plays here."""
        if self.at_once(public) or public.state.to_act is None:
            return self.plain.policy(public)
        return self.solved_policy(public)

    def at_once(self, public: PublicState) -> bool:
        """Whether the blueprint answers."""
        return self.first_street is None or public.state.round < 3
