"""An agent that goes on from a blueprint by searching.

    before the flop   the mixed blueprint; large pots solved at their real size
    flop              the mixed blueprint; after a bet that it does not have, solved to the street's end
    turn              solved to the end of the hand, every hand, with the bets that were really made
    river             solved again from the turn's own solve

`policy` is what it plays: the blueprint's as others see it (:mod:`equipoise.agents.blueprint.mixture`) until
the search begins, then that of :class:`~equipoise.search.resolver.Resolver`. `act` draws from it. No bet is
ever translated where it is searched, and nothing is purified or guarded.

The answer depends on the public situation and the number of the hand alone. Clocks only cap what `act` may
take, while a table waits: iterations follow from the size of a tree and the budget. Where a search fails,
or is cut before it has an answer worth the name, the blueprint answers, there and in all that follows of
the hand, and it is counted.

Other stacks than the blueprint's: before the search begins its tree is read in pots, all-in as all-in
(:mod:`equipoise.abstraction.bets.line`); the search has the true stacks. With fewer than twenty big blinds
hands are jammed or folded (:mod:`.jamming`) as long as the opponent does so too.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from inspect import signature
from math import log
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, get_args

import numpy as np

from equipoise.abstraction.bets.line import same_but_for_chips, same_game
from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.blueprint.files import has_blueprint, load_blueprint, make_blueprint_once
from equipoise.agents.searching.jamming import is_short, jam_policy
from equipoise.cards.combos import combo_index
from equipoise.errors import EquipoiseError, GameError, SolverError
from equipoise.games.hand import View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action, Rules, State
from equipoise.kernel import cores
from equipoise.run import Stop
from equipoise.search.gadgets import Kind as GadgetKind
from equipoise.search.menus import menu_for
from equipoise.search.resolver import Resolver, SearchSettings
from equipoise.search.solves import Solves
from equipoise.search.trunk import BlueprintTrunk, PolicySource
from equipoise.settings import Within, choose
from equipoise.solve.training.blueprint import Blueprint

#: What may be searched, and the first street that is then.
_FIRST_STREET = {"none": None, "river": 3, "turn": 2, "flop": 1}
#: Big blinds of a stack that is played at most.
DEEPEST = 250
#: Seconds of a solve before the flop, which takes hundredths.
_PREFLOP_SECONDS = 1.0
#: Share of the time allowed that solves may take; the rest is for ranges, values and the last iteration.
_SHARE = 0.9
#: Seconds that a solve has at least: enough to see that it does not suffice.
_SHORTEST = 0.02
#: Iterations without which a solve that the clock cut short is no answer.
_FEWEST = 16
#: Solves of a hand that are kept of each street before the river.
_KEPT = 3
#: Answers that are kept.
_KEPT_ANSWERS = 64
#: How far probabilities may be from 1 in sum.
_ROUNDING = 1e-3

Seconds = Annotated[float, Within("number", 0.001, 3600)]
Budget = Annotated[float, Within("number", 0.001, 1000)]


class SearchAgent(Agent):
    """Plays a blueprint and searches from it on, no-limit with stacks of up to 250 big blinds.

    `blueprint` is one that ships or was trained here, by name, or a file; `others` are more of them for
    other stacks, with commas between, of which the nearest is taken that is here. `search` says where
    searching begins: `none`, `river`, `turn` or `flop`, and `flops` which flops then are: those with a bet
    that the blueprint does not have (`off-tree`), or `all`. `gadget` says what an opponent who makes
    such a bet could have had instead, `streets` the same where a street begins: `resolve`, `maxmargin` or
    `unsafe`.
    `budget` multiplies the iterations of a solve, and `flop_seconds`, `turn_seconds` and `river_seconds`
    cap a decision at the table. `threads` are those of a solve; 0 is all cores, one in
    a worker of a match. `train` trains a blueprint that ships as a recipe alone when it is first played.
    """

    name = "search"
    waits = True

    def __init__(
        self,
        rules: Rules,
        blueprint: str | Path | Blueprint = "",
        others: str = "",
        search: str = "flop",
        flops: str = "off-tree",
        gadget: str = "resolve",
        streets: str = "unsafe",
        budget: Budget = 1.0,
        flop_seconds: Seconds = 10.0,
        turn_seconds: Seconds = 4.0,
        river_seconds: Seconds = 0.5,
        translation: str = "pseudo-harmonic",
        threads: Annotated[int, Within("whole", 0, 1024)] = 0,
        train: bool = False,
    ) -> None:
        super().__init__()
        if blueprint == "":
            raise EquipoiseError(
                'which blueprint? set one in a TOML file: agent = "search", blueprint = "quick"'
            )
        self.first_street = _FIRST_STREET[
            choose(search, tuple(_FIRST_STREET), "search", EquipoiseError)
        ]
        self.flops = choose(flops, ("off-tree", "all"), "flops", EquipoiseError)
        self.gadget = choose(gadget, get_args(GadgetKind), "gadget", EquipoiseError)
        self.streets = choose(streets, get_args(GadgetKind), "streets", EquipoiseError)
        self._given: dict[str, Any] = {
            "rules": rules,
            "blueprint": blueprint,
            "others": others,
            "search": search,
            "flops": flops,
            "gadget": gadget,
            "streets": streets,
            "budget": budget,
            "flop_seconds": flop_seconds,
            "turn_seconds": turn_seconds,
            "river_seconds": river_seconds,
            "translation": translation,
            "threads": threads,
        }
        if train and isinstance(blueprint, str):
            make_blueprint_once(blueprint)
        self.rules = rules
        chosen = _nearest(blueprint, others, rules)
        #: The blueprint as it is played without a search.
        self.plain = BlueprintAgent(rules, chosen, translation, any_stack=True)
        if self.plain.line is None:
            raise GameError(f"{chosen.name} plays limit games: searching is for no-limit")
        # One source of random choices: the arena seeds it.
        self.plain.random = self.random
        self.budget, self.threads = budget, threads
        #: Seconds that a decision of each street may take at a table.
        self.caps = {0: _PREFLOP_SECONDS, 1: flop_seconds, 2: turn_seconds, 3: river_seconds}
        #: Set by whoever cannot wait: the blueprint then answers.
        self.stop: Stop | None = None
        #: Why the blueprint answered the last time that it did in place of a search.
        self.failure = ""
        self._jams = self.first_street is not None and is_short(rules)
        self.reset(0)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and other processes make their own from the same settings: tables are not sent.
        return _made, (type(self), self._given, self.plain.seed)

    def __deepcopy__(self, memo: dict[int, Any]) -> SearchAgent:
        return _made(
            type(self), {**self._given, "blueprint": self.plain.blueprint}, self.plain.seed
        )

    def reset(self, seed: int) -> None:
        """A new match: nothing is known of the hands of the last."""
        super().reset(seed)
        self.plain.reset(seed)
        self.fallbacks = 0
        #: One line for each of them.
        self.notes: list[str] = []
        self._answers: dict[tuple[object, ...], Policy] = {}
        self._failed: list[PublicState] = []
        #: Whether a table waits for the answer: nobody else is in a hurry.
        self._waited_for = False
        #: Number of the hand that is being played.
        self._hand = -1
        #: The decision that is being searched, when that began, and when each of its streets has to end.
        self._asked: State | None = None
        self._began = 0.0
        self._ends: dict[int, float] = {}
        line = self.plain.line
        assert line is not None
        #: What hands are worth without a search is computed from this.
        self.continuation = BlueprintTrunk(
            self.plain.blueprint, line.tree.mapping, rules=self.rules
        )
        # Many workers share the cores among them already.
        alone = multiprocessing.parent_process() is None
        self.settings = SearchSettings(
            first_street=self.first_street or 2,  # type: ignore[arg-type]
            flops=self.flops,  # type: ignore[arg-type]
            gadget=self.gadget,  # type: ignore[arg-type]
            streets=self.streets,  # type: ignore[arg-type]
            budget=self.budget,
            seconds=self._allowed,
            least=_FEWEST,
            kept=_KEPT,
            threads=self.threads or (cores() if alone else 1),
        )
        #: What searches, by seat.
        self.resolvers = self._both_seats(self.before_search)

    def _both_seats(self, trunk: PolicySource) -> tuple[Resolver, Resolver]:
        """What searches each seat: who asks for both has what they share solved once."""
        solves = Solves(self.settings.kept)
        first, second = (
            Resolver(trunk, seat, self.settings, continuation=self.continuation, solves=solves)
            for seat in (0, 1)
        )
        return first, second

    # ------------------------------------------------------------------------------------- playing

    def act(self, view: View) -> Action:
        """Draw an action from the policy of the hand that is held."""
        if self.first_street is None:
            return self.plain.act(view)
        public = PublicState(view.state, view.board, view.hand)
        self._waited_for = True
        try:
            policy = self.policy(public)
        finally:
            self._waited_for = False
        if self.kept is not None and self._answers.get(_key(public)) is policy:
            self.kept.append((public, policy))
        chances = policy.probabilities[combo_index(*view.hole)].tolist()
        draw, reached = self.random.random() * sum(chances), 0.0
        taken = policy.actions[0]
        for action, chance in zip(policy.actions, chances, strict=True):
            reached += chance
            if chance > 0:
                taken = action
                if draw < reached:
                    break
        return taken

    def policy(self, public: PublicState) -> Policy:
        """What every hand plays here."""
        state = public.state
        if state.to_act is None:
            raise GameError("the hand is over: a policy is for a player who is to act")
        if self.first_street is None:
            return self.plain.policy(public)
        if self._jams and (found := jam_policy(state)) is not None:
            return found
        return self.plain.policy(public) if self.at_once(public) else self.solved_policy(public)

    def at_once(self, public: PublicState) -> bool:
        """Whether the blueprint answers."""
        if self.first_street is None:
            return True
        resolver = self.resolvers[public.state.to_act or 0]
        return not (resolver.solves_preflop(public) or resolver.searches(public))

    def solved_policy(self, public: PublicState) -> Policy:
        """What a search, kept as long as it is asked for, says that every hand plays."""
        key = _key(public)
        found = self._answers.get(key)
        if found is None:
            found = self._searched(public)
            if len(self._answers) >= _KEPT_ANSWERS:
                self._answers.clear()
            self._answers[key] = found
        return found

    # ----------------------------------------------------------------------------------- searching

    def before_search(self, public: PublicState) -> Policy:
        """What is played before the streets that are searched, by whoever is to act."""
        resolver = self.resolvers[public.state.to_act or 0]
        if resolver.solves_preflop(public):
            return resolver.policy(public, self.stop)
        return self.plain.policy(public)

    def _searched(self, public: PublicState) -> Policy:
        """The answer of a search, or the blueprint's where there is none."""
        if public.hand != self._hand:
            # Solves are large: those of the hand in play are enough.
            self._hand = public.hand
            self._failed.clear()
            for resolver in self.resolvers:
                resolver.forget()
        if not any(_goes_on(failed, public) for failed in self._failed):
            self._asked = public.state if self._waited_for else None
            self._began = perf_counter()
            self._ends.clear()
            try:
                found = self.resolvers[public.state.to_act or 0].policy(public, self.stop)
                if self.stop is not None and self.stop.is_set():
                    raise SolverError("the search was stopped: let it finish")
                _check(found, public.state)
                return found
            except Exception as error:  # the table waits for an answer, whatever went wrong
                self.failure = f"{type(error).__name__}: {error}"
                self._failed.append(public)
            finally:
                self._asked = None
        self.fallbacks += 1
        self.notes.append(f"the blueprint answered in hand {public.hand}: {self.failure}")
        return self.plain.policy(public)

    def _allowed(self, state: State) -> float | None:
        """Seconds that the solve which begins in a state may take; outside of decisions nobody waits."""
        if self._asked is None:
            return None
        now, street = perf_counter(), state.round
        if street not in self._ends:
            # The first solve of a decision is preceded by ranges and values, which count.
            begun = now if self._ends else self._began
            self._ends[street] = begun + _SHARE * self.caps[street]
        left = self._ends[street] - now
        if _meets_unknown(state, self._asked):
            left /= 2
        return max(left, _SHORTEST)


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What an agent of the list is set to, as far as the agent that plays its blueprint plainly takes it.

    >>> plain_settings({"blueprint": "quick", "search": "turn"})
    {'blueprint': 'quick'}
    """
    known = signature(BlueprintAgent).parameters
    return {key: value for key, value in settings.items() if key in known}


def blueprint_player(agent: Agent) -> BlueprintAgent | None:
    """The agent that plays the blueprint of another, which may be that agent itself; None without one."""
    if isinstance(agent, SearchAgent):
        return agent.plain
    return agent if isinstance(agent, BlueprintAgent) else None


def _key(public: PublicState) -> tuple[object, ...]:
    """What an answer is kept by."""
    return public.state.history, public.board, public.hand


def _nearest(source: str | Path | Blueprint, others: str, rules: Rules) -> Blueprint:
    """The blueprint whose stacks are nearest to the table's; games that none plays are refused."""
    found = source if isinstance(source, Blueprint) else load_blueprint(source)
    trained = found.recipe.rules
    if same_game(rules, trained):
        return found
    if trained.limit or not same_but_for_chips(rules, trained):
        raise GameError(
            f"{found.name} searches no-limit hold'em with even stacks and a small blind of half the "
            f"big one, not {rules.name}: play by such rules"
        )
    depth = _depth(rules)
    if not 1 < depth <= DEEPEST:
        raise GameError(
            f"stacks of {depth:g} big blinds: {found.name} plays those of more than 1 and up to "
            f"{DEEPEST}"
        )
    known = [found]
    for name in filter(None, map(str.strip, others.split(","))):
        if has_blueprint(name):
            more = load_blueprint(name)
            if same_but_for_chips(rules, more.recipe.rules):
                known.append(more)
    return min(known, key=lambda one: abs(log(_depth(one.recipe.rules) / depth)))


