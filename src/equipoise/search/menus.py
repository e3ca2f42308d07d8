"""Bet menus of a search: sizes by pot and stack, and whatever was really bet.

A tree that is solved while somebody waits has room for some decisions, and the deeper the stacks the
more every size multiplies. So menus stand on a ladder, richest first, and a subgame takes the first
whose tree fits. What was really played is an action of the tree at its place, on the menu or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from equipoise.errors import GameError, IllegalActionError, TooLargeError
from equipoise.games.betting import Betting, measure
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.nodes import DEAL
from equipoise.games.rules import Action, State

History = tuple[tuple[Action, ...], ...]

#: Bets | raises, richest first. The first raise and those after it may differ.
_LADDER: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("33%,75%,150%,a", ("75%,a",)),
    ("50%,100%,a", ("75%,a", "a")),
    ("50%,100%,a", ("a",)),
    ("75%,a", ("a",)),
    ("100%,a", ("a", "")),
    ("a", ("a",)),
)
#: The same for flops that are cut at their end: every line that goes on costs a second of one core.
_FLOP_LADDER: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("50%,100%,a", ("50%,100%,a", "a")),
    ("50%,100%,a", ("100%,a", "a")),
    ("100%,a", ("100%,a", "a")),
    ("75%,a", ("a",)),
    ("100%,a", ("a", "")),
    ("a", ("a",)),
)
#: Lines of such a flop on which the turn comes, at most.
MOST_LEAVES = 5
#: A size that would leave at most this many pots after a call is all-in.
_FORCED_ALL_IN = 0.15
#: Decisions of betting that a tree may have, by the rounds that are left: 1 on the river, 2 on the turn.
MOST_DECISIONS = {1: 120, 2: 100}


@dataclass(frozen=True)
class LineMenu(BetMenu):
    """A menu to which single places of the tree add actions of their own."""

    #: What offers the other actions.
    base: BetMenu = field(default_factory=BetMenu.full)
    #: Actions that are there besides the menu's, by the betting that leads to them.
    added: Mapping[History, tuple[Action, ...]] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.base, tuple(self.added)))

    @classmethod
    def along(
        cls,
        menu: BetMenu,
        start: State,
        line: Sequence[Action],
        more: Mapping[History, Sequence[Action]] | None = None,
    ) -> tuple[LineMenu, State]:
        """The menu with all actions of a line from `start` on; and the state where the line ends."""
        added: dict[History, tuple[Action, ...]] = {
            history: tuple(actions) for history, actions in (more or {}).items()
        }
        state = start
        for action in line:
            if not state.can(action):
                raise IllegalActionError(
                    f"the line of a subgame after '{start.betting_text()}' plays {action} after "
                    f"'{state.betting_text()}', where legal is {state.legal()}"
                )
            added[state.history] = (*added.get(state.history, ()), action)
            state = state.apply(action)
        thresholds = (menu.add_allin_threshold, menu.force_allin_threshold, menu.merging_threshold)
        return cls(menu.streets, *thresholds, base=menu, added=added), state

    def actions(self, state: State) -> tuple[Action, ...]:
        """Those of the menu, and those that are there besides."""
        usual = self.base.actions(state)
        extra = [a for a in self.added.get(state.history, ()) if a not in usual]
        if not extra:
            return usual
        for action in extra:
            if not state.can(action):
                raise IllegalActionError(
                    f"{action} after '{state.betting_text()}': legal is {state.legal()}"
                )
        return tuple(sorted({*usual, *extra}))

    def looks_at(self, state: State) -> object:
        """The betting itself, where something may still be added after it."""
        depth = len(state.history) - 1
        for history in self.added:
            if history[:depth] == state.history[:depth] and len(history) > depth:
                begun = history[depth][: len(state.history[depth])]
                if begun == state.history[depth]:
                    return state.history
        return self.base.looks_at(state)


@lru_cache(maxsize=64)
def menu_for(state: State, most_decisions: int | None = None) -> BetMenu:
    """The richest menu of the ladder whose tree from `state` on has at most so many decisions.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> river = State.from_betting_text(NOLIMIT_HOLDEM, "r250c/cc/cc/")
    >>> str(menu_for(river).street(3)[0].bets[0]), str(menu_for(river, 30).street(3)[0].bets[0])
    ('33%', '50%')
    """
    left = state.rules.rounds - state.round
    if state.rules.limit:
        return BetMenu.full()
    if left == 3:
        return _flop_menu(state)
    most = most_decisions if most_decisions is not None else MOST_DECISIONS.get(left, 100)
    smallest = 0
    for bets, raises in _LADDER:
        menu = BetMenu.parse(bets, list(raises), force_allin_threshold=_FORCED_ALL_IN)
        size = measure(state.rules, menu, keep_first=True, start=state)
        smallest = sum(size.decisions)
        if smallest <= most:
            return menu
    raise TooLargeError(
        f"the smallest tree after '{state.betting_text()}' has {smallest} decisions, more than {most}: "
        "allow more"
    )


def endgame_menu(state: State, large: bool = True) -> BetMenu:
    """Sizes of a river as Claudico had them: by what is left behind in pots, the deeper the more.

    Without `large` nobody bets or raises more than the pot, unless no more than that is left: its team
    took the larger bets out halfway, for buckets of equity bluff them with the wrong cards.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> river = State.from_betting_text(NOLIMIT_HOLDEM, "r250c/cc/cc/")
    >>> for bets in (endgame_menu(river), endgame_menu(river, large=False)):
    ...     print(*bets.street(3)[0].bets)
    33% 75% 200% a
    33% 75%
    """
    pot = state.pot
    behind = min(
        stack - used for stack, used in zip(state.rules.stacks, state.committed, strict=True)
    )
    if behind <= 1.5 * pot:
        sizes: tuple[str, tuple[str, ...]] = ("50%,a", ("a",))
    elif behind <= 4 * pot:
        sizes = ("50%,100%,a", ("a",)) if large else ("50%,100%", ("100%",))
    else:
        sizes = ("33%,75%,200%,a", ("100%,a", "a")) if large else ("33%,75%", ("100%",))
    return BetMenu.parse(sizes[0], list(sizes[1]), force_allin_threshold=_FORCED_ALL_IN)


def _flop_menu(state: State) -> BetMenu:
    """The richest menu of a flop from which few enough lines lead to the turn."""
    # Where nobody could bet any more a line would not end with its street.
    later, before = StreetMenu.parse("a", "a"), StreetMenu.parse("")
    for bets, raises in _FLOP_LADDER:
        flop = StreetMenu.parse(bets, raises)
        streets = ((before, before),) * state.round + ((flop, flop), (later, later))
        menu = BetMenu(streets, force_allin_threshold=_FORCED_ALL_IN)
        tree = Betting.build(state.rules, menu, keep_first=True, start=state)
        if len(tree.of_kind(0, DEAL)) <= MOST_LEAVES:
            break
    return menu


def check_menu(menu: BetMenu, state: State) -> None:
    """Refuse a menu under which nobody has anything to choose from a state on."""
    size = measure(state.rules, menu, keep_first=True, start=state)
    if sum(rows for pair in size.rows for rows in pair) <= sum(size.decisions):
        raise GameError(
            f"the menu leaves nobody a choice after '{state.betting_text()}': give it a bet, such as "
            "75%,a"
        )
