"""What an agent is: it sees what a player may see, and returns a legal action.

An agent plays a match, hand after hand. The arena calls, in this order,

    agent.reset(seed)            a new match begins
    agent.begin(hand, position)  a new hand: its number, and where the agent sits
    agent.act(view)              it is the agent's turn
    agent.observe(result)        the hand is over, with what was shown

Every random choice comes from `agent.random`, which the arena seeds anew for every hand from the
match seed, the hand's number and the seat: the same seed gives the same match, however many workers
play it. An agent that carries something over from hand to hand sets `learns`; its hands are then
played in order by one worker.

An agent whose mixed strategy is known says so by `policy`: the probabilities of every hand it could
hold, after all post-processing, so that variance reduction, local best responses and exact evaluation
apply. They may depend on what is public: the hand's number, the betting and the board. What an agent
draws for itself and goes by in later decisions is as private as its cards: `policy` is then the mixture
over these draws, each as likely as it is for that hand after what was played, and `act` follows one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import Random
from typing import ClassVar

from equipoise.games.hand import HandResult, View
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action


class Agent(ABC):
    """A player. Subclasses need :meth:`act`."""

    #: Name in the registry.
    name: ClassVar[str] = ""
    #: Carries something over from hand to hand.
    learns: bool = False
    #: Decisions since the last reset that were not answered as they are meant to be, but more simply.
    fallbacks: int = 0
    #: A decision may take long: whoever serves others as well asks in a thread.
    waits: bool = False
    #: What the agent wants kept with the log of the hand, a line each, if it keeps such a list.
    notes: list[str] | None = None
    #: Where the agent puts the policies that it played from and that were dear to find, each with where that
    #: was; None if nobody keeps them.
    kept: list[tuple[PublicState, Policy]] | None = None

    def __init__(self) -> None:
        #: Source of every random choice, seeded by the arena for every hand.
        self.random = Random(0)

    def reset(self, seed: int) -> None:
        """Forget the last match."""
        self.random.seed(seed)

    def begin(self, hand: int, position: int) -> None:  # noqa: B027
        """A new hand begins; by default nothing needs to be done."""

    @abstractmethod
    def act(self, view: View) -> Action:
        """A legal action."""

    def observe(self, result: HandResult) -> None:  # noqa: B027
        """A hand has ended; by default nothing is learnt."""

    def policy(self, public: PublicState) -> Policy | None:
        """The mixed strategy of every hand here, None if it is not known."""
        return None

    def at_once(self, public: PublicState) -> bool:
        """Whether `policy` answers without a search; the situation alone says so, not what was asked."""
        return not self.waits
