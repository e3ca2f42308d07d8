"""What an exact solve says of decisions that were played: chips lost, and the better action.

For every decision of a player after the flop the rest of the hand is solved with real cards, the true
pot and the real bets in the tree. Both ranges where the street begins are those of a *reference*: the
hands with which its policy would have come so far, action by action (:mod:`equipoise.search.trunk`);
the opponent's own policy is taken for his actions where it is known. With the solved strategies σ, the
hand h that was held and the action a that was played,

    EV lost  =  max_b v(b, h) − v(a, h)

in big blinds, v(b, h) being what h wins on average from there by b and by σ afterwards. So a decision is
judged against an opponent who plays well, not by the cards that came, and only as far as the ranges are
believed. It is never negative, and nothing is lost by any action that σ mixes, up to what the solve is
short of an equilibrium, which is told with it in percent of the pot.

Turns and rivers are solved over all hands. A flop has two streets to come: it is solved with one bet
size, the one that was played and all-in, over the hands that are likely enough, to half a percent of
the pot; a flop that does not come so far in its time, and limit flops, are listed as ungraded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.agent import Agent
from equipoise.agents.opponents import best_opponent
from equipoise.agents.registry import AgentSpec, entries
from equipoise.agents.searching.searchagent import blueprint_player
from equipoise.arena.record import HandRecord
from equipoise.cards.card import cards_text
from equipoise.cards.combos import hand_number
from equipoise.cards.range import Range
from equipoise.cards.streets import STREETS
from equipoise.columnar import Columnar, columns_of
from equipoise.errors import EquipoiseError, HistoryError
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.notation.labels import action_label
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action, Kind, Rules, State, raise_to
from equipoise.games.spot import Spot
from equipoise.run import Event, Listener, Stop
from equipoise.search.solved import Solved, solve_subgame
from equipoise.search.subgame import Subgame
from equipoise.search.trunk import trunk_ranges
from equipoise.settings import did_you_mean, shown
from equipoise.solve.spots.fitting import check_fits
from equipoise.solve.spots.solution import solve_spot

#: To what a flop is solved, in percent of the pot, and the seconds it may take.
FLOP_TARGET_PCT_POT, FLOP_SECONDS = 0.5, 90.0
#: Of the likeliest hand's weight, the share below which a hand is left out of a flop.
_UNLIKELY = 0.02
#: The weight of the hand that was held, of the likeliest's, where the reference would not hold it.
_HELD = 0.05
#: Sizes of a flop's tree, besides the one that was played.
_FLOP_BETS, _FLOP_RAISES = "66%", "75%"
#: A size that would leave at most this many pots after a call is all-in.
_FORCED_ALL_IN = 0.15

Values = NDArray[np.float64]


class Decision(NamedTuple):
    """One decision, graded or not; chips are big blinds."""

    hand: int
    player: str
    street: str
    board: str
    hole: str
    #: The betting before it, as logs write it.
    betting: str
    #: What was played, and what is best.
    played: str
    best: str
    #: What each is worth from here on, and the difference; None where it is not graded.
    ev_played_bb: float | None
    ev_best_bb: float | None
    ev_lost_bb: float | None
    #: How far the solve was from an equilibrium.
    exploitability_pct_pot: float | None
    #: Why it is not graded.
    ungraded: str = ""


@dataclass(frozen=True)
class Review(Columnar):
    """Graded decisions, worst first; those that are not graded stand last."""

    player: str
    reference: str
    decisions: tuple[Decision, ...] = field(repr=False)

    @property
    def graded(self) -> tuple[Decision, ...]:
        """Those that a solve says something about."""
        return tuple(one for one in self.decisions if one.ev_lost_bb is not None)

    @property
    def lost_bb(self) -> float:
        """Big blinds lost in all of them together."""
        return sum(one.ev_lost_bb or 0.0 for one in self.decisions)

    def columns(self) -> dict[str, list[Any]]:
        """One row a decision."""
        return columns_of(one._asdict() for one in self.decisions)

    def caption(self) -> str:
        """What was lost."""
        return (
            f"{self.player}: {self.lost_bb:.2f} bb lost in {len(self.graded)} graded decisions, "
            f"{len(self.decisions) - len(self.graded)} ungraded; ranges of {self.reference}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures that `equipoise review --json` prints."""
        return {
            "player": self.player,
            "reference": self.reference,
            "graded": len(self.graded),
            "ungraded": len(self.decisions) - len(self.graded),
            "ev_lost_bb": self.lost_bb,
            "decisions": [one._asdict() for one in self.decisions],
        }


