"""The public betting tree, flat: every line of betting of a game, round by round.

All solvers walk these arrays. A round is a *forest* in breadth-first order, one tree for every way
the round can begin, so the whole game needs one copy of its betting whatever cards fall: the cards
are a second tree (:mod:`equipoise.games.boards`), and a decision is a (betting node, board) pair.

A tree may begin anywhere in a hand, in the middle of a round too. Rounds before that of its origin do
not exist: round 0 of the tree is the origin's, and the first board holds the cards that lie there.
States keep the whole history, and chips are counted from the start of the hand.

What a terminal pays player `p` against an opponent of reach `r` is

    even[p] * N(r) + swing * D(r)

with `N` the mass of opponent hands that do not collide with mine and `D` the mass I beat less the
mass that beats me. A fold has only the first term. A showdown of a pot of `2h` chips without rake
has `even = 0, swing = h`; a rake of `k` chips takes `k/2` from both coefficients, because winner
and loser of a raked pot together lose `k` just as two tied players do.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import GameError, TooLargeError
from equipoise.games.menu import BetMenu
from equipoise.games.nodes import DEAL, FOLD, GIVEN, SHOWDOWN
from equipoise.games.notation.labels import action_label
from equipoise.games.rules import Action, Rules, State


class Rake(NamedTuple):
    """What the house takes from a pot that is won, in chips.

    >>> Rake(0.05, 3).taken(40), Rake(0.05, 3).taken(100)
    (2.0, 3.0)
    """

    #: Share of the pot.
    rate: float = 0.0
    #: Most that is taken, in chips.
    cap: float = float("inf")

    def taken(self, pot: float) -> float:
        """Chips taken from a pot of `pot` chips."""
        return float(min(self.rate * pot, self.cap)) if self.rate else 0.0


NO_RAKE = Rake()


class TreeSize(NamedTuple):
    """How large a betting tree is, before it is built."""

    #: All nodes of each round.
    nodes: tuple[int, ...]
    #: Rows (decision, action) of each round and player.
    rows: tuple[tuple[int, int], ...]
    #: Decisions of each round.
    decisions: tuple[int, ...]
    #: Showdowns of each round: before the last one they are all-in calls.
    showdowns: tuple[int, ...]

    @property
    def total(self) -> int:
        """Nodes of all rounds."""
        return sum(self.nodes)


@dataclass(frozen=True)
class Betting:
    """A betting tree as flat arrays, all rounds one after another.

    >>> from equipoise.games.rules import LIMIT_HOLDEM
    >>> betting = Betting.build(LIMIT_HOLDEM, BetMenu.full())
    >>> [int((betting.kind[a:b] < 2).sum()) for a, b in betting.spans()]
    [8, 70, 630, 5670]
    """

    rules: Rules
    menu: BetMenu
    #: Where the betting begins: at the start of the hand, or anywhere in it.
    origin: State
    #: 0 or 1: that player decides; the other kinds are in :mod:`.nodes`.
    kind: NDArray[np.int8]
    #: First child; the children of a node stand together.
    first: NDArray[np.int32]
    #: Number of children.
    count: NDArray[np.int32]
    #: Parent, -1 at the root of a round.
    parent: NDArray[np.int32]
    #: First row of a decision among the rows of its round and player; number of a GIVEN node among
    #: those of its round.
    row: NDArray[np.int32]
    #: What a terminal pays each player per unit of non-colliding mass, in chips: [node, player].
    even: NDArray[np.float64]
    #: What a terminal pays per unit of mass beaten less mass beating, in chips.
    swing: NDArray[np.float64]
    #: Nodes of round `r` are `start[r]` to `start[r + 1]`; its roots stand first, one for each DEAL
    #: node of the round before, in the same order (:attr:`next_root`).
    start: NDArray[np.int64]
    #: Rows of each round and player.
    rows: NDArray[np.int64]
    #: State at each node.
    states: tuple[State, ...]
    #: Action that leads to each node; None at roots.
    actions: tuple[Action | None, ...]
    #: Chips in the unit that labels count in.
    parts: int = 1

    @classmethod
    def build(
        cls,
        rules: Rules,
        menu: BetMenu,
        rake: Rake = NO_RAKE,
        max_nodes: int = 20_000_000,
        keep_first: bool = False,
        start: State | None = None,
    ) -> Betting:
        """Lay out every line of betting that `menu` allows under `rules`, from `start` on.

        What was played before `start`, the start of the hand if not given, need not be on the menu.

        Where a single action is left nobody decides, and the line goes on by itself; `keep_first`
        makes an exception for the very first turn, so that the root is always somebody's.
        """
        size = measure(rules, menu, keep_first, start)
        if size.total > max_nodes:
            raise TooLargeError(_advice(rules, menu, size, max_nodes, start))
        # Nothing that is made here is garbage: looking for it again and again takes a quarter more.
        collecting = gc.isenabled()
        gc.disable()
        try:
            return cls._laid_out(_origin(rules, start), menu, rake, keep_first)
        finally:
            if collecting:
                gc.enable()

    @classmethod
    def _laid_out(cls, origin: State, menu: BetMenu, rake: Rake, keep_first: bool) -> Betting:
        states: list[State] = []
        actions: list[Action | None] = []
        kind: list[int] = []
        first: list[int] = []
        count: list[int] = []
        parent: list[int] = []
        row: list[int] = []
        start = [0]
        rules, before = origin.rules, origin.round
        rows = np.zeros((rules.rounds - before, 2), dtype=np.int64)
        options_of = _remembered(menu)
        roots = [origin if keep_first else _settle(origin, options_of)]
        if roots[0].is_over:
            raise GameError("nobody has a decision in this game: give the menu a bet")
        for number in range(before, rules.rounds):
            queue: deque[tuple[State, Action | None, int]] = deque((s, None, -1) for s in roots)
            base, roots = len(states), []
            placed = base + len(queue)
            while queue:
                state, action, above = queue.popleft()
                node = len(states)
                states.append(state)
                actions.append(action)
                parent.append(above)
                if state.folded is not None:
                    kind.append(FOLD)
                elif state.is_over:
                    kind.append(SHOWDOWN)
                elif state.round > number:
                    kind.append(DEAL)
                    roots.append(_settle(state, options_of))
                else:
                    player = state.to_act
                    assert player is not None
                    options = options_of(state)
                    kind.append(player)
                    first.append(placed)
                    count.append(len(options))
                    row.append(int(rows[number - before, player]))
                    rows[number - before, player] += len(options)
                    placed += len(options)
                    queue.extend((_settle(state.apply(a), options_of), a, node) for a in options)
                    continue
                first.append(0)
                count.append(0)
                row.append(0)
            start.append(len(states))
        even, swing = _payoffs(states, kind, rake)
        return cls(
            rules=rules,
            menu=menu,
            origin=origin,
            kind=np.array(kind, dtype=np.int8),
            first=np.array(first, dtype=np.int32),
            count=np.array(count, dtype=np.int32),
            parent=np.array(parent, dtype=np.int32),
            row=np.array(row, dtype=np.int32),
            even=even,
            swing=swing,
            start=np.array(start, dtype=np.int64),
            rows=rows,
            states=tuple(states),
            actions=tuple(actions),
        )

    def until(self, rounds: int, *, checked_down: bool = False) -> Betting:
        """The first `rounds` rounds alone: what would go on after them ends in GIVEN nodes.

        Or it is `checked_down`, and ends in showdowns of the pot that is there.

        >>> from equipoise.games.rules import LIMIT_HOLDEM
        >>> flop = Betting.build(LIMIT_HOLDEM, BetMenu.full()).until(2)
        >>> flop.rounds, len(flop.of_kind(0, DEAL)), len(flop.of_kind(1, GIVEN))
        (2, 7, 63)
        """
        if not 1 <= rounds < self.rounds:
            raise GameError(
                f"a game of {self.rounds} rounds can be cut after 1 to {self.rounds - 1}"
            )
        end = int(self.start[rounds])
        kind, row = self.kind[:end].copy(), self.row[:end].copy()
        even, swing = self.even[:end].copy(), self.swing[:end].copy()
        cut = self.of_kind(rounds - 1, DEAL)
        if checked_down:
            kind[cut] = SHOWDOWN
            shown = [self.states[node] for node in cut.tolist()]
            even[cut], swing[cut] = _payoffs(shown, [SHOWDOWN] * len(cut), NO_RAKE)
        else:
            kind[cut], row[cut] = GIVEN, np.arange(len(cut))
            even[cut] = 1.0
        return replace(
            self,
            kind=kind,
            first=self.first[:end],
            count=self.count[:end],
            parent=self.parent[:end],
            row=row,
            even=even,
            swing=swing,
            start=self.start[: rounds + 1],
            rows=self.rows[:rounds],
            states=self.states[:end],
            actions=self.actions[:end],
        )

    def below(self, root: int) -> tuple[Betting, NDArray[np.int64]]:
        """The betting from a root of a round on, and the node of this tree that each of its nodes is.

        >>> from equipoise.games.rules import LIMIT_HOLDEM
        >>> betting = Betting.build(LIMIT_HOLDEM, BetMenu.full())
        >>> turn, nodes = betting.below(int(betting.start[2]))
        >>> turn.rounds, len(turn.of_kind(0, 0, 1)), turn.states[0].betting_text()
        (2, 10, 'cc/cc/')
        """
        number = self.round_of(root)
        if self.parent[root] >= 0:
            raise GameError(f"node {root} is in the middle of its round: go on from a round's root")
        rounds: list[list[int]] = []
        roots = [root]
        for _ in range(number, self.rounds):
            nodes = list(roots)
            for node in nodes:
                nodes.extend(self.children(node))
            rounds.append(nodes)
            roots = [int(self.next_root[n]) for n in nodes if self.kind[n] == DEAL]
        kept = np.array([node for nodes in rounds for node in nodes], dtype=np.int64)
        place = np.full(len(self.kind) + 1, -1, dtype=np.int32)
        place[kept] = np.arange(len(kept))
        first = np.where(self.count[kept] > 0, place[self.first[kept]], 0).astype(np.int32)
        row, rows = np.zeros(len(kept), dtype=np.int32), np.zeros((len(rounds), 2), dtype=np.int64)
        given = np.zeros(len(rounds), dtype=np.int64)
        start = np.cumsum([0, *map(len, rounds)])
        for k, node in enumerate(kept.tolist()):
            street = int(np.searchsorted(start, k, side="right")) - 1
            if (kind := int(self.kind[node])) < 2:
                row[k] = rows[street, kind]
                rows[street, kind] += self.count[node]
            elif kind == GIVEN:
                row[k] = given[street]
                given[street] += 1
        found = replace(
            self,
            origin=self.states[root],
            kind=self.kind[kept],
            first=first,
            count=self.count[kept],
            parent=place[self.parent[kept]],
            row=row,
            even=self.even[kept],
            swing=self.swing[kept],
            start=start,
            rows=rows,
            states=tuple(self.states[node] for node in kept.tolist()),
            actions=tuple(self.actions[node] for node in kept.tolist()),
        )
        return found, kept

    @property
    def is_cut(self) -> bool:
        """Whether some lines end in values that the caller gives."""
        return bool((self.kind == GIVEN).any())

    @property
    def zero_sum(self) -> bool:
        """Whether one player wins what the other loses: no rake, and no values given."""
        return not self.even.sum(axis=1).any()

    @property
    def rounds(self) -> int:
        """Betting rounds of the tree: those before its origin's are not counted."""
        return len(self.start) - 1

    @property
    def board_cards(self) -> tuple[int, ...]:
        """Cards dealt before each round of the tree; what lies at its origin is not dealt any more.

        A tree that begins with the hand and one that begins on its flop:

        >>> from equipoise.games.rules import NOLIMIT_HOLDEM
        >>> flop = State.from_betting_text(NOLIMIT_HOLDEM, "cc/r300")
        >>> menu = BetMenu.parse("a")
        >>> [Betting.build(NOLIMIT_HOLDEM, menu, start=at).board_cards for at in (None, flop)]
        [(0, 3, 1, 1), (0, 1, 1)]
        """
        first = self.origin.round
        dealt = self.rules.board_cards[first + 1 :]
        return (self.rules.board_cards[0] if first == 0 else 0, *dealt)

    def spans(self) -> list[tuple[int, int]]:
        """First and last-plus-one node of each round."""
        return [(int(a), int(b)) for a, b in pairwise(self.start)]

    def round_of(self, node: int) -> int:
        """Round of a node, counted from the origin's; `states[node].round` is that of the hand."""
        return int(np.searchsorted(self.start, node, side="right")) - 1

    def of_kind(self, number: int, *kinds: int) -> NDArray[np.int64]:
        """Nodes of a round that are of one of `kinds`, in order."""
        a, b = self.spans()[number]
        return a + np.flatnonzero(np.isin(self.kind[a:b], kinds))

    def children(self, node: int) -> range:
        """Children of a node."""
        return range(int(self.first[node]), int(self.first[node] + self.count[node]))

    @cached_property
    def next_root(self) -> NDArray[np.int32]:
        """Root of the next round to which each DEAL node leads; -1 elsewhere."""
        roots = np.full(len(self.kind), -1, dtype=np.int32)
        for number in range(self.rounds - 1):
            deals = self.of_kind(number, DEAL)
            roots[deals] = self.start[number + 1] + np.arange(len(deals))
        return roots

    @cached_property
    def before(self) -> NDArray[np.int32]:
        """Node before each: its parent, or the DEAL node to which a root belongs; -1 at the first."""
        before = self.parent.copy()
        deals = np.flatnonzero(self.next_root >= 0)
        before[self.next_root[deals]] = deals
        return before

    @cached_property
    def past_deals(self) -> NDArray[np.int32]:
        """Where the betting of each node goes on: at itself, or at the first node after its deals."""
        past = np.arange(len(self.kind), dtype=np.int32)
        for number in range(self.rounds - 2, -1, -1):
            deals = self.of_kind(number, DEAL)
            past[deals] = past[self.next_root[deals]]
        return past

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """Number of each decision among those of its round and player; 0 elsewhere."""
        order = np.zeros(len(self.kind), dtype=np.int32)
        for number in range(self.rounds):
            for player in (0, 1):
                nodes = self.of_kind(number, player)
                order[nodes] = np.arange(len(nodes))
        return order

    def label(self, node: int) -> str:
        """What the action into `node` is called at the table: `bet 50`, `raise 170`, `call`."""
        action, above = self.actions[node], int(self.parent[node])
        return "" if action is None else action_label(self.states[above], action, self.parts)


