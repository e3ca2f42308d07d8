"""AIVAT: the luck taken out of a match, and nothing else (Burch, Schmid, Moravčík, Morrill and
Bowling 2018).

A hand is a sequence of public events: cards that come, and actions. Each player has a *range*: after
t events W_t(x) is the weight of holding x, which is 1 at the start, is multiplied by the probability
that his policy gives to each action he took, and is 0 for hands that a public card blocks. A player
whose policy is not known has the one hand that he really held. Given everything public, the hands x
and y of the two are then held with probability proportional to W(x) W(y) [x, y share no card].

Let V_t be any value of the situation after t events, u averaged over that distribution. If event
t + 1 has outcomes o with probabilities P(o), which is so for cards and for the actions of players
whose policy is known, then

    c_{t+1} = Σ_o P(o) V_{t+1}(o) - V_{t+1}(what happened)

is 0 on average, given everything before: P(o) is the share of the weight that goes on with o. The
payoff, averaged in the same way over what the players might have held, plus all these corrections is
the estimate. It is unbiased whatever u is, and the better u foretells, the less luck is left.

u is the check-down value (:mod:`equipoise.games.checkdown`). If a bet is open and the policy that
answers is at hand, those who fold to it fold and all others call; else it is called, and no more than
half the pot counts of it (:func:`~equipoise.games.checkdown.likely_half_pot`): were all-ins taken for
called ones, each that is folded to would be luck of a hundred pots. Cards come when no bet is open, and
there u is its own mean over the cards to come, so the first term of c for a public card is simply V_t,
and for the private cards of a player whose policy is not known it is 0, by symmetry. A policy that is
not known at some decision ends the range of its player: his real hand is put in its place, which is an
event like any other, with the range as its probabilities.

On the flop of hold'em, where u takes most of the time, it is the mean over one run-out in eight. Which eighth
is drawn, for each deal, and nothing in the hand depends on it; on average over the eighths it is u, so that
all that was said above still is true on average. A pot that is all-in on the flop is paid by every run-out.

Hands that come to the last street need not be paid by what happened there. With both policies known, what
the two ranges are worth to each other from there on, every pair of hands on every line (:mod:`.exact`), is
the mean of all that may follow: in its place nothing is left of the street's luck. This has to be asked
for, because it takes a policy at every decision of the street.

A policy is what is known given everything public. What a player draws in private besides his cards, as
what he takes a foreign bet for, his policy averages over (:mod:`equipoise.agents.agent`), and so the
distributions above are those that they say, the draws summed out: the estimate is unbiased. To know the
draws would be unbiased as well, for they are independent of all cards, but then each is luck of its own.

Actions that were faults are no part of a policy: a player with faults counts as unknown. So does one
that learns, because his policy was another in every hand.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import accumulate
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.agent import Agent
from equipoise.agents.registry import AgentSpec
from equipoise.arena.match import Player
from equipoise.arena.matchresult import MatchResult
from equipoise.arena.measures.exact import exact_endgame
from equipoise.arena.measures.parts import scores
from equipoise.arena.policylog import Kept, kept_lines, kept_policies
from equipoise.arena.record import HandRecord
from equipoise.arena.statistics import Estimate, estimate, pair_means, rate_text
from equipoise.cards.combos import hand_number
from equipoise.columnar import Columnar
from equipoise.errors import ArtefactError, EquipoiseError
from equipoise.games.belief import Belief
from equipoise.games.checkdown import CheckDown, Margins, half_pot, likely_half_pot
from equipoise.games.dealing import DealtCards, SeededDeals
from equipoise.games.hand import hand_seed
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import FOLD, Action, Kind, Rules, State
from equipoise.run import Event, Listener
from equipoise.workers import check_workers

#: Of the run-outs of a flop one in so many is looked at.
_FLOP_STEP = 8
_FLOP_CARDS = 3


class Aivat:
    """Estimates of what A won, hand by hand.

    `agents` are A and B, None where the policy is not known. They are reset as the match's seed says.
    With `exact_end` and both policies, hands are valued to the last street, and exactly there.
    """

    def __init__(
        self,
        rules: Rules,
        agents: Sequence[Agent | None],
        seed: int = 0,
        exact_end: bool = False,
    ) -> None:
        self.rules, self.seed = rules, seed
        self.exact_end = exact_end and None not in agents
        self.checkdown = CheckDown(rules)
        self.agents = tuple(agents)
        for seat, agent in enumerate(self.agents):
            if agent is not None:
                agent.reset(2 * seed + seat)

    def value(self, record: HandRecord, kept: Kept | None = None) -> float:
        """The estimate of A's chips in a hand; in hand n A sits at position n mod 2.

        Policies that were `kept` with the match, by seat and betting, are not asked for again.
        """
        first = record.number % 2
        players = self.agents if first == 0 else self.agents[::-1]
        for seat, agent in enumerate(self.agents):
            if agent is not None:
                agent.begin(record.number, seat ^ first)
        eighth = Random(hand_seed(self.seed, record.number // 2, 0)).randrange(_FLOP_STEP)
        known = {
            (seat ^ first, betting): policy for (seat, betting), policy in (kept or {}).items()
        }
        hand = _Hand(self.checkdown, players, record, eighth, known)
        chips = hand.estimate(self.exact_end)
        return -chips if first else chips


class _Hand:
    """The estimate of one hand, event by event; chips are those of position 0."""

    def __init__(
        self,
        checkdown: CheckDown,
        players: Sequence[Agent | None],
        record: HandRecord,
        eighth: int,
        kept: Kept,
    ) -> None:
        self.checkdown, self.players, self.record = checkdown, players, record
        #: Policies that are known without asking, by position and betting.
        self.kept = kept
        #: Policies that were asked for.
        self.asked: dict[tuple[int, str], Policy | None] = {}
        #: The run-outs of a flop that are looked at.
        self.part = (eighth, _FLOP_STEP)
        self.held = [_held(record, position) for position in (0, 1)]
        start = Belief.start(checkdown.rules)
        self.ranges = [
            start.only(hand) if player is None else start
            for player, hand in zip(players, self.held, strict=True)
        ]
        self.board: tuple[int, ...] = ()
        #: For each player, the range his hands were last valued against, and how they stand.
        self.known: list[tuple[Belief, Margins] | None] = [None, None]
        #: Whose hands are valued now, and how they stand.
        self.side, self.margin, self.mass = 0, np.zeros(0), np.zeros(0)
        self._look(0)

    def estimate(self, exact_end: bool = False) -> float:
        """Play the hand again and add up; with `exact_end` to the last street, which is worth its value."""
        end, board = self.record.state, self.record.board
        state, seen = State.start(end.rules), accumulate(end.rules.board_cards)
        # The mean over all private cards is 0.
        total = -self._value(state)
        for count, actions in zip(seen, end.history, strict=False):
            total += self._deal(state, board[:count])
            if exact_end and state.to_act is not None and state.round == state.rules.rounds - 1:
                return total + self._end(state)
            for action in actions:
                total += self._act(state, action)
                state = state.apply(action)
        if state.folded is not None:
            return total + state.payoffs()[0]
        # The payoff and the corrections for the cards to come add up to this.
        if len(self.board) == _FLOP_CARDS:
            self.part, self.known = (0, 1), [None, None]
            self._look(self.side)
        return total + self._value(state)

    # ------------------------------------------------------------------------------ events

    def _end(self, state: State) -> float:
        """What the last street is worth to position 0, by all that both may hold and do."""
        first, second = self.players
        assert first is not None
        assert second is not None
        ranges = (self.ranges[0], self.ranges[1])
        return exact_endgame((first, second), state, self.board, ranges, self.record.number)

    def _deal(self, state: State, board: tuple[int, ...]) -> float:
        if board == self.board:
            return 0.0
        before = self._value(state)
        assert state.to_act is not None
        self._see(board, state.to_act)
        return before - self._value(state)

    def _act(self, state: State, action: Action) -> float:
        player = state.to_act
        assert player is not None
        policy = self._policy(state)
        if policy is None:
            return self._reveal(state, player)
        return self._correct(state, player, policy, action)

    def _policy(self, state: State) -> Policy | None:
        """What the player to act plays, if that is known."""
        player = state.to_act
        assert player is not None
        agent, key = self.players[player], (player, state.betting_text())
        if agent is None:
            return None
        if key not in self.asked:
            found = self.kept.get(key)
            if found is None:
                found = agent.policy(PublicState(state, self.board, self.record.number))
            self.asked[key] = found
        return self.asked[key]

    def _reveal(self, state: State, player: int) -> float:
        """The policy is not known here: go on with the hand that was really held."""
        if self.ranges[player].is_known:
            return 0.0
        before = self._value(state)
        self.ranges[player] = self.ranges[player].only(self.held[player])
        self._look(1 - player)
        return before - self._value(state)

    def _correct(self, state: State, player: int, policy: Policy, action: Action) -> float:
        """The correction for a decision of a player whose policy is known."""
        self._look(player)
        sign = -1 if player else 1
        belief = self.ranges[player]
        branches = belief.branches(policy)
        masses = self.mass @ branches
        margins = self.margin @ branches
        mean = chosen = 0.0
        found = False
        options = zip(policy.actions, branches.T, masses, margins, strict=True)
        for option, branch, mass, margin in options:
            after = state.apply(option)
            if option.kind == Kind.FOLD:
                value = after.payoffs()[0] * mass
            else:
                value = sign * self._worth(after, branch, mass, margin)
            mean += float(value)
            if option == action:
                found = bool(mass > 0)
                chosen = float(value / mass) if found else 0.0
        column = policy.actions.index(action) if found else 0
        if not found or not policy.probabilities[self.held[player], column]:
            agent = self.players[player]
            name = agent.name or type(agent).__name__ if agent is not None else ""
            raise EquipoiseError(
                f"hand {self.record.number}: {name} played {action}, which its policy never does "
                f"with these cards: AIVAT needs the policy that is played"
            )
        played = policy.probabilities[belief.weights > 0, column]
        # An action that says nothing about the cards leaves the range as it was.
        if played.min() < played.max():
            self.ranges[player] = Belief(self.checkdown.rules, branches[:, column])
        return mean / float(masses.sum()) - chosen

    # ------------------------------------------------------------------------------ values

    def _worth(
        self, after: State, branch: NDArray[np.float64], mass: float, margin: float
    ) -> float:
        """What all hands that take an action win, in chips times their mass, for who took it.

        `branch` are these hands with their weights.
        """
        folds = self._folding(after) if mass > 0 else None
        if folds is None:
            return likely_half_pot(after) * margin
        answering = after.to_act
        assert answering is not None
        part = self.part if len(self.board) == _FLOP_CARDS else (0, 1)
        met = self.checkdown.against(folds, self.board, branch, part)
        won = (after.committed[answering] + after.rules.dead / 2) * float(met.mass @ branch)
        return won + half_pot(after) * (margin - float(met.margin @ branch))

    def _folding(self, state: State) -> NDArray[np.float64] | None:
        """Hands that fold to a bet; None where that is not known, or takes a search."""
        player = state.to_act
        if player is None or not state.to_call:
            return None
        agent = self.players[player]
        if agent is None or not agent.at_once(PublicState(state, self.board, self.record.number)):
            return None
        policy = self._policy(state)
        if policy is None:
            return None
        weights = self.ranges[player].weights
        if FOLD not in policy.actions:
            return np.zeros_like(weights)
        return weights * policy.probabilities[:, policy.actions.index(FOLD)]

    def _see(self, board: tuple[int, ...], player: int) -> None:
        """The board comes; the hands of `player` are valued next."""
        self.board = board
        self.ranges = [belief.see(board) for belief in self.ranges]
        self.known = [None, None]
        self._look(player)

    def _look(self, player: int) -> None:
        """Value the hands of `player` against the range of the other."""
        other = self.ranges[1 - player]
        known = self.known[player]
        if known is None or known[0] is not other:
            ours = self.ranges[player].weights
            part = self.part if len(self.board) == _FLOP_CARDS else (0, 1)
            margins = self.checkdown.against(other.weights, self.board, ours, part)
            known = self.known[player] = (other, margins)
        self.side, (self.margin, self.mass) = player, known[1]

    def _value(self, state: State) -> float:
        """Check-down value for position 0, for the pot that it is likely to be about."""
        weights = self.ranges[self.side].weights
        value = float(self.margin @ weights) / float(self.mass @ weights)
        return likely_half_pot(state) * (-value if self.side else value)


def _held(record: HandRecord, position: int) -> int:
    """Number of the hand that a player held."""
    hole = record.holes[position]
    if hole is None:
        raise EquipoiseError(
            f"hand {record.number}: the cards of position {position} were never shown: AIVAT needs "
            "both players'"
        )
    return hand_number(hole)


@dataclass(frozen=True)
class AivatResult(Columnar):
    """A match without its luck; figures are A's."""

    match: MatchResult
    #: Whether A and B tell a policy, if not in every situation.
    known: tuple[bool, bool]
    #: Estimates of A's chips, hand after hand.
    payoffs: NDArray[np.float64] = field(repr=False)

    @property
    def estimate(self) -> Estimate:
        """A's win rate in mbb/hand, with its error."""
        rates = self.payoffs * (1000 / self.match.rules.big_blind)
        return estimate(pair_means(rates) if self.match.duplicate else rates)

    @property
    def std_mbb(self) -> float:
        """Standard deviation of a hand: that of a pair's mean, times √2."""
        return self.estimate.deviation * (sqrt(2) if self.match.duplicate else 1)

    @property
    def reduction(self) -> float:
        """Share of the match's standard deviation that was luck; NaN where there was none."""
        raw = self.match.std_mbb
        return 1 - self.std_mbb / raw if raw else float("nan")

    def columns(self) -> dict[str, Any]:
        """One row a hand: what A won, and what it won without luck."""
        return {**self.match.columns(), "aivat_chips": self.payoffs}

    def caption(self) -> str:
        """A's win rate without luck."""
        now = self.estimate
        return f"{self.match.caption()}; without luck {rate_text(now.mean, now.half_width, 1)}"

    def to_dict(self) -> dict[str, Any]:
        """The figures that `equipoise match --aivat --json` adds."""
        now = self.estimate
        return {
            "aivat_mbb_per_hand": now.mean,
            "aivat_ci95_mbb": now.half_width,
            "aivat_std_mbb": self.std_mbb,
            "aivat_reduction": self.reduction,
            "aivat_known": list(self.known),
        }