def review_hands(
    hands: Iterable[HandRecord],
    player: str = "",
    reference: str = "",
    *,
    flop_seconds: float = FLOP_SECONDS,
    threads: int | None = 1,
    progress: Listener | None = None,
    stop: Stop | None = None,
) -> Review:
    """Grade the decisions of a player after the flop; "" is whoever is no agent of the list.

    `reference` names the agent whose policy says what both hold, by default the best that plays the
    game. `flop_seconds` of 0 leaves flops ungraded.
    """
    records = [hand for hand in hands if hand.state.is_over]
    if not records:
        raise HistoryError("there is no finished hand to review")
    name = player or _person(records)
    names = sorted({one for record in records for one in record.players})
    if name not in names:
        raise HistoryError(f"no hand of {shown(name)}: {did_you_mean(name, names)}")
    chosen = reference or best_opponent(records[0].rules)[0]
    graders: dict[Rules, _Grader] = {}
    found: list[Decision] = []
    for done, record in enumerate(records, start=1):
        if stop is not None and stop.is_set():
            break
        if name in record.players:
            if record.rules not in graders:
                graders[record.rules] = _Grader(
                    record.rules, chosen, flop_seconds, threads, stop, progress
                )
            found += graders[record.rules].grade(record, record.players.index(name))
        if progress is not None:
            lost = sum(one.ev_lost_bb or 0.0 for one in found)
            progress(Event(done, len(records), f"{lost:.2f} bb lost in {len(found)} decisions"))
    found.sort(key=lambda one: (one.ev_lost_bb is None, -(one.ev_lost_bb or 0.0), one.hand))
    return Review(name, chosen, tuple(found))


def _person(records: Sequence[HandRecord]) -> str:
    """The player who is no agent of the list, else the first one."""
    players = records[0].players
    return next((name for name in players if name not in entries()), players[0])


class _Grader:
    """Grades the decisions of hands of one game."""

    def __init__(
        self,
        rules: Rules,
        reference: str,
        flop_seconds: float,
        threads: int | None,
        stop: Stop | None,
        progress: Listener | None,
    ) -> None:
        self.rules, self.flop_seconds, self.threads = rules, flop_seconds, threads
        self.stop, self.progress = stop, progress
        self.reference = _telling(reference, rules)
        self._known: dict[str, Agent | None] = {}

    def grade(self, record: HandRecord, me: int) -> list[Decision]:
        """The decisions of a position after the flop, in their order."""
        hole = record.holes[me]
        if hole is None:
            return []
        source = self._source(record, me)
        found: list[Decision] = []
        state, seen = State.start(record.rules), 0
        for street, actions in enumerate(record.state.history):
            seen += record.rules.board_cards[street]
            board, begun, solved = record.board[:seen], state, None
            for action in actions:
                if street and state.to_act == me:
                    bare = _bare(record, me, street, state, board, action)
                    try:
                        if street > 1 and solved is None:
                            solved = self._solved(begun, board, actions, source, record.number)
                        if street == 1:
                            found.append(
                                self._flop(bare, begun, state, board, action, source, record)
                            )
                        else:
                            assert solved is not None
                            found.append(_by_subgame(bare, solved, state, hole, action))
                    except EquipoiseError as error:
                        found.append(bare._replace(ungraded=str(error)))
                state = state.apply(action)
        return found

    # ------------------------------------------------------------------------------------- ranges

    def _source(self, record: HandRecord, me: int) -> Callable[[PublicState], Policy | None]:
        """Whose policy says what is held: the opponent's own where it is known, else the reference's."""
        other = record.players[1 - me]
        if other not in self._known:
            self._known[other] = None
            if other in entries():
                with suppress(EquipoiseError):
                    self._known[other] = _telling(other, self.rules)
        his = self._known[other]

        def policy(public: PublicState) -> Policy | None:
            if public.state.to_act == 1 - me and his is not None:
                told = his.policy(public)
                if told is not None:
                    return told
            return self.reference.policy(public)

        return policy

    # ------------------------------------------------------------------------------------- solves

    def _solved(
        self,
        begun: State,
        board: tuple[int, ...],
        actions: Sequence[Action],
        source: Callable[[PublicState], Policy | None],
        number: int,
    ) -> Solved:
        """The rest of a hand from the start of a turn or river on, with all that was bet in it."""
        line = list(actions)
        while line and line[-1].kind != Kind.RAISE:
            # Checks, calls and folds are in every tree, and may end the street.
            line.pop()
        ranges = trunk_ranges(source, begun, board, number)
        subgame = Subgame(begun, board, ranges, line=line)
        return solve_subgame(subgame, threads=self.threads, stop=self.stop)

    def _flop(
        self,
        bare: Decision,
        begun: State,
        state: State,
        board: tuple[int, ...],
        action: Action,
        source: Callable[[PublicState], Policy | None],
        record: HandRecord,
    ) -> Decision:
        """A flop, solved to its end with few sizes."""
        if self.rules.limit:
            return bare._replace(ungraded="flops of limit games are not solved")
        if not self.flop_seconds > 0:
            return bare._replace(ungraded="flops were left out")
        me = state.to_act
        assert me is not None
        hole = record.holes[me]
        assert hole is not None
        hand = hand_number(hole)
        ranges = []
        for player, weights in enumerate(trunk_ranges(source, state, board, record.number)):
            likely = np.where(weights >= _UNLIKELY * weights.max(), weights / weights.max(), 0.0)
            if player == me:
                likely[hand] = max(likely[hand], _HELD)
            ranges.append(Range(likely))
        spot = self._spot(begun, state, board, action, (ranges[0], ranges[1]))
        check_fits(spot)
        solution = solve_spot(
            spot,
            FLOP_TARGET_PCT_POT,
            seconds=self.flop_seconds,
            threads=self.threads,
            stop=self.stop,
            listener=self.progress,
        )
        if not solution.reached:
            told = f"not solved to {FLOP_TARGET_PCT_POT} % of the pot in {self.flop_seconds:g} s"
            return bare._replace(ungraded=told)
        root = solution.at()
        column = int(np.flatnonzero(root.hands(root.decider()) == hand)[0])
        # Counted from the flop on, as values of turns and rivers are from the start of the hand.
        values = root.action_ev()[:, column]
        gap = float(solution.to_dict()["exploitability_pct_pot"])
        # A spot counts chips from where its street begins.
        mine = raise_to(action.amount - begun.round_start) if action.amount else action
        label = action_label(spot.origin, mine)
        return _graded(bare, root.actions, values, label, self.rules, gap)

    def _spot(
        self,
        begun: State,
        state: State,
        board: tuple[int, ...],
        action: Action,
        ranges: tuple[Range, Range],
    ) -> Spot:
        """A flop as a spot: the street's pot and stacks, the line so far, the played size on the menu."""
        bets, raises = _FLOP_BETS, _FLOP_RAISES
        if action.kind == Kind.RAISE:
            size = f"{action.amount - begun.round_start}c"
            if state.raises:
                raises = f"{size},{raises}"
            else:
                bets = f"{size},{bets}"
        stack = self.rules.stacks[0] - begun.committed[0]
        words, now = [], begun
        for played in state.history[begun.round]:
            words.append(action_label(now, played))
            now = now.apply(played)
        flop, later = StreetMenu.parse(bets, [raises, "a"]), StreetMenu.parse(_FLOP_BETS, "a")
        streets = ((flop, flop), (later, later), (later, later))
        menu = BetMenu(streets, force_allin_threshold=_FORCED_ALL_IN)
        return Spot(
            board, *ranges, begun.pot, stack, menu,
            min_bet=self.rules.big_blind, line=", ".join(words),
        )  # fmt: skip


