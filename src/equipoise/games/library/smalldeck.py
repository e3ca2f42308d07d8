"""Hold'em with a small deck: everything exact, and small enough to check by enumeration.

A deck of the highest `ranks` ranks in `suits` suits, one or two private cards, any public cards.
With five to seven cards in all the best five count, as in poker. With fewer, multiplicities count
and then high cards: four of a kind, three of a kind, two pair, pair, high card; there are no
straights and no flushes.

Players and blinds stand as in hold'em: player 1 is the button, who posts the small blind, acts first
in the first round and last after it. With equal blinds, which are antes, player 0 always acts first.
In limit a raise is the big blind in the first half of the rounds and twice that later.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import comb, factorial

from equipoise.errors import GameError, TooLargeError
from equipoise.games.betting import NO_RAKE, Betting, Rake
from equipoise.games.boards import BoardTree, deal_cards
from equipoise.games.dealing import hand_strength
from equipoise.games.game import CardText, Game, game_name
from equipoise.games.menu import BetMenu
from equipoise.games.rules import UNLIMITED, Rules

#: Numbers in the tables of a deal beyond which it is refused.
_MOST_ENTRIES = 400_000_000


@dataclass(frozen=True)
class SmallDeck:
    """A hold'em game with a deck of its own."""

    ranks: int = 3
    suits: int = 2
    #: Private cards of each player: 1 or 2.
    hole_cards: int = 1
    #: Public cards before each round; the first round has none.
    board_cards: tuple[int, ...] = (0, 1)
    #: Chips posted by player 0 and player 1.
    blinds: tuple[int, ...] = (1, 1)
    limit: bool = False
    #: No-limit: chips before the blinds.
    stack: int = 6
    #: Bets and raises a round; None is no cap.
    max_raises: int | None = None
    #: How showdowns are computed: "matrix", or "sorted" with two private cards.
    evaluator: str = "matrix"

    def rules(self) -> Rules:
        """The betting rules."""
        if len(self.blinds) != 2:
            raise GameError(f"blinds = {self.blinds}: give player 0's and player 1's, such as 2,1")
        rounds, stack = len(self.board_cards), UNLIMITED if self.limit else self.stack
        small_bets = (rounds + 1) // 2
        big = max(*self.blinds, 1)
        button_first = self.blinds[0] != self.blinds[1]
        return Rules(
            name="small-deck hold'em",
            limit=self.limit,
            blinds=(self.blinds[0], self.blinds[1]),
            first=(int(button_first),) + (0,) * (rounds - 1),
            stacks=(stack, stack),
            raise_sizes=tuple(big if r < small_bets else 2 * big for r in range(rounds))
            if self.limit
            else (),
            max_raises=(self.max_raises,) * rounds,
            suits=self.suits,
            ranks=self.ranks,
            hole_cards=self.hole_cards,
            board_cards=self.board_cards,
        )

    def deal(self) -> BoardTree:
        """The tree of boards."""
        self._check_deck()
        return deal_cards(
            suits=self.suits,
            ranks=self.ranks,
            hole_cards=self.hole_cards,
            board_cards=self.board_cards,
            strength=hand_strength(self.suits, self.ranks),
            evaluator=self.evaluator,
        )

    def _check_deck(self) -> None:
        if not 1 <= self.suits <= 4 or not 2 <= self.ranks <= 13:
            raise GameError(
                f"{self.ranks} ranks, {self.suits} suits: a deck has 2 to 13 ranks and 1 to 4 suits"
            )
        if self.hole_cards not in (1, 2):
            raise GameError(f"hole_cards = {self.hole_cards}: hold 1 or 2 cards")
        if self.board_cards[0]:
            raise GameError(f"board_cards = {self.board_cards}: the first round has no board: 0")
        if self.hole_cards + sum(self.board_cards) > 7:
            raise GameError(
                f"{self.hole_cards} hole cards and board_cards = {self.board_cards}: a hand is "
                "valued with at most 7 cards in all"
            )
        if self.evaluator not in ("matrix", "sorted"):
            raise GameError(f"evaluator = {self.evaluator!r}: choose matrix or sorted")
        if self.evaluator == "sorted" and self.hole_cards != 2:
            raise GameError("the sorted evaluator needs two hole cards: choose matrix")
        boards, left = 1, self.suits * self.ranks
        for count in self.board_cards:
            boards, left = boards * comb(left, count), left - count
        hands = comb(left, self.hole_cards)
        # Renaming suits merges at most suits! boards into one.
        entries = boards * hands * (hands if self.evaluator == "matrix" else 8)
        if entries // factorial(self.suits) > _MOST_ENTRIES:
            raise TooLargeError(
                f"{boards:,} boards with {hands:,} hands each do not fit: deal fewer public cards "
                "or cut ranks or suits"
            )


#: Decks with names, smallest first.
SIZES: dict[str, SmallDeck] = {
    # Leduc's deck with stacks: one private card, one public card.
    "tiny": SmallDeck(),
    # Two private cards of eight, a flop of one card, limit.
    "limit": SmallDeck(
        ranks=4, suits=2, hole_cards=2, board_cards=(0, 1), blinds=(2, 1), limit=True, max_raises=2
    ),
    # Two private cards of ten, two streets, no-limit.
    "short": SmallDeck(
        ranks=5, suits=2, hole_cards=2, board_cards=(0, 1, 1), blinds=(2, 1), stack=8
    ),
    # Five cards count: a real flop from twelve cards.
    "flop": SmallDeck(ranks=4, suits=3, hole_cards=2, board_cards=(0, 3), blinds=(2, 1), stack=8),
}


def holdem_small(
    size: str = "tiny",
    menu: BetMenu | str | None = None,
    ranks: int | None = None,
    suits: int | None = None,
    hole_cards: int | None = None,
    board_cards: tuple[int, ...] | None = None,
    blinds: tuple[int, ...] | None = None,
    limit: bool | None = None,
    stack: int | None = None,
    max_raises: int | None = None,
    evaluator: str | None = None,
    rake: Rake = NO_RAKE,
) -> Game:
    """A small-deck hold'em: a size of :data:`SIZES`, and whatever is given instead of its settings.

    >>> holdem_small("tiny", stack=3, menu="a").name
    'holdem-small(size=tiny, menu=a, stack=3)'
    """
    if size not in SIZES:
        raise GameError(f"no size {size!r}: use one of {', '.join(SIZES)}")
    given = {
        "ranks": ranks,
        "suits": suits,
        "hole_cards": hole_cards,
        "board_cards": board_cards,
        "blinds": blinds,
        "limit": limit,
        "stack": stack,
        "max_raises": max_raises,
        "evaluator": evaluator,
    }
    assert given.keys() == {field.name for field in fields(SmallDeck)}
    changed = {key: value for key, value in given.items() if value is not None}
    deck = replace(SIZES[size], **changed)  # type: ignore[arg-type]
    bets = BetMenu.of(menu)
    deal = deck.deal()
    betting = Betting.build(deck.rules(), bets, rake)
    text = CardText.of_deck(deck.ranks, deck.suits)
    told = {key: _told(value) for key, value in changed.items()}
    house = None if rake == NO_RAKE else f"{rake.rate:g} up to {rake.cap:g}"
    name = game_name("holdem-small", size=size, menu=bets, **told, rake=house)
    return Game(name, betting, deal, float(max(*deck.blinds, 1)), text.state, text.board)


def _told(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, tuple) else value
