"""Pieces that pages are drawn from: cards, chips, the felt, win rates. Markup is escaped here, once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from equipoise.arena.statistics import Estimate, rate_text
from equipoise.cards.card import card_text
from equipoise.web.faces import card_name

#: Where pictures of cards are served.
CARDS_PATH = "/cards"
#: Chips by worth, and their colours.
_CHIPS = (
    (10_000, "#7a4fb5"),
    (5_000, "#8a5a2b"),
    (1_000, "#e0a010"),
    (500, "#6b4a8a"),
    (100, "#20242a"),
    (25, "#0b7a52"),
    (5, "#c2331f"),
    (1, "#e9e4d8"),
)
#: Chips of a stack that are drawn.
_MOST_CHIPS = 12


def card(number: int | None, kind: str = "", label: str = "") -> str:
    """A card face, or the back of one that is not seen."""
    name = "back" if number is None else card_text(number)
    told = label or ("hidden card" if number is None else card_name(number))
    return (
        f'<img class="card {escape(kind)}" src="{CARDS_PATH}/{name}.svg" alt="{escape(told)}" '
        'draggable="false">'
    )


def cards(numbers: Iterable[int | None], kind: str = "") -> str:
    """Cards side by side."""
    return "".join(card(number, kind) for number in numbers)


def chips(amount: float) -> str:
    """An amount as a stack of chips, the largest at the bottom.

    >>> chips(650).count("<ellipse")
    4
    """
    drawn: list[str] = []
    left = int(amount)
    for worth, colour in _CHIPS:
        count, left = divmod(left, worth)
        drawn += [colour] * count
    drawn = drawn[:_MOST_CHIPS]
    if not drawn:
        return ""
    height = 20 + 5 * len(drawn)
    parts = []
    for place, colour in enumerate(drawn):
        y = height - 12 - 5 * place
        parts.append(
            f'<path d="M3 {y}v5a17 8 0 0 0 34 0v-5z" fill="{colour}" stroke="#0006"/>'
            f'<ellipse cx="20" cy="{y}" rx="17" ry="8" fill="{colour}" stroke="#fff9" '
            'stroke-width="1.6" stroke-dasharray="6 5"/>'
        )
    return (
        f'<svg class="chips" viewBox="0 0 40 {height}" style="--chips:{len(drawn)}" '
        f'aria-hidden="true">{"".join(parts)}</svg>'
    )


def rate(estimate: Estimate, unit: str = "bb/100") -> str:
    """A win rate with its interval, as text."""
    if not estimate.count:
        return "–"
    return f"{rate_text(estimate.mean, estimate.half_width, 1)} {unit}"


def big_blinds(amount: float, big_blind: int) -> str:
    """Chips in big blinds.

    >>> big_blinds(650, 100), big_blinds(20000, 100)
    ('6.5 bb', '200 bb')
    """
    return f"{round(amount / big_blind, 2):,g} bb"


@dataclass(frozen=True)
class Player:
    """A player as the felt shows him."""

    name: str
    #: Cards, None where they are not seen; empty before anything is dealt.
    cards: tuple[int | None, ...]
    #: Chips left; None where stacks do not count.
    stack: int | None
    #: Chips in front of him in this round.
    bet: int
    #: What he did last.
    said: str = ""
    button: bool = False
    to_act: bool = False
    folded: bool = False
    thinking: bool = False
    #: What his hand is called, where it was shown.
    hand: str = ""


@dataclass(frozen=True)
class Felt:
    """A table as everybody on this side sees it."""

    #: The opponent, and who looks.
    players: tuple[Player, Player]
    board: tuple[int, ...]
    #: Chips in the middle, bets in front of the players not counted.
    pot: int
    big_blind: int
    #: How the hand ended, "" while it goes on.
    banner: str = ""
    #: Whether who looks won (+), lost (-) or neither.
    won: float = 0.0

    def html(self) -> str:
        """The felt, drawn."""
        opponent, me = self.players
        slots = [f'<span class="slot">{card(number)}</span>' for number in self.board]
        slots += ['<span class="slot"></span>'] * (5 - len(self.board))
        total = self.pot + opponent.bet + me.bet
        pot = ""
        if total:
            pot = (
                f'<div class="pot" role="status">{chips(self.pot)}<span class="num"><b>Pot '
                f"{total:,}</b> <small>{big_blinds(total, self.big_blind)}</small></span></div>"
            )
        banner = ""
        if self.banner:
            mood = "won" if self.won > 0 else "lost" if self.won < 0 else "even"
            banner = f'<div class="banner {mood}" role="status">{escape(self.banner)}</div>'
        return (
            '<div class="felt"><div class="cloth"></div>'
            f"{self._seat(opponent, 'opponent')}{self._bet(opponent, 'opponent')}"
            f'<div class="middle"><div class="board">{"".join(slots)}</div>{banner or pot}</div>'
            f"{self._bet(me, 'me')}{self._seat(me, 'me')}</div>"
        )

    def _seat(self, player: Player, which: str) -> str:
        stack = ""
        if player.stack is not None:
            stack = (
                f'<span class="stack num">{player.stack:,} '
                f"<small>{big_blinds(player.stack, self.big_blind)}</small></span>"
            )
        said = player.hand or player.said
        marks = " ".join(
            mark for mark, holds in (("to-act", player.to_act), ("folded", player.folded)) if holds
        )
        bar = '<span class="thinking" aria-label="thinking"><i></i></span>' * player.thinking
        button = '<span class="dealer" title="dealer button">D</span>' * player.button
        return (
            f'<div class="seat {which} {marks}"><div class="hole">{cards(player.cards)}</div>'
            f'<div class="plate">{button}<span class="who">{escape(player.name)}</span>{stack}'
            f'<span class="said">{escape(said) or "&nbsp;"}</span>{bar}</div></div>'
        )

    @staticmethod
    def _bet(player: Player, which: str) -> str:
        if not player.bet:
            return f'<div class="bet {which}"></div>'
        return (
            f'<div class="bet {which}">{chips(player.bet)}<span class="num">{player.bet:,}'
            "</span></div>"
        )