#: (position, action) pairs and nodes after which :func:`measure` gives up: seconds, and more
#: than any memory holds.
_MOST_ACTIONS = 200_000
_MOST_NODES = 10**9
#: Bits for each count of a tally: one more step from the most nodes still fits.
_FIELD = 64


def measure(
    rules: Rules, menu: BetMenu, keep_first: bool = False, start: State | None = None
) -> TreeSize:
    """Count nodes and rows without building the tree: equal positions are counted once.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> measure(NOLIMIT_HOLDEM, BetMenu.parse("100%,a", raises="a")).total
    841
    """
    return _measured(rules, menu, keep_first, start)


@lru_cache(maxsize=8)
def _measured(rules: Rules, menu: BetMenu, keep_first: bool, start: State | None) -> TreeSize:
    """The same, remembered: who is told the size of a tree often builds it next."""
    rounds = rules.rounds
    # Per round: nodes, rows of each player, decisions and showdowns. All counts of a tally are
    # fields of one integer, so that adding two tallies is one addition.
    one = [[1 << _FIELD * (5 * number + column) for column in range(5)] for number in range(rounds)]
    known: dict[tuple[object, ...], int] = {}
    options_of = _remembered(menu)
    met = 0

    def field(tally: int, number: int, column: int) -> int:
        return tally >> _FIELD * (5 * number + column) & (1 << _FIELD) - 1

    def at(state: State, number: int) -> int:
        """The tally from a node on."""
        tally = one[number][0]
        while not state.is_over and state.round > number:
            number = state.round
            tally += one[number][0]
            state = _settle(state, options_of)
        if state.is_over:
            return tally + one[number][4] * (state.folded is None)
        return tally + below(state)

    def below(state: State) -> int:
        """The same for the decision in `state`, which is a node already counted."""
        nonlocal met
        key = _position(state, menu)
        if key in known:
            return known[key]
        options, number = options_of(state), state.round
        met += len(options)
        if met > _MOST_ACTIONS:
            raise TooLargeError(
                f"the betting tree has more than {_MOST_ACTIONS:,} different actions: "
                "drop sizes, or lower max_raises"
            )
        tally = len(options) * one[number][1 + (state.to_act or 0)] + one[number][3]
        for action in options:
            tally += at(_settle(state.apply(action), options_of), number)
        if sum(field(tally, later, 0) for later in range(number, rounds)) > _MOST_NODES:
            raise TooLargeError(
                f"the betting tree has more than {_MOST_NODES:,} nodes: drop sizes, or lower "
                "max_raises"
            )
        known[key] = tally
        return tally

    origin = _origin(rules, start)
    try:
        tally = at(origin if keep_first else _settle(origin, options_of), origin.round)
    except RecursionError:
        raise TooLargeError(
            "a line of betting has hundreds of raises: lower max_raises, or use larger sizes"
        ) from None
    played = range(origin.round, rounds)
    columns = [tuple(field(tally, number, column) for number in played) for column in range(5)]
    return TreeSize(columns[0], tuple(zip(columns[1], columns[2], strict=True)), *columns[3:])