def _depth(rules: Rules) -> float:
    """Stacks in big blinds."""
    return min(rules.stacks) / rules.big_blind


def _goes_on(failed: PublicState, public: PublicState) -> bool:
    """Whether a situation follows, in the same seat, from one in which a search failed."""
    before, after = ([a for part in one.state.history for a in part] for one in (failed, public))
    return (
        failed.state.to_act == public.state.to_act
        and public.board[: len(failed.board)] == failed.board
        and after[: len(before)] == before
    )


def _meets_unknown(start: State, asked: State) -> bool:
    """Whether a tree that begins in one state lacks a bet on the way to another of its street."""
    begun, now = start.history[start.round], start
    if start.round == 0 or asked.round != start.round:
        return False
    line = asked.history[asked.round][len(begun) :]
    menu = menu_for(start) if line else None
    for action in line:
        if menu is not None and action not in menu.actions(now):
            return True
        now = now.apply(action)
    return False


def _check(policy: Policy, state: State) -> None:
    """Refuse what cannot be played."""
    sums = policy.probabilities.sum(axis=1)
    if not (np.abs(sums - 1) < _ROUNDING).all():
        raise SolverError("probabilities do not sum to 1: search again")
    for action in policy.actions:
        if not state.can(action):
            raise SolverError(f"{action} after '{state.betting_text()}': legal is {state.legal()}")


def _made(kind: type[SearchAgent], given: dict[str, Any], seed: int) -> SearchAgent:
    agent = kind(**given)
    agent.reset(seed)
    return agent