def _telling(name: str, rules: Rules) -> Agent:
    """An agent that tells its policy without searching: of one that searches, its blueprint."""
    agent = AgentSpec.read(name).make(rules)
    agent.reset(0)
    told: Agent = blueprint_player(agent) or agent
    if told.learns or told.policy(PublicState(State.start(rules), (), 0)) is None:
        raise EquipoiseError(f"{name} tells no policy: choose a reference that plays a strategy")
    return told


def _bare(
    record: HandRecord, me: int, street: int, state: State, board: tuple[int, ...], action: Action
) -> Decision:
    """A decision before it is graded."""
    hole = record.holes[me]
    assert hole is not None
    return Decision(
        record.number,
        record.players[me],
        STREETS[street],
        cards_text(board),
        cards_text(hole),
        state.betting_text(),
        action_label(state, action),
        *("", None, None, None, None),
    )


def _by_subgame(
    bare: Decision, solved: Solved, state: State, hole: tuple[int, ...], action: Action
) -> Decision:
    """A decision on the turn or the river."""
    if not solved.knows(state):
        return bare._replace(ungraded="nobody has a choice in the tree there")
    actions, values = solved.action_values(state)
    labels = tuple(action_label(state, option) for option in actions)
    gap = solved.exploitability_pct_pot
    column = values[:, hand_number(hole)]
    return _graded(bare, labels, column, bare.played, state.rules, gap)


def _graded(
    bare: Decision, labels: Sequence[str], values: Values, played: str, rules: Rules, gap: float
) -> Decision:
    if played not in labels:
        return bare._replace(ungraded=f"'{played}' is not in the tree that was solved")
    mine, best = float(values[labels.index(played)]), int(values.argmax())
    bb = rules.big_blind
    return bare._replace(
        best=labels[best],
        ev_played_bb=mine / bb,
        ev_best_bb=float(values[best]) / bb,
        ev_lost_bb=(float(values[best]) - mine) / bb,
        exploitability_pct_pot=gap,
    )
