"""`equipoise eval`: what a hand is."""

from __future__ import annotations

from typing import Annotated

import typer

from equipoise.cli.output import Json, emit


def eval_command(
    cards: Annotated[list[str], typer.Argument(help="Five to seven cards, spaces free.")],
    json: Json = False,
) -> None:
    """Name and rank a hand of five, six or seven cards.

    Example: equipoise eval AsAhAdKsKh
    """
    from equipoise.cards.card import cards_text, parse_cards
    from equipoise.cards.evaluator import evaluate
    from equipoise.cards.handnames import category, hand_name

    hand = parse_cards(" ".join(cards))
    value = evaluate(hand)
    data = {
        "cards": cards_text(hand),
        "name": hand_name(hand),
        "category": category(value),
        "value": value,
        "classes": 7462,
    }
    emit(data, json, lambda: f"{data['cards']}  {data['name']}  (class {value:,} of 7,462)")
