"""What a strategy is, whoever computed it and in whatever form it is kept.

    TabularStrategy   every private state at every decision of a game (:mod:`.tabular`)
    SampledStrategy   every bucket at every decision, as sampling on real cards found it
    Blueprint         the same, trained and packed into a file to play from
    Solution          the hands of a solved spot, and the solve itself

All answer the same two questions: what is played at a decision of the betting tree (:meth:`rows`), and
what every hand plays in a situation at the table (:meth:`policy`). How far a strategy can be beaten is
known where its game is small enough to be swept; where it is not, a sentence says what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from numpy.typing import NDArray

from equipoise.games.policy import Policy, PublicState

if TYPE_CHECKING:
    from equipoise.games.betting import Betting


S = TypeVar("S", bound="Strategy", covariant=True)


class BestResponse(NamedTuple, Generic[S]):
    """What wins most against a strategy."""

    #: Chips a hand, as :meth:`value` of a solver counts them.
    value: float
    #: The response, the other player playing on as he did.
    strategy: S


@runtime_checkable
class Plan(Protocol):
    """What is played at the decisions of a betting tree, and nothing more."""

    @property
    def betting(self) -> Betting:
        """The betting tree whose nodes are asked for."""

    def rows(self, node: int, board: int | None = None) -> NDArray[Any]:
        """Probabilities at a decision: [action, private state].

        `board` is one of the strategy's public states, as its game numbers them; None is all those of
        the node's round, their private states next to each other.
        """


class Strategy(Plan, Protocol):
    """What both players do."""

    def policy(self, public: PublicState) -> Policy:
        """What every hand plays in a situation at the table."""

    def exploitability(self) -> float:
        """Mean of what both players gain by best-responding, in chips a hand."""

    def best_response(self, player: int) -> BestResponse[Strategy]:
        """What wins most for `player` against this strategy."""
