"""A person at the table: sees the cards as text, is offered the legal actions, types an answer.

Input and output are functions, so that a terminal, a test or a page can sit behind them. Sizes are
the player's chips in the present betting round, as people say them: after a flop "r 300" bets 300.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NoReturn

from equipoise.agents.agent import Agent
from equipoise.cards.card import SUIT_SYMBOLS, card_text
from equipoise.cards.streets import STREETS
from equipoise.games.hand import HandResult, View
from equipoise.games.rules import CALL, FOLD, UNLIMITED, Action, Kind, Rules, State, raise_to
from equipoise.numerals import read_whole

Ask = Callable[[str], str]
Show = Callable[[str], None]

_STREETS = ("before the flop", *STREETS[1:])
_HELP = (
    "f folds, c checks or calls, x only checks, r 300 bets 300 or raises to 300 in this round "
    "(plain r in limit), a goes all-in, q leaves"
)


class LeaveTable(KeyboardInterrupt):
    """The person leaves: what was played counts, as with Ctrl-C."""


def pretty_cards(cards: Iterable[int]) -> str:
    """Cards with suit symbols.

    >>> pretty_cards((51, 44))
    'A♠ K♣'
    """
    texts = (card_text(card) for card in cards)
    return " ".join(text[0] + SUIT_SYMBOLS[text[1]] for text in texts)


def action_words(state: State, action: Action) -> str:
    """What a player does, in words.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> start = State.start(NOLIMIT_HOLDEM)
    >>> action_words(start, CALL), action_words(start, raise_to(300))
    ('calls 50', 'raises to 300')
    """
    if action.kind == Kind.FOLD:
        return "folds"
    if action.kind == Kind.CALL:
        return f"calls {state.to_call:,}" if state.to_call else "checks"
    player = state.to_act
    verb = "raises to" if max(state.committed) > state.round_start else "bets"
    words = f"{verb} {action.amount - state.round_start:,}"
    all_in = player is not None and action.amount == state.rules.stacks[player]
    return words + ", all-in" * all_in


def offers(state: State) -> str:
    """The legal actions, as they may be typed.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> offers(State.start(NOLIMIT_HOLDEM))
    '[f]old, [c]all 50, [r]aise to 200–20,000, [a]ll-in'
    """
    legal, start = state.legal(), state.round_start
    options = ["[f]old"] * legal.fold
    options.append(f"[c]all {state.to_call:,}" if legal.fold else "[c]heck")
    if legal.raise_min:
        verb = "[r]aise to" if max(state.committed) > start else "[r] bet"
        least, most = legal.raise_min - start, legal.raise_max - start
        options.append(f"{verb} {least:,}" + f"–{most:,}" * (most > least))
        if not state.rules.limit:
            options.append("[a]ll-in")
    return ", ".join(options)


def read_answer(state: State, text: str) -> Action | str:
    """The legal action that was typed, or a sentence that says what is wrong with it.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> str(read_answer(State.start(NOLIMIT_HOLDEM), "r 300"))
    'r300'
    >>> read_answer(State.start(NOLIMIT_HOLDEM), "r 120")
    'r 120: raise to 200–20,000'
    """
    words = text.strip().lower().replace(",", "")
    letters = words.rstrip("0123456789 ")
    number = words[len(letters) :].strip()
    legal, start = state.legal(), state.round_start
    if letters in ("f", "fold") and not number:
        return FOLD if legal.fold else "there is nothing to fold to: c checks"
    if letters in ("c", "call") and not number:
        return CALL
    if letters in ("x", "k", "check") and not number:
        # Who says check never pays.
        if legal.fold:
            return f"there is a bet of {state.to_call:,} to call: {offers(state)}"
        return CALL
    if letters in ("a", "allin", "all-in", "all in") and not number:
        if legal.raise_max and not state.rules.limit:
            return raise_to(legal.raise_max)
        return "no raise is allowed now: f or c" if legal.fold else "no raise is allowed now: c"
    if letters in ("r", "b", "raise", "bet", "raise to", "") and (letters or number):
        if not legal.raise_min:
            return "no raise is allowed now: c" + " or f" * legal.fold
        if state.rules.limit and not number:
            return raise_to(legal.raise_min)
        least, most = legal.raise_min - start, legal.raise_max - start
        if not number.isdecimal():
            return f"how much? r {least} is the least"
        amount = read_whole(number)
        if amount is not None and least <= amount <= most:
            return raise_to(amount + start)
        return f"r {number[:20]}: raise to {least:,}" + f"–{most:,}" * (most > least)
    return _HELP


class HumanAgent(Agent):
    """A person who reads and types."""

    name = "human"
    learns = True

    def __init__(self, ask: Ask = input, show: Show = print, opponent: str = "opponent") -> None:
        super().__init__()
        self._ask = ask
        self._show = show
        self._opponent = opponent
        #: Hands finished, and chips won in them.
        self.hands = 0
        self.chips: float = 0
        self._told = 0
        self._round = 0

    def reset(self, seed: int) -> None:
        """The score begins at nothing."""
        super().reset(seed)
        self.hands, self.chips = 0, 0

    def begin(self, hand: int, position: int) -> None:
        """Say which hand it is and where the person sits."""
        self._told = self._round = 0
        where = "on the button" if position else "out of position"
        self._show(f"\n── hand {hand + 1} · you are {where} ──")

    def act(self, view: View) -> Action:
        """Show the table, and ask until the answer is legal."""
        state = view.state
        self._tell_actions(state, view.position, view.board)
        self._show(f"  {self._stacks(state, view.position)}")
        self._show(f"  your cards {pretty_cards(view.hole)}")
        while True:
            answer = read_answer(state, self._typed(f"  {offers(state)} > "))
            if isinstance(answer, Action):
                return answer
            self._show(f"  {answer}")

    def observe(self, result: HandResult) -> None:
        """Show how the hand ended, and the score."""
        self._tell_actions(result.state, result.position, result.board)
        if result.opponent is not None and result.state.folded is None:
            self._tell_showdown(result)
        self.hands += 1
        self.chips += result.payoff
        words = "you win" if result.payoff > 0 else "you lose" if result.payoff < 0 else "a tie:"
        self._show(f"  {words} {abs(result.payoff):,.6g}")
        self._show(f"  {self.score(result.state.rules)}")

    def score(self, rules: Rules) -> str:
        """The running score."""
        rate = 1000 * self.chips / (rules.big_blind * self.hands) if self.hands else 0.0
        hands = f"{self.hands:,} hand{'s' * (self.hands != 1)}"
        return f"score after {hands}: {self.chips:+,.6g} chips, {rate:+,.0f} mbb/hand"

    def _typed(self, prompt: str) -> str:
        try:
            text = self._ask(prompt)
        except (EOFError, KeyboardInterrupt):
            self._leave()
        if text.strip().lower() in ("q", "quit", "exit"):
            self._leave()
        return text

    def _leave(self) -> NoReturn:
        raise LeaveTable from None

    def _stacks(self, state: State, position: int) -> str:
        pot = f"pot {state.pot:,}"
        if state.rules.stacks[position] == UNLIMITED:
            return pot
        mine, theirs = (
            state.rules.stacks[p] - state.committed[p] for p in (position, 1 - position)
        )
        return f"{pot} · you have {mine:,} left, {self._opponent} {theirs:,}"

    def _tell_actions(self, state: State, position: int, board: tuple[int, ...]) -> None:
        """What happened since the person last looked, round by round."""
        rules = state.rules
        replay, count = State.start(rules), 0
        for number in range(state.round + state.rounds_to_deal + 1):
            if number > self._round or (number == 0 and not self._told and not count):
                self._tell_round(rules, number, board)
            for action in state.history[number] if number <= state.round else ():
                count += 1
                if count > self._told:
                    who = "you" if replay.to_act == position else self._opponent
                    words = action_words(replay, action)
                    if who != "you":
                        self._show(f"  {who} {words}")
                replay = replay.apply(action)
        self._told, self._round = count, state.round + state.rounds_to_deal

    def _tell_round(self, rules: Rules, number: int, board: tuple[int, ...]) -> None:
        if not number:
            return
        seen = board[: sum(rules.board_cards[: number + 1])]
        street = _STREETS[number] if rules.rounds == len(_STREETS) else f"round {number + 1}"
        self._show(f"  {street}: {pretty_cards(seen)}")

    def _tell_showdown(self, result: HandResult) -> None:
        assert result.opponent is not None
        for who, hole in (("you show", result.hole), (f"{self._opponent} shows", result.opponent)):
            cards = (*hole, *result.board)
            name = ""
            if 5 <= len(cards) <= 7:
                from equipoise.cards.handnames import hand_name

                name = f", {hand_name(cards)}"
            self._show(f"  {who} {pretty_cards(hole)}{name}")