def aivat(
    match: MatchResult,
    a: Player,
    b: Player,
    *,
    workers: int = 1,
    progress: Listener | None = None,
    exact_end: bool = False,
) -> AivatResult:
    """Take the luck out of a match between A and B; its hands are read from its log.

    With `exact_end` and both policies known, what happened on the last street does not count, but what both
    play there is worth.

    >>> import tempfile
    >>> from equipoise.arena.match import play_match
    >>> log = Path(tempfile.mkdtemp()) / "match.log"
    >>> match = play_match("call", "all-in", hands=20, duplicate=False, log=log)
    >>> without_luck = aivat(match, "call", "all-in")
    >>> abs(without_luck.estimate.mean) < 1e-9, round(without_luck.reduction, 9)
    (True, 1.0)
    """
    if match.log is None:
        raise EquipoiseError("AIVAT reads the hands from the log of the match: play it with a log")
    check_workers(workers)
    agents = [_known(player, match, seat) for seat, player in enumerate((a, b))]
    if agents[0] is not None and agents[0] is agents[1]:
        agents[1] = copy.deepcopy(agents[0])
    if exact_end and None in agents:
        raise EquipoiseError(
            "the last street is worth what both play there: both need a policy that is known, or leave "
            "--exact-end out"
        )
    source = _Source(match.rules, tuple(agents), match.seed, match.duplicate, exact_end)
    kept = kept_lines(match.log)
    lines = [
        (number, text, kept.get(number, [])) for number, text in _betting(match.log, match.hands)
    ]
    parts = [lines[i : i + _PART] for i in range(0, len(lines), _PART)]
    values: list[float] = []
    rate, watched = 1000 / match.rules.big_blind, estimate([])
    with closing(scores(source, parts, workers)) as estimates:
        for part in estimates:
            values += part
            watched = watched.merged(estimate(pair_means(part) if match.duplicate else part))
            if progress is not None:
                now = rate_text(rate * watched.mean, rate * watched.half_width)
                progress(Event(len(values), len(lines), f"without luck {now} mbb/hand"))
    known = (agents[0] is not None, agents[1] is not None)
    return AivatResult(match, known, np.array(values))


