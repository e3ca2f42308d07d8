"""Practice: hands dealt from a solved position, actions graded by what they are worth.

A hand comes as often as it is held there. An action loses what it is worth less than the best one; an
action that a solved strategy mixes loses hardly anything, whichever is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from equipoise.cards.combos import combo_text
from equipoise.errors import IllegalActionError
from equipoise.games.notation.labels import named
from equipoise.settings import brief

if TYPE_CHECKING:
    from equipoise.solve.spots.position import Position

#: What an action may lose, in % of the pot, and still be right; above the second it is a blunder.
RIGHT_PCT_POT, BLUNDER_PCT_POT = 0.5, 5.0


@dataclass(frozen=True)
class Graded:
    """One answer."""

    hand: str
    action: str
    #: What it is worth less than the best action, in the unit of the spot.
    loss: float
    loss_pct_pot: float
    #: The action that is worth most.
    best: str
    #: How often the solution takes the action that was chosen.
    frequency: float
    #: Worth of every action, and how often the solution takes it.
    worth: dict[str, float]
    plays: dict[str, float]

    @property
    def grade(self) -> str:
        """`right`, `inaccurate` or `blunder`."""
        if self.loss_pct_pot <= RIGHT_PCT_POT:
            return "right"
        return "inaccurate" if self.loss_pct_pot <= BLUNDER_PCT_POT else "blunder"


class Drill:
    """Hands of the player to act at a position, and a score of how they were played."""

    def __init__(self, position: Position, generator: Generator) -> None:
        who = position.decider()
        self.position, self._generator = position, generator
        weight = position.weight(who)
        known = ~np.isnan(position.action_ev()).any(axis=0)
        self._weight = np.where(known, weight, 0.0)
        if not self._weight.sum() > 0:
            raise IllegalActionError(f"no hand gets to {position.title}: drill an earlier decision")
        self._hands = position.hands(who)
        self._play, self._worth = position.strategy(), position.action_ev()
        self._dealt = -1
        #: Every answer so far.
        self.answers: list[Graded] = []

    def deal(self) -> str:
        """The next hand, as `AhQd`."""
        chance = self._weight / self._weight.sum()
        self._dealt = int(self._generator.choice(len(chance), p=chance))
        return combo_text(int(self._hands[self._dealt]))

    def answer(self, word: str) -> Graded:
        """Grade what is done with the hand that was dealt."""
        if self._dealt < 0:
            raise IllegalActionError("no hand is dealt: deal one first")
        actions = self.position.actions
        close = named(word, actions)
        if len(close) != 1:
            raise IllegalActionError(f"{brief(repr(word))}: choose one of {', '.join(actions)}")
        worth, play = self._worth[:, self._dealt], self._play[:, self._dealt]
        loss = float(worth.max() - worth[close[0]])
        graded = Graded(
            hand=combo_text(int(self._hands[self._dealt])),
            action=actions[close[0]],
            loss=loss,
            loss_pct_pot=100 * loss / self.position.pot,
            best=actions[int(worth.argmax())],
            frequency=float(play[close[0]]),
            worth=dict(zip(actions, worth.tolist(), strict=True)),
            plays=dict(zip(actions, play.tolist(), strict=True)),
        )
        self._dealt = -1
        self.answers.append(graded)
        return graded

    def score(self) -> dict[str, Any]:
        """Hands played, how many rightly, and the mean loss."""
        count = len(self.answers)
        grades = [answer.grade for answer in self.answers]
        unit = self.position.answer.spot.unit
        mean = sum(answer.loss for answer in self.answers) / count if count else 0.0
        return {
            "hands": count,
            "right": grades.count("right"),
            "inaccurate": grades.count("inaccurate"),
            "blunders": grades.count("blunder"),
            f"mean_loss_{unit}": mean,
            "mean_loss_pct_pot": 100 * mean / self.position.pot,
        }
