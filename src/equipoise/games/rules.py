"""Heads-up betting, limit and no-limit, as the dealer of the Annual Computer Poker Competition
(ACPC) plays it.

Everything is counted in whole chips, and a raise is named by the player's total for the *hand*
after it ("raise to"). In no-limit a raise adds at least the largest increment of the round so far,
and never less than the big blind, except that a player may always go all-in; in limit there is one
size a round and a cap on the number of raises. A fold exists only when there is something to call.
Once a player is all-in and the other has answered, the remaining rounds are dealt without betting.

Betting text is the ACPC's: `f`, `c` (check or call), `rN` (plain `r` in limit), and `/` between
rounds, so `cr300c/cr600f` is a limp, a raise to 300, a call; on the flop a check, a bet of 300
more, a fold. A hand that is all-in early ends in empty rounds: `r20000c///`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from equipoise.cards.streets import BOARD_CARDS
from equipoise.errors import GameError, IllegalActionError
from equipoise.games.legal import LegalActions
from equipoise.numerals import read_whole
from equipoise.settings import brief

#: A stack that never binds: what limit games, which have no stacks, are played with.
UNLIMITED = 2**31 - 1
#: Betting rounds that a game may have.
MOST_ROUNDS = 16
#: Chips that may be named anywhere: sums of them are exact, whole or not.
MOST_CHIPS = 10**15
#: The longest betting text that is read: no hand of any game in use comes near it.
LONGEST_BETTING = 1 << 16


@dataclass(frozen=True, slots=True)
class Rules:
    """A heads-up betting game: who posts, who acts first, what may be raised, what is dealt.

    Players are numbered by *position*, as in the ACPC: in hold'em player 0 is the big blind and
    player 1 the button, who posts the small blind, acts first before the flop and last after it.
    """

    #: What people call the game.
    name: str
    #: Limit (one raise size a round) or no-limit.
    limit: bool
    #: Chips posted by player 0 and by player 1.
    blinds: tuple[int, int]
    #: Who acts first in each round.
    first: tuple[int, ...]
    #: Chips of each player before the blinds.
    stacks: tuple[int, int] = (UNLIMITED, UNLIMITED)
    #: Limit only: what a raise adds, for each round.
    raise_sizes: tuple[int, ...] = ()
    #: Bets and raises allowed in each round, blinds not counted; None is no cap.
    max_raises: tuple[int | None, ...] = ()
    #: Suits in the deck.
    suits: int = 4
    #: Ranks in the deck.
    ranks: int = 13
    #: Private cards of each player.
    hole_cards: int = 2
    #: Board cards dealt at the start of each round.
    board_cards: tuple[int, ...] = BOARD_CARDS
    #: Chips in the middle that neither player posted: the pot with which a postflop spot starts.
    dead: int = 0
    #: Smallest opening bet in no-limit; None is the larger blind, or 1 chip without blinds.
    min_bet: int | None = None

    def __post_init__(self) -> None:
        rounds = len(self.first)
        if not rounds:
            raise GameError("a game needs at least one betting round: give `first` a player")
        if rounds > MOST_ROUNDS:
            raise GameError(f"{rounds} betting rounds: a game has at most {MOST_ROUNDS}")
        if any(player not in (0, 1) for player in self.first):
            raise GameError(f"first = {self.first}: the first player of a round is 0 or 1")
        if not self.max_raises:
            object.__setattr__(self, "max_raises", (None,) * rounds)
        for field, length in (
            ("max_raises", len(self.max_raises)),
            ("board_cards", len(self.board_cards)),
            ("raise_sizes", len(self.raise_sizes) if self.limit else rounds),
        ):
            if length != rounds:
                raise GameError(
                    f"{field} has {length} entries: give one for each of {rounds} rounds"
                )
        if self.raise_sizes and not self.limit:
            raise GameError("raise_sizes belong to limit games: drop them or set limit = True")
        if any(size <= 0 for size in self.raise_sizes):
            raise GameError(f"raise_sizes = {self.raise_sizes}: every raise needs at least 1 chip")
        if any(cap is not None and cap < 0 for cap in self.max_raises):
            raise GameError(f"max_raises = {self.max_raises}: a cap is 0 or more, or None")
        if min(self.stacks) <= 0:
            raise GameError(f"stacks = {self.stacks}: each player needs at least 1 chip")
        if min(self.blinds) < 0 or self.dead < 0 or min(self.board_cards) < 0:
            raise GameError("blinds, dead chips and board cards cannot be negative")
        if self.min_bet is not None and self.min_bet < 1:
            raise GameError(f"min_bet = {self.min_bet}: the smallest bet is at least 1 chip")
        if (
            max(*self.stacks, *self.blinds, *self.raise_sizes, self.dead, self.smallest_bet)
            > MOST_CHIPS
        ):
            raise GameError(
                f"stacks, blinds and bets are at most {MOST_CHIPS:,} chips: count in larger units"
            )
        if min(self.suits, self.ranks, self.hole_cards) < 1:
            raise GameError("suits, ranks and hole_cards are at least 1")
        needed = 2 * self.hole_cards + sum(self.board_cards)
        if needed > self.suits * self.ranks:
            raise GameError(
                f"the game deals {needed} cards from a deck of {self.suits * self.ranks}: "
                "add suits or ranks, or deal fewer"
            )

    @property
    def rounds(self) -> int:
        """Betting rounds in a full hand."""
        return len(self.first)

    @property
    def big_blind(self) -> int:
        """The larger blind, or 1 chip in a game without blinds: the unit of win rates."""
        return max(*self.blinds, 1)

    @property
    def smallest_bet(self) -> int:
        """Smallest opening bet, and so the least that a full raise may add."""
        return self.min_bet if self.min_bet is not None else self.big_blind


def nolimit(stack: int = 20_000, small: int = 50, big: int = 100) -> Rules:
    """Heads-up no-limit hold'em.

    >>> nolimit(stack=400, small=1, big=2).blinds
    (2, 1)
    """
    return Rules(
        name=f"no-limit hold'em {small}-{big}, stack {stack}",
        limit=False,
        blinds=(big, small),
        first=(1, 0, 0, 0),
        stacks=(stack, stack),
    )


def limit(small: int = 5, big: int = 10, cap: int = 4) -> Rules:
    """Heads-up limit hold'em with `cap` bets a round, the big blind counting as one of them.

    >>> limit().raise_sizes, limit().max_raises
    ((10, 10, 20, 20), (3, 4, 4, 4))
    """
    return Rules(
        name=f"limit hold'em {small}-{big}",
        limit=True,
        blinds=(big, small),
        first=(1, 0, 0, 0),
        raise_sizes=(big, big, 2 * big, 2 * big),
        max_raises=(cap - 1, cap, cap, cap),
    )


def one_bet_limit(small: int = 5, big: int = 10) -> Rules:
    """Limit hold'em in which each player may bet or raise once a round, always by the same amount.

    Who bets may be raised once, and must then call or fold; blinds are not bets. Seats are those of
    heads-up play: the button posts the small blind and acts first before the flop, last after it.

    >>> one_bet_limit().raise_sizes, one_bet_limit().max_raises
    ((10, 10, 10, 10), (2, 2, 2, 2))
    """
    return Rules(
        name=f"one-bet limit hold'em {small}-{big}",
        limit=True,
        blinds=(big, small),
        first=(1, 0, 0, 0),
        raise_sizes=(big,) * 4,
        max_raises=(2,) * 4,
    )


LIMIT_HOLDEM = limit()
ONE_BET_HOLDEM = one_bet_limit()
NOLIMIT_HOLDEM = nolimit()


class Kind(IntEnum):
    """What an action does."""

    FOLD = 0
    CALL = 1
    RAISE = 2


#: The kinds once more: a name of the module is read in a third of the time.
_FOLD, _CALL, _RAISE = Kind


class Action(NamedTuple):
    """One decision of a player.

    >>> str(raise_to(300)), str(CALL)
    ('r300', 'c')
    """

    #: Fold, check or call, bet or raise.
    kind: Kind
    #: Raises only: the player's chips in the hand after it.
    amount: int = 0

    def __str__(self) -> str:
        return f"r{self.amount}" if self.kind == Kind.RAISE else "fc"[self.kind]


FOLD = Action(Kind.FOLD)
CALL = Action(Kind.CALL)


def raise_to(amount: int) -> Action:
    """Bet or raise so that the player has put `amount` chips into the hand."""
    return Action(Kind.RAISE, amount)


class State(NamedTuple):
    """The betting of a hand so far; immutable, and a value: equal histories are equal states.

    >>> state = State.start(NOLIMIT_HOLDEM)
    >>> state = state.apply(CALL).apply(raise_to(300)).apply(CALL)
    >>> state.betting_text(), state.round, state.to_act, state.pot
    ('cr300c/', 1, 0, 600)
    """

    #: The game that is played.
    rules: Rules
    #: Betting round, 0 before the flop; stays where the betting ended.
    round: int
    #: Chips each player has put in over the hand, blinds included.
    committed: tuple[int, int]
    #: Whose turn it is; None when the hand is over.
    to_act: int | None
    #: Bets and raises in this round, blinds not counted.
    raises: int
    #: Least that a full raise must add.
    increment: int
    #: The player who folded.
    folded: int | None
    #: The player who called a bet or raise to end the previous round, if one did.
    caller: int | None
    #: The actions of each round begun.
    history: tuple[tuple[Action, ...], ...]

    @classmethod
    def start(cls, rules: Rules) -> State:
        """The state after the blinds.

        >>> State.start(LIMIT_HOLDEM).committed
        (10, 5)
        """
        stacks, first = rules.stacks, rules.first[0]
        posted = (min(rules.blinds[0], stacks[0]), min(rules.blinds[1], stacks[1]))

        def can_act(player: int) -> bool:
            other = 1 - player
            mine, theirs = posted[player], posted[other]
            return mine < stacks[player] and (mine < theirs or theirs < stacks[other])

        to_act = next((player for player in (first, 1 - first) if can_act(player)), None)
        return cls(rules, 0, posted, to_act, 0, rules.smallest_bet, None, None, ((),))

    @classmethod
    def from_betting_text(cls, rules: Rules, text: str, *, free_folds: bool = False) -> State:
        """Read ACPC betting text; with `free_folds` of a hand that was played by people.

        >>> State.from_betting_text(NOLIMIT_HOLDEM, "cr300c/cr600f").payoffs()
        (-300, 300)
        >>> State.from_betting_text(NOLIMIT_HOLDEM, "cr150")
        Traceback (most recent call last):
            ...
        equipoise.errors.IllegalActionError: 'cr150', character 2: player 0 cannot raise to 150;
        legal: check or raise to 200-20000
        """
        if len(text) > LONGEST_BETTING:
            raise IllegalActionError(
                f"betting of {len(text):,} characters: no hand has more than {LONGEST_BETTING:,}"
            )
        state = cls.start(rules)
        slashes = 0
        for token in _TOKEN.finditer(text):
            word = token.group()
            try:
                if word == "/":
                    slashes += 1
                    if slashes > state.round + state.rounds_to_deal:
                        raise IllegalActionError("the round is not over, so no '/' belongs here")
                    continue
                if slashes < state.round:
                    raise IllegalActionError("the round is over, so '/' belongs here")
                action = state.read_action(word)
                state = state.replay(action) if free_folds else state.apply(action)
            except IllegalActionError as error:
                where = f"{brief(text)!r}, character {token.start() + 1}"
                raise IllegalActionError(f"{where}: {error}") from None
        missing = state.round + state.rounds_to_deal - slashes
        if missing:
            raise IllegalActionError(
                f"{brief(text)!r}: the round is over, so add {'/' * missing!r}"
            )
        return state

    def betting_text(self) -> str:
        """Write ACPC betting text.

        >>> State.start(NOLIMIT_HOLDEM).apply(raise_to(20000)).apply(CALL).betting_text()
        'r20000c///'
        """
        if self.rules.limit:
            rounds = ("".join(["fcr"[action.kind] for action in part]) for part in self.history)
        else:
            rounds = ("".join([str(action) for action in part]) for part in self.history)
        return "/".join(rounds) + "/" * self.rounds_to_deal

    def read_action(self, text: str) -> Action:
        """Read one action as the ACPC writes it; a limit raise takes the only size there is.

        >>> State.start(LIMIT_HOLDEM).read_action("r").amount
        20
        """
        if text == "c":
            return CALL
        if text == "f":
            return FOLD
        if text[:1] == "r":
            if self.rules.limit and len(text) == 1:
                size = self.rules.raise_sizes[self.round]
                return Action(Kind.RAISE, self.legal().raise_min or max(self.committed) + size)
            if not self.rules.limit and (amount := read_whole(text[1:])) is not None:
                return Action(Kind.RAISE, amount)
            cure = (
                "write plain r in limit" if self.rules.limit else "write r and the total, as r300"
            )
            raise IllegalActionError(f"{text[:30]!r} is not a raise: {cure}")
        raise IllegalActionError(f"{text!r} is not an action: write f, c or r")

    def legal(self) -> LegalActions:
        """What the player to act may do; nothing when the hand is over.

        >>> State.start(NOLIMIT_HOLDEM).legal()
        LegalActions(fold=True, call=True, raise_min=200, raise_max=20000)
        """
        player = self.to_act
        if player is None:
            return _NOTHING
        least, most = self._raise_bounds(player)
        committed = self.committed
        return LegalActions(committed[1 - player] > committed[player], True, least, most)

    def _raise_bounds(self, player: int) -> tuple[int, int]:
        """Smallest and largest raise-to of the player to act; 0 and 0 if no raise is allowed."""
        rules, number, committed, _, raises, increment, _, _, _ = self
        stacks, other = rules.stacks, 1 - player
        mine, theirs = committed[player], committed[other]
        stack, cap = stacks[player], rules.max_raises[number]
        highest = theirs if theirs > mine else mine
        if stack <= highest or theirs >= stacks[other] or (cap is not None and raises >= cap):
            return 0, 0
        if rules.limit:
            least = highest + rules.raise_sizes[number]
            if least > stack:
                least = stack
            return least, least
        least = highest + increment
        return least if least < stack else stack, stack

    def can(self, action: Action) -> bool:
        """Whether the rules allow `action` now.

        >>> State.start(NOLIMIT_HOLDEM).can(raise_to(199))
        False
        """
        kind, player = action.kind, self.to_act
        if kind == Kind.CALL or player is None:
            return player is not None
        if kind == Kind.RAISE:
            least, most = self._raise_bounds(player)
            return 0 < least <= action.amount <= most
        return self.committed[1 - player] > self.committed[player]

    def nearest(self, action: Action) -> Action:
        """What the ACPC dealer plays in place of `action`, which is itself where it is legal.

        A raise of a wrong size is clipped; a raise that is not allowed and a free fold are calls.

        >>> str(State.start(NOLIMIT_HOLDEM).nearest(raise_to(30000)))
        'r20000'
        """
        legal = self.legal()
        if action.kind == Kind.RAISE and legal.raise_min:
            return Action(Kind.RAISE, min(max(action.amount, legal.raise_min), legal.raise_max))
        return FOLD if action.kind == Kind.FOLD and legal.fold else CALL

    def apply(self, action: Action) -> State:
        """The state after `action`; :class:`IllegalActionError` if the rules forbid it."""
        rules, number, committed, player, raises, increment, _, caller, history = self
        if player is None:
            raise self._refuse(action)
        other = 1 - player
        mine, theirs = committed[player], committed[other]
        kind, amount = action
        done, current = history[:-1], history[-1]
        played = (*done, (*current, action))

        if kind == _RAISE:
            least, most = self._raise_bounds(player)
            if not 0 < least <= amount <= most:
                raise self._refuse(action)
            added = amount - (theirs if theirs > mine else mine)
            return _state(
                State,
                (
                    rules,
                    number,
                    (committed[0], amount) if player else (amount, committed[1]),
                    other,
                    raises + 1,
                    added if added > increment else increment,
                    None,
                    caller,
                    played,
                ),
            )

        if kind == _FOLD:
            if theirs <= mine:
                raise self._refuse(action)
            return _state(
                State, (rules, number, committed, None, raises, increment, player, caller, played)
            )

        if kind != _CALL:
            raise self._refuse(action)
        stacks = rules.stacks
        if theirs > mine:
            mine = theirs if theirs < stacks[player] else stacks[player]
            committed = (theirs, mine) if player else (mine, theirs)
        all_in = mine >= stacks[player] or theirs >= stacks[other]
        if not all_in and not current:
            # The first check or call of a round leaves the other player a turn: after a limp,
            # the big blind's option.
            return _state(
                State, (rules, number, committed, other, raises, increment, None, caller, played)
            )
        if all_in or number + 1 == len(rules.first):
            return _state(
                State, (rules, number, committed, None, raises, increment, None, caller, played)
            )
        number += 1
        return _state(
            State,
            (
                rules,
                number,
                committed,
                rules.first[number],
                0,
                rules.smallest_bet,
                None,
                player if raises else None,
                (*played, ()),
            ),
        )

    def replay(self, action: Action) -> State:
        """The state after an action that was really played: as :meth:`apply`, and yet a free fold.

        At real tables a player may fold where checking costs nothing, and some do.

        >>> State.start(NOLIMIT_HOLDEM).apply(CALL).replay(FOLD).payoffs()
        (-100, 100)
        """
        if action.kind != Kind.FOLD or self.to_act is None or self.to_call:
            return self.apply(action)
        played = (*self.history[:-1], (*self.history[-1], action))
        return self._replace(to_act=None, folded=self.to_act, history=played)

    def _refuse(self, action: Action) -> IllegalActionError:
        legal = self.legal()
        if self.to_act is None:
            return IllegalActionError(f"cannot play {action}: the hand is over")
        if action.kind == Kind.RAISE:
            verb = f"raise to {action.amount}"
        else:
            verb = "fold" if action.kind == Kind.FOLD else f"do {action.kind!r}"
        return IllegalActionError(f"player {self.to_act} cannot {verb}; legal: {legal}")

    @property
    def pot(self) -> int:
        """All chips in the middle, bets of this round included."""
        return self.rules.dead + self.committed[0] + self.committed[1]

    @property
    def to_call(self) -> int:
        """Chips the player to act must add to stay in: 0 is a check.

        >>> State.start(NOLIMIT_HOLDEM).to_call
        50
        """
        player = self.to_act
        if player is None:
            return 0
        mine, theirs = self.committed[player], self.committed[1 - player]
        return max(0, min(theirs, self.rules.stacks[player]) - mine)

    @property
    def round_start(self) -> int:
        """Chips of each player when the round began.

        Blinds are bets of the first round; equal ones are antes, which nobody has to call.

        >>> State.from_betting_text(NOLIMIT_HOLDEM, "r300c/r500").round_start
        300
        """
        blinds = self.rules.blinds
        if self.round == 0:
            return blinds[0] if blinds[0] == blinds[1] else 0
        for part in reversed(self.history[: self.round]):
            for kind, amount in reversed(part):
                if kind == _RAISE:
                    return amount
        return max(blinds)

    @property
    def is_over(self) -> bool:
        """Nobody acts any more: a fold, a showdown, or both players all-in."""
        return self.to_act is None

    @property
    def is_showdown(self) -> bool:
        """The hand is over and the cards decide it."""
        return self.to_act is None and self.folded is None

    @property
    def folded_free(self) -> bool:
        """The hand ended by a fold where checking was free: see :meth:`replay`."""
        folded = self.folded
        return folded is not None and self.committed[folded] >= self.committed[1 - folded]

    @property
    def all_in(self) -> bool:
        """A player has no chips behind."""
        committed, stacks = self.committed, self.rules.stacks
        return committed[0] >= stacks[0] or committed[1] >= stacks[1]

    @property
    def rounds_to_deal(self) -> int:
        """Rounds that are still dealt, without betting, after both players are all-in."""
        if self.to_act is not None or self.folded is not None:
            return 0
        return len(self.rules.first) - 1 - self.round

    def payoffs(self, winner: int | None = None) -> tuple[float, float]:
        """Net chips of both players: whole numbers unless `dead` is odd, always summing to zero.

        `winner` is who wins the showdown, None for a split pot; after a fold it is not needed.
        Each player owns half of the `dead` chips, and an unmatched part of a bet goes back.

        >>> State.start(NOLIMIT_HOLDEM).apply(FOLD).payoffs()
        (50, -50)
        """
        if self.to_act is not None:
            raise IllegalActionError("the hand is not over: play it to its end before paying out")
        if self.folded is not None:
            if winner == self.folded:
                raise IllegalActionError(f"player {winner} folded and cannot win")
            winner = 1 - self.folded
        if winner is None:
            return 0, 0
        dead = self.rules.dead
        gain: float = min(self.committed) + (dead / 2 if dead % 2 else dead // 2)
        return (gain, -gain) if winner == 0 else (-gain, gain)


#: One ACPC token; anything else is one character that `read_action` refuses.
_TOKEN = re.compile(r"r\d*|.", re.DOTALL)
_NOTHING = LegalActions(False, False, 0, 0)
#: Builds a State from its fields in order, in half the time of the call by name: trees of millions
#: of nodes and matches of millions of hands are made of :meth:`State.apply`.
_state = tuple.__new__
