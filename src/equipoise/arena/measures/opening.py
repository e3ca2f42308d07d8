"""How an agent opens: its chart before the flop, how often it limps, and what limped hands earn.

The button acts first before the flop. What it does with each of the 169 classes of hole cards is
read from the agent's policy, exactly; what hands earn that were limped, raised or folded there is
counted in a match, with the big blind's answer and everything after it. Many players hold that
limping is always wrong; Claudico limped often, and it is an open question what that cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.agent import Agent
from equipoise.arena.duel import Duel
from equipoise.arena.statistics import Estimate, estimate
from equipoise.cards.chart import svg
from equipoise.cards.combos import CLASS_COUNT, CLASS_SIZE, COMBO_CLASS, class_text
from equipoise.columnar import Columnar, columns_of
from equipoise.errors import EquipoiseError
from equipoise.games.dealing import SeededDeals
from equipoise.games.notation.labels import action_label
from equipoise.games.policy import PublicState
from equipoise.games.rules import Kind, Rules, State
from equipoise.run import Event, Listener

#: What a first action is called in the report.
MANNERS = {Kind.FOLD: "fold", Kind.CALL: "limp", Kind.RAISE: "raise"}


@dataclass(frozen=True)
class Chart(Columnar):
    """What the button does first, class by class."""

    agent: str
    #: Names of the actions.
    actions: tuple[str, ...]
    #: Kind of each action.
    kinds: tuple[Kind, ...]
    #: How often each class takes each action: float64[169, action].
    frequencies: NDArray[np.float64]

    def columns(self) -> dict[str, Any]:
        """One row a class of hands, and how often it takes each action."""
        acts = dict(zip(self.actions, self.frequencies.T, strict=True))
        return {"hand": [class_text(i) for i in range(CLASS_COUNT)], **acts}

    def _repr_html_(self) -> str:
        title = f"{self.agent} on the button, first in"
        squares = self.frequencies.reshape(13, 13, -1)
        return svg(squares, title=title, actions=self.actions)

    @property
    def shares(self) -> dict[str, float]:
        """How often the button folds, limps and raises, over all hands."""
        means = CLASS_SIZE @ self.frequencies / CLASS_SIZE.sum()
        found = dict.fromkeys(MANNERS.values(), 0.0)
        for kind, mean in zip(self.kinds, means, strict=True):
            found[MANNERS[kind]] += float(mean)
        return found


def opening_chart(agent: Agent, rules: Rules, name: str = "", hand: int = 0) -> Chart:
    """The chart of an agent whose policy is known.

    >>> from equipoise.agents.registry import make_agent
    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> opening_chart(make_agent("call"), NOLIMIT_HOLDEM).shares
    {'fold': 0.0, 'limp': 1.0, 'raise': 0.0}
    """
    start = State.start(rules)
    name = name or agent.name
    policy = agent.policy(PublicState(start, (), hand))
    if policy is None:
        raise EquipoiseError(f"{name} does not say its policy: there is no chart of it")
    sums = np.zeros((CLASS_COUNT, len(policy.actions)))
    np.add.at(sums, COMBO_CLASS, policy.probabilities)
    return Chart(
        name,
        tuple(action_label(start, action) for action in policy.actions),
        tuple(action.kind for action in policy.actions),
        sums / CLASS_SIZE[:, None],
    )


@dataclass(frozen=True)
class Earnings(Columnar):
    """What an agent's hands on the button earned, by what it did first."""

    agent: str
    opponent: str
    #: Hands on the button.
    hands: int
    #: Win rate in mbb/hand of the hands folded, limped and raised.
    by_manner: dict[str, Estimate]

    def columns(self) -> dict[str, list[Any]]:
        """One row a first action."""
        rows = self.to_dict()["earned"].items()
        return columns_of({"first_action": manner, **told} for manner, told in rows)

    def caption(self) -> str:
        """Who earned it, and from whom."""
        return f"{self.agent} on the button against {self.opponent}, {self.hands:,} hands"

    def to_dict(self) -> dict[str, Any]:
        """The figures; shares are of the hands on the button."""
        return {
            "opponent": self.opponent,
            "hands_on_button": self.hands,
            "earned": {
                manner: {
                    "share": rate.count / self.hands,
                    "hands": rate.count,
                    "mbb_per_hand": rate.mean,
                    "ci95_mbb": rate.half_width,
                }
                for manner, rate in self.by_manner.items()
            },
        }


def opening_earnings(
    agent: Agent,
    opponent: Agent,
    rules: Rules,
    hands: int = 10_000,
    seed: int = 0,
    progress: Listener | None = None,
) -> Earnings:
    """Play `hands` hands with the agent on the button in all of them.

    All-in pots are paid by equity, which takes luck away and changes no mean.
    """
    if hands < 1:
        raise EquipoiseError(f"hands = {hands}: play at least 1 hand")
    duel, dealer = Duel(rules, (agent, opponent), seed, allin_equity=True), SeededDeals(rules, seed)
    duel.reset()
    won: dict[str, list[float]] = {manner: [] for manner in MANNERS.values()}
    button = rules.first[0]
    with duel.watched():
        for hand in range(hands):
            state, payoff = duel.play(dealer.deal(hand), hand, button)
            if duel.faults:
                raise EquipoiseError(f"hand {hand} failed: {duel.faults[0].reason}")
            first = MANNERS[state.history[0][0].kind]
            won[first].append(1000 * (payoff if button == 0 else -payoff) / rules.big_blind)
            if progress is not None and hand % 256 == 0:
                progress(Event(hand, hands))
    rates = {manner: estimate(figures) for manner, figures in won.items()}
    return Earnings(agent.name, opponent.name, hands, rates)
