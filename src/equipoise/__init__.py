"""Equipoise: a heads-up Texas hold'em workbench.

The public names below are loaded when first used, so that `import equipoise` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from equipoise.cards.card import Deck as Deck
    from equipoise.cards.card import card_text as card_text
    from equipoise.cards.card import cards_text as cards_text
    from equipoise.cards.card import parse_card as parse_card
    from equipoise.cards.card import parse_cards as parse_cards
    from equipoise.errors import EquipoiseError as EquipoiseError

#: Public name -> module that defines it.
_HOME = {
    "Deck": "equipoise.cards.card",
    "EquipoiseError": "equipoise.errors",
    "card_text": "equipoise.cards.card",
    "cards_text": "equipoise.cards.card",
    "parse_card": "equipoise.cards.card",
    "parse_cards": "equipoise.cards.card",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'equipoise' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