def _origin(rules: Rules, start: State | None) -> State:
    """Where a tree begins, once it is found to be a place of the game where somebody acts."""
    origin = State.start(rules) if start is None else start
    if origin.rules != rules:
        raise GameError(
            f"the betting starts in a hand of {origin.rules.name}, not of {rules.name}: build the "
            "tree with the rules of its start"
        )
    if start is not None and start.is_over:
        raise GameError(
            f"'{start.betting_text()}': the hand is over there: start before its last action"
        )
    return origin


def _position(state: State, menu: BetMenu) -> tuple[object, ...]:
    """All that decides what can happen from a state on: equal positions have the same lines."""
    return (*state[1:8], len(state.history[-1]), state.round_start, menu.looks_at(state))


def _remembered(menu: BetMenu) -> Callable[[State], tuple[Action, ...]]:
    """What the menu offers in a state, worked out once for equal positions: a tree has few."""
    known: dict[tuple[object, ...], tuple[Action, ...]] = {}

    def options_of(state: State) -> tuple[Action, ...]:
        position = _position(state, menu)
        found = known.get(position)
        if found is None:
            found = known[position] = menu.actions(state)
        return found

    return options_of


def _settle(state: State, options_of: Callable[[State], tuple[Action, ...]]) -> State:
    """Play on while the menu leaves a single action: that is not a decision."""
    while not state.is_over:
        options = options_of(state)
        if len(options) > 1:
            break
        before = state.round
        state = state.apply(options[0])
        if state.round > before:
            break
    return state


def _payoffs(
    states: list[State], kind: list[int], rake: Rake
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    even = np.zeros((len(states), 2))
    swing = np.zeros(len(states))
    for node, state in enumerate(states):
        if kind[node] not in (FOLD, SHOWDOWN):
            continue
        half = min(state.committed) + state.rules.dead / 2
        taken = rake.taken(2 * half)
        if kind[node] == FOLD:
            loser = state.folded
            assert loser is not None
            even[node, loser] = -half
            even[node, 1 - loser] = half - taken
        else:
            even[node] = -taken / 2
            swing[node] = half - taken / 2
    return even, swing


def _advice(rules: Rules, menu: BetMenu, size: TreeSize, limit: int, start: State | None) -> str:
    """Which single size to drop to save most, as a sentence."""
    best_name, best_total = "", size.total
    for name, smaller in menu.without_each_size(rules.rounds):
        total = measure(rules, smaller, start=start).total
        if total < best_total:
            best_name, best_total = name, total
    told = f"the betting tree has {size.total:,} nodes, more than {limit:,}"
    if not best_name:
        return f"{told}: lower max_raises"
    return f"{told}: drop {best_name} ({best_total:,} nodes), or lower max_raises"