def _known(player: Player, match: MatchResult, seat: int) -> Agent | None:
    """The agent, if its policy can be used."""
    agent = player if isinstance(player, Agent) else AgentSpec.read(player).make(match.rules)
    has_policy = type(agent).policy is not Agent.policy
    faulty = any(fault.seat == seat for fault in match.faults)
    return agent if has_policy and not agent.learns and not faulty else None


def _betting(log: Path, hands: int) -> list[tuple[int, str]]:
    """Number and betting of the hands in a match's log."""
    try:
        with log.open(encoding="utf-8", errors="replace") as file:
            states = [line.split(":", 3) for line in file if line.startswith("STATE:")]
    except OSError as error:
        raise ArtefactError(f"cannot read the log {log}: {error}") from None
    numbers = [state[1] if len(state) == 4 else "" for state in states]
    if numbers != [str(hand) for hand in range(hands)]:
        raise ArtefactError(f"{log} does not hold the {hands} hands of this match: play it again")
    return [(number, state[2]) for number, state in enumerate(states)]


#: Hands that a worker takes at a time.
_PART = 64

#: Number and betting of hands, with the lines of policies that were kept of them.
_Part = list[tuple[int, str, list[str]]]


@dataclass
class _Source:
    """What a worker needs to estimate any hand of a match."""

    rules: Rules
    agents: tuple[Agent | None, ...]
    seed: int
    duplicate: bool
    exact_end: bool = False

    def start(self) -> None:
        self.aivat = Aivat(self.rules, self.agents, self.seed, self.exact_end)
        self.deals = SeededDeals(self.rules, self.seed)

    def score(self, part: _Part) -> list[float]:
        """The estimates of some hands in order."""
        step = 2 if self.duplicate else 1
        first, last = part[0][0] // step, part[-1][0] // step
        deals = list(self.deals.deals(first, last + 1))
        return [
            self.aivat.value(
                self._record(number, text, deals[number // step - first]), kept_policies(kept)
            )
            for number, text, kept in part
        ]

    def _record(self, number: int, text: str, deal: DealtCards) -> HandRecord:
        state = State.from_betting_text(self.rules, text)
        names = ("A", "B") if number % 2 == 0 else ("B", "A")
        return HandRecord(number, state, deal.holes, deal.boards[-1], names)
