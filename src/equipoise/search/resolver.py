"""Continual re-solving: one seat of a hand, searched from a street on, every bet in its tree.

A `Resolver` answers what every hand of its seat plays in a public situation, as a strategy does. Before
the first street it searches it plays the trunk. On that street

    ranges         both players', if they came by the trunk
    alternatives   the opponent's hands by the trunk: self-play or best-response values

and from then on its own last solve is all that counts: the trunk's coarse cards enter once.

    the next street     ranges and the opponent's values at the node that was reached, with the card
    a bet not in the    solved again from after the bet on; his alternatives are his values at the
    tree                decision before it, which he had without this bet

A flop is solved to its end alone (:mod:`.flop`), by default only after a bet that the trunk does not have
and would take for another. The turn after it begins with the ranges of that solve.

Nothing is solved again in between: solving at every node adds each solve's error to the last one's.

What is answered depends on the public situation alone, not on who asked what before, nor on a clock:
solves are kept (:mod:`.solves`), but made anew they are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from equipoise.errors import GameError, SolverError
from equipoise.games.menu import BetMenu
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Kind as ActionKind
from equipoise.games.rules import Rules, State
from equipoise.run import Stop
from equipoise.search.flop import solve_flop
from equipoise.search.gadgets import UNSAFE, Gadget, Kind, with_gifts
from equipoise.search.menus import History, menu_for
from equipoise.search.preflop import PREFLOP_ITERATIONS, SolvedPreflop, is_large, solve_preflop
from equipoise.search.programs import solve_by_program
from equipoise.search.rollouts import flop_values
from equipoise.search.solved import How, Solved, solve_subgame
from equipoise.search.solves import Solves, numbers_of, question_of
from equipoise.search.subgame import Subgame, Weights
from equipoise.search.trunk import (
    Alternatives,
    BlueprintTrunk,
    PolicyMenu,
    PolicySource,
    TrunkValues,
    asked,
    trunk_ranges,
)
from equipoise.solve.spots.bucketedriver import Program

MenuChoice = Callable[[State], BetMenu]
#: What a solve is kept by: betting, cards, number of the hand, and share of the iterations.
_Key = tuple[History, tuple[int, ...], int, float]
#: Seconds that a solve which begins in a state may take.
Clock = Callable[[State], float | None]


@dataclass(frozen=True)
class SearchSettings:
    """How a resolver searches."""

    #: First street that is solved: 1 is the flop, 2 the turn, 3 the river.
    first_street: Literal[1, 2, 3] = 2
    #: Which flops are solved: those with a bet that the trunk does not have, or all.
    flops: Literal["off-tree", "all"] = "off-tree"
    #: What the opponent may do in place of entering, after a bet that the last tree did not have.
    gadget: Kind = "resolve"
    #: The same where a street begins; by default `gadget`.
    streets: Kind | None = None
    #: What his hands are worth elsewhere when the first street begins.
    alternatives: Alternatives = "self-play"
    #: What they are worth after a solve of ours: at his best against it, or as both played.
    carried: How = "best"
    #: Whether alternatives after a solve of ours are raised by what his hands forwent in it.
    reach: bool = False
    #: Weight of his likeliest hand by which ties among safe strategies are broken.
    tie: float = 0.01
    #: Sizes of a tree that begins in a state; by default the richest that fits.
    menu: MenuChoice = menu_for
    #: A linear program over buckets in place of iterations, on rivers, where gadgets are none.
    program: Program | None = None
    #: Whether large pots before the flop are solved at their real size, too.
    preflop: bool = True
    #: Iterations of every solve; by default from the size of its tree.
    iterations: int | None = None
    #: What the iterations that follow from the size of a tree are multiplied by.
    budget: float = 1.0
    #: Seconds after which a solve that begins in a state is cut short; a clock may change an answer, so by
    #: default none.
    seconds: float | Clock | None = None
    #: Iterations below which a solve that a clock cut short is no answer, and refused.
    least: int = 0
    #: Solves that are kept of each street; of rivers, which are small, more.
    kept: int = 16
    #: Threads of a solve.
    threads: int | None = 1

    def __post_init__(self) -> None:
        if self.first_street not in (1, 2, 3):
            raise SolverError(
                f"first_street = {self.first_street}: search from 1 (flop), 2 (turn) or 3 (river)"
            )
        if self.program is not None and (self.first_street, self.gadget) != (3, "unsafe"):
            raise SolverError("a linear program is for rivers, without a gadget: search from 3")

    @property
    def entering(self) -> Kind:
        """What the opponent may do in place of entering a street."""
        return self.gadget if self.streets is None else self.streets


class Resolver:
    """Plays one seat from a street on by its own solves.

    >>> from equipoise.cards.card import parse_cards
    >>> from equipoise.games.policy import same_for_all
    >>> from equipoise.games.rules import CALL, NOLIMIT_HOLDEM
    >>> def caller(public):                                      # a trunk that always calls
    ...     return same_for_all(public.state, {CALL: 1.0})
    >>> resolver = Resolver(caller, 0, SearchSettings(first_street=3, iterations=50))
    >>> state = State.from_betting_text(NOLIMIT_HOLDEM, "cc/cc/cc/")
    >>> policy = resolver.policy(PublicState(state, parse_cards("Td9d6hQc2s"), 0))
    >>> [str(action) for action in policy.actions][:3]
    ['c', 'r200', 'r250']
    """

    def __init__(
        self,
        trunk: PolicySource,
        seat: int,
        settings: SearchSettings | None = None,
        *,
        continuation: PolicySource | None = None,
        solves: Solves | None = None,
    ) -> None:
        if seat not in (0, 1):
            raise GameError(f"seat = {seat}: a seat is 0 or 1")
        #: What is played before the search begins, and how both players' ranges come about.
        self.trunk = trunk
        #: What the opponent's hands are worth elsewhere is computed from this: the trunk, or one that
        #: is quicker to ask on thousands of decisions.
        self.continuation = continuation or trunk
        self.seat = seat
        self.settings = settings or SearchSettings()
        self._preflop: dict[tuple[History, int], SolvedPreflop] = {}
        #: What his hands are worth by the trunk, by place and ranges.
        self._worth: dict[tuple[object, ...], Weights] = {}
        #: Where solves are kept: with one that searches the other seat, by the same trunk and settings.
        self.solves = Solves(self.settings.kept) if solves is None else solves

    def policy(self, public: PublicState, stop: Stop | None = None) -> Policy:
        """What every hand of the seat plays here."""
        state = public.state
        if state.to_act is None:
            raise GameError("the hand is over: a policy is for a player who is to act")
        if state.to_act != self.seat:
            raise GameError(
                f"it is the turn of seat {state.to_act}: this search plays seat {self.seat}"
            )
        if self.solves_preflop(public):
            return self.solved_preflop(public, stop).policy()
        if not self.searches(public):
            return asked(self.trunk, public)
        return self.solved(public, stop).policy(state, public.board)

    def searches(self, public: PublicState) -> bool:
        """Whether a situation after the flop's first card is solved, not played by the trunk."""
        settings, street = self.settings, public.state.round
        if street != 1 or settings.first_street > 1:
            return street >= settings.first_street
        return settings.flops == "all" or self._foreign(public) is not None

    def _foreign(self, public: PublicState) -> tuple[State, State] | None:
        """The first bet of a street that the trunk does not have: before it, and after it."""
        state, board, hand = public
        now = _round_start(state)
        menu = PolicyMenu.known_to(self.continuation, board, hand)
        for action in state.history[state.round]:
            after = now.apply(action)
            if action.kind == ActionKind.RAISE and action not in menu.actions(now):
                return now, after
            now = after
        return None

    def solves_preflop(self, public: PublicState) -> bool:
        """Whether a large pot before the flop is solved: where the trunk does not know it as it is.

        What it knows it has learnt against whoever may go all-in with anything.
        """
        if not (self.settings.preflop and is_large(public.state)):
            return False
        trunk = self.continuation
        other_stacks = isinstance(trunk, BlueprintTrunk) and trunk.foreign
        return other_stacks or self._foreign(public) is not None

    def solved_preflop(self, public: PublicState, stop: Stop | None = None) -> SolvedPreflop:
        """A large pot before the flop, solved at its real size from the ranges before its last raise."""
        state, _, hand = public
        if not is_large(state):
            raise GameError(
                f"'{state.betting_text()}': no raise before the flop leaves at most one pot behind "
                "there, the trunk plays it"
            )
        key = (state.history, hand)
        if key in self._preflop:
            return self._preflop[key]
        before = _round_start(state)
        *line, raised = state.history[0]
        for action in line:
            before = before.apply(action)
        ranges = trunk_ranges(self.trunk, before, (), hand)
        settings = self.settings
        count = settings.iterations or max(1, round(settings.budget * PREFLOP_ITERATIONS))
        found = solve_preflop(
            before, ranges, self.seat, raised=raised,
            iterations=count, seconds=self._seconds(state), stop=stop,
        )  # fmt: skip
        if stop is None or not stop.is_set():
            self._check(state, found.solver.iteration, count)
            while len(self._preflop) >= settings.kept:
                self._preflop.pop(next(iter(self._preflop)))
            self._preflop[key] = found
        return found

    def solved(self, public: PublicState, stop: Stop | None = None) -> Solved:
        """The last solve that this situation belongs to."""
        state, board, hand = public
        if not self.searches(public):
            raise GameError(
                f"'{state.betting_text()}': the search begins on a later street, the trunk plays here"
            )
        now = _round_start(state)
        foreign = None
        if state.round == 1 and self.settings.flops == "off-tree":
            foreign = self._foreign(public)
        if foreign is None:
            share = self._share(state)
            found = self._street(now, board, hand, stop, share)
        else:
            share = 1.0
            found = self._after_foreign(*foreign, board, hand, stop)
            now = foreign[1]
        for action in state.history[state.round][len(now.history[state.round]) :]:
            after = now.apply(action)
            if not found.knows(after) and not after.is_over:
                found = self._after_new_bet(found, now, after, board, hand, stop, share)
            now = after
        return found

    def _share(self, state: State) -> float:
        """Share of its iterations that a street's first solve has, and those after bets off its tree.

        Who is met by such a bet before he has decided anything on the street has two solves to do at
        once, in the time of one.
        """
        begun = _round_start(state)
        line = state.history[state.round]
        if (
            begun.to_act == self.seat
            or not line
            or line[0] in self.settings.menu(begun).actions(begun)
        ):
            return 1.0
        return 0.5

    def forget(self) -> None:
        """Let go of all solves: whoever goes on to another hand needs none of them."""
        self._preflop.clear()
        self._worth.clear()
        self.solves.clear()

    # -------------------------------------------------------------------------------------- solves

    def _street(
        self,
        begun: State,
        board: tuple[int, ...],
        hand: int,
        stop: Stop | None,
        share: float = 1.0,
    ) -> Solved:
        """The solve with which a street begins."""
        key = (begun.history, board, hand, share)
        if (found := self._kept(key)) is not None:
            return found
        settings = self.settings
        last: Solved | None = None
        if begun.round > settings.first_street:
            cards = board[: -begun.rules.board_cards[begun.round]]
            before = PublicState(_before_street(begun), cards, hand)
            last = self.solved(before, stop) if self.searches(before) else None
        if last is not None and begun.round > 2:
            ranges = (last.reach(0, begun, board), last.reach(1, begun, board))
            gadget = self._gadget(last, begun, board, settings.entering)
        else:
            if last is None:
                ranges = trunk_ranges(self.trunk, begun, board, hand)
            else:
                # What a flop's lines are worth is known on average over its turns: on one of them the
                # trunk says it.
                ranges = (last.reach(0, begun, board), last.reach(1, begun, board))
            gadget = self._trunk_gadget(begun, board, ranges, hand, stop, settings.entering)
        return self._keep(key, Subgame(begun, board, ranges, settings.menu(begun)), gadget, stop)

    def _trunk_gadget(
        self,
        state: State,
        board: tuple[int, ...],
        ranges: tuple[Weights, Weights],
        hand: int,
        stop: Stop | None,
        kind: Kind,
    ) -> Gadget:
        """What his hands are worth by the trunk, from a place on."""
        settings, he = self.settings, 1 - self.seat
        if kind == "unsafe":
            return UNSAFE
        # Whatever is bet there, his alternatives are the same, and on a flop take a second.
        key = (state.history, board, hand, numbers_of(*ranges))
        if key not in self._worth:
            if state.round == 1:
                worth = flop_values(self.continuation, state, board, ranges, he, hand, stop=stop)
            else:
                values = TrunkValues(self.continuation, state, board, ranges, hand)
                worth = values.values(he, settings.alternatives)
            while len(self._worth) >= settings.kept:
                self._worth.pop(next(iter(self._worth)))
            self._worth[key] = worth
        return Gadget(kind, self._worth[key], settings.tie)

    def _after_foreign(
        self,
        before: State,
        after: State,
        board: tuple[int, ...],
        hand: int,
        stop: Stop | None,
    ) -> Solved:
        """The solve of a flop that goes on after a bet which the trunk does not have."""
        key = (after.history, board, hand, 1.0)
        if (found := self._kept(key)) is not None:
            return found
        ranges = trunk_ranges(self.trunk, before, board, hand)
        kind = "unsafe" if before.to_act == self.seat else self.settings.gadget
        gadget = self._trunk_gadget(before, board, ranges, hand, stop, kind)
        subgame = Subgame(after, board, ranges, self.settings.menu(after))
        return self._keep(key, subgame, gadget, stop)

    def _after_new_bet(
        self,
        last: Solved,
        before: State,
        after: State,
        board: tuple[int, ...],
        hand: int,
        stop: Stop | None,
        share: float = 1.0,
    ) -> Solved:
        """The solve that goes on after a bet which the last one's tree does not have."""
        key = (after.history, board, hand, share)
        if (found := self._kept(key)) is not None:
            return found
        ranges = (last.reach(0, before, board), last.reach(1, before, board))
        # A bet of mine that was not in my tree says nothing on what he could have had elsewhere.
        kind = "unsafe" if before.to_act == self.seat else self.settings.gadget
        gadget = self._gadget(last, before, board, kind)
        return self._keep(
            key, Subgame(after, board, ranges, self.settings.menu(after)), gadget, stop
        )

    def _gadget(self, last: Solved, state: State, board: tuple[int, ...], kind: Kind) -> Gadget:
        settings = self.settings
        if kind == "unsafe":
            return UNSAFE
        worth = last.values(1 - self.seat, state, board, settings.carried)
        if settings.reach:
            worth = with_gifts(worth, last.gifts(1 - self.seat, state))
        return Gadget(kind, worth, settings.tie)

    def _kept(self, key: _Key) -> Solved | None:
        """The solve that this seat asked for by a key, if it is kept."""
        return self.solves.named(len(key[0]), (self.seat, key))

    def _keep(
        self,
        key: _Key,
        subgame: Subgame,
        gadget: Gadget,
        stop: Stop | None,
    ) -> Solved:
        """Solve, or take what was solved for the other seat, and keep it."""
        street, name = len(key[0]), (self.seat, key)
        # Nobody is guarded in an unsafe solve to the end of the hand: it is that of both seats.
        alike = gadget.kind == "unsafe" and subgame.state.round > 1
        question = question_of(subgame, gadget, *key[2:], None if alike else self.seat)
        known = self.solves.answering(street, name, question)
        if known is not None:
            return known
        found = self._solve(subgame, gadget, key, stop)
        if not (found.stopped and stop is not None and stop.is_set()):
            if found.stopped:
                self._check(subgame.state, found.iterations, self.settings.least)
                # What a clock cut short is nobody else's answer.
                question = (question, self.seat)
            self.solves.keep(street, name, question, found)
        return found

    def _solve(self, subgame: Subgame, gadget: Gadget, key: _Key, stop: Stop | None) -> Solved:
        settings = self.settings
        if settings.program is not None:
            return solve_by_program(subgame, self.seat, settings.program)
        told: dict[str, Any] = {
            "iterations": settings.iterations,
            "budget": settings.budget * key[3],
            "seconds": self._seconds(subgame.state),
            "threads": settings.threads,
            "stop": stop,
        }
        if subgame.state.round == 1:
            return solve_flop(subgame, self.continuation, self.seat, gadget, hand=key[2], **told)
        return solve_subgame(subgame, self.seat, gadget, **told)

    def _seconds(self, state: State) -> float | None:
        seconds = self.settings.seconds
        return seconds(state) if callable(seconds) else seconds

    def _check(self, state: State, done: int, wanted: int) -> None:
        """Refuse an answer of too few iterations, where more were wanted."""
        if done < min(wanted, self.settings.least):
            raise SolverError(
                f"a search after '{state.betting_text()}' was cut short after {done} iterations: allow "
                "more seconds"
            )


def _round_start(state: State) -> State:
    """Where the street of a state began."""
    return _replayed(state.rules, (*state.history[: state.round], ()))


def _before_street(begun: State) -> State:
    """Where the last action of the street before was taken."""
    *earlier, last = begun.history[: begun.round]
    return _replayed(begun.rules, (*earlier, last[:-1]))


def _replayed(rules: Rules, history: History) -> State:
    state = State.start(rules)
    for part in history:
        for action in part:
            state = state.apply(action)
    return state
