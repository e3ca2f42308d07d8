"""Continual re-solving: one seat of a hand, searched from a street on, every bet in its tree.

A `Resolver` answers what every hand of its seat plays in a public situation, as a strategy does. Before
the first street it searches it plays the trunk. On that street

    ranges         both players', if they came by the trunk
    alternatives   the opponent's hands by the trunk: self-play or best-response values

and from then on its own last solve is all that counts: the trunk's coarse cards enter once.

    the next street     ranges and the opponent's values at the node that was reached, with the card
    a bet not in the    solved again from after the bet on; his alternatives are his values at the
    tree                decision before it, which he had without this bet

Nothing is solved again in between: solving at every node adds each solve's error to the last one's.

What is answered depends on the public situation alone, not on who asked what before, nor on a clock:
solves are kept, but made anew they are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from equipoise.errors import GameError, SolverError
from equipoise.games.menu import BetMenu
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Rules, State
from equipoise.run import Stop
from equipoise.search.gadgets import UNSAFE, Gadget, Kind, with_gifts
from equipoise.search.menus import History, menu_for
from equipoise.search.preflop import PREFLOP_ITERATIONS, SolvedPreflop, is_large, solve_preflop
from equipoise.search.programs import solve_by_program
from equipoise.search.solved import How, Solved, solve_subgame
from equipoise.search.subgame import Subgame
from equipoise.search.trunk import Alternatives, PolicySource, TrunkValues, asked, trunk_ranges
from equipoise.solve.spots.bucketedriver import Program

MenuChoice = Callable[[State], BetMenu]
#: Seconds that a solve which begins in a state may take.
Clock = Callable[[State], float | None]


@dataclass(frozen=True)
class SearchSettings:
    """How a resolver searches."""

    #: First street that is solved: 2 is the turn, 3 the river.
    first_street: Literal[2, 3] = 2
    #: What the opponent may do in place of entering.
    gadget: Kind = "resolve"
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
    #: Solves that are kept, of either kind.
    kept: int = 16
    #: Threads of a solve.
    threads: int | None = 1

    def __post_init__(self) -> None:
        if self.first_street not in (2, 3):
            raise SolverError(
                f"first_street = {self.first_street}: search from 2 (turn) or 3 (river)"
            )
        if self.program is not None and (self.first_street, self.gadget) != (3, "unsafe"):
            raise SolverError("a linear program is for rivers, without a gadget: search from 3")


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
        self._solves: OrderedDict[tuple[History, tuple[int, ...], int], Solved] = OrderedDict()

    def policy(self, public: PublicState, stop: Stop | None = None) -> Policy:
        """What every hand of the seat plays here."""
        state = public.state
        if state.to_act is None:
            raise GameError("the hand is over: a policy is for a player who is to act")
        if state.to_act != self.seat:
            raise GameError(
                f"it is the turn of seat {state.to_act}: this search plays seat {self.seat}"
            )
        if self.settings.preflop and is_large(state):
            return self.solved_preflop(public, stop).policy()
        if state.round < self.settings.first_street:
            return asked(self.trunk, public)
        return self.solved(public, stop).policy(state, public.board)

    def solved_preflop(self, public: PublicState, stop: Stop | None = None) -> SolvedPreflop:
        """A large pot before the flop, solved at its real size from both ranges of the trunk."""
        state, _, hand = public
        if not is_large(state):
            raise GameError(
                f"'{state.betting_text()}': no raise before the flop leaves at most one pot behind "
                "there, the trunk plays it"
            )
        key = (state.history, hand)
        if key in self._preflop:
            return self._preflop[key]
        ranges = trunk_ranges(self.trunk, state, (), hand)
        settings = self.settings
        count = settings.iterations or max(1, round(settings.budget * PREFLOP_ITERATIONS))
        found = solve_preflop(
            state, ranges, self.seat, iterations=count, seconds=self._seconds(state), stop=stop
        )
        if stop is None or not stop.is_set():
            self._check(state, found.solver.iteration, count)
            while len(self._preflop) >= settings.kept:
                self._preflop.pop(next(iter(self._preflop)))
            self._preflop[key] = found
        return found

    def solved(self, public: PublicState, stop: Stop | None = None) -> Solved:
        """The last solve that this situation belongs to."""
        state, board, hand = public
        if state.round < self.settings.first_street:
            raise GameError(
                f"'{state.betting_text()}': the search begins on a later street, the trunk plays here"
            )
        begun = _round_start(state)
        now, found = begun, self._street(begun, board, hand, stop)
        for action in state.history[state.round]:
            after = now.apply(action)
            if not found.knows(after) and not after.is_over:
                found = self._after_new_bet(found, now, after, board, hand, stop)
            now = after
        return found

    def forget(self) -> None:
        """Let go of all solves: whoever goes on to another hand needs none of them."""
        self._preflop.clear()
        self._solves.clear()

    # -------------------------------------------------------------------------------------- solves

    def _street(self, begun: State, board: tuple[int, ...], hand: int, stop: Stop | None) -> Solved:
        """The solve with which a street begins."""
        key = (begun.history, board, hand)
        if key in self._solves:
            self._solves.move_to_end(key)
            return self._solves[key]
        settings, he = self.settings, 1 - self.seat
        if begun.round == settings.first_street:
            ranges = trunk_ranges(self.trunk, begun, board, hand)
            gadget = UNSAFE
            if settings.gadget != "unsafe":
                values = TrunkValues(self.continuation, begun, board, ranges, hand)
                worth = values.values(he, settings.alternatives)
                gadget = Gadget(settings.gadget, worth, settings.tie)
        else:
            cards = board[: -begun.rules.board_cards[begun.round]]
            last = self.solved(PublicState(_before_street(begun), cards, hand), stop)
            ranges = (last.reach(0, begun, board), last.reach(1, begun, board))
            gadget = self._gadget(last, begun, board)
        return self._keep(key, Subgame(begun, board, ranges, settings.menu(begun)), gadget, stop)

    def _after_new_bet(
        self,
        last: Solved,
        before: State,
        after: State,
        board: tuple[int, ...],
        hand: int,
        stop: Stop | None,
    ) -> Solved:
        """The solve that goes on after a bet which the last one's tree does not have."""
        key = (after.history, board, hand)
        if key in self._solves:
            self._solves.move_to_end(key)
            return self._solves[key]
        ranges = (last.reach(0, before, board), last.reach(1, before, board))
        mine = before.to_act == self.seat
        # A bet of mine that was not in my tree says nothing on what he could have had elsewhere.
        gadget = UNSAFE if mine else self._gadget(last, before, board)
        return self._keep(
            key, Subgame(after, board, ranges, self.settings.menu(after)), gadget, stop
        )

    def _gadget(self, last: Solved, state: State, board: tuple[int, ...]) -> Gadget:
        settings = self.settings
        if settings.gadget == "unsafe":
            return UNSAFE
        worth = last.values(1 - self.seat, state, board, settings.carried)
        if settings.reach:
            worth = with_gifts(worth, last.gifts(1 - self.seat, state))
        return Gadget(settings.gadget, worth, settings.tie)

    def _keep(
        self,
        key: tuple[History, tuple[int, ...], int],
        subgame: Subgame,
        gadget: Gadget,
        stop: Stop | None,
    ) -> Solved:
        settings = self.settings
        if settings.program is not None:
            found = solve_by_program(subgame, self.seat, settings.program)
            self._store(key, found)
            return found
        found = solve_subgame(
            subgame,
            self.seat,
            gadget,
            iterations=settings.iterations,
            budget=settings.budget,
            seconds=self._seconds(subgame.state),
            threads=settings.threads,
            stop=stop,
        )
        if not (found.stopped and stop is not None and stop.is_set()):
            if found.stopped:
                self._check(subgame.state, found.iterations, settings.least)
            self._store(key, found)
        return found

    def _store(self, key: tuple[History, tuple[int, ...], int], found: Solved) -> None:
        self._solves[key] = found
        while len(self._solves) > self.settings.kept:
            self._solves.popitem(last=False)

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
