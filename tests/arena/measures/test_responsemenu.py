"""Menus of a local best response: what they allow, and how they are written."""

import numpy as np
import pytest

from equipoise.arena.measures.responsemenu import ResponseMenu
from equipoise.errors import EquipoiseError
from equipoise.games.rules import CALL, FOLD, LIMIT_HOLDEM, NOLIMIT_HOLDEM, State


def amounts(menu: str, state: State) -> list[int]:
    actions = ResponseMenu.parse(menu, state.rules.rounds).actions(state)
    return [action.amount for action in actions if action.amount]


def test_what_a_menu_allows():
    start = State.start(NOLIMIT_HOLDEM)
    assert amounts("fc", start) == []
    sizes = amounts("56", start)
    assert (len(sizes), sizes[0], sizes[-1]) == (56, 200, 20000)
    assert np.ptp(np.diff(np.log(sizes))) < 0.01
    assert amounts("56", State.start(LIMIT_HOLDEM)) == [20]
    flop = State.from_betting_text(NOLIMIT_HOLDEM, "r300c/r600")
    # A pot of 900 and 300 to call: the pot is 1,200 after the call.
    assert amounts("fcpa", flop) == [1800, 20000]
    assert amounts("cp", flop) == [1800]
    assert amounts("ca", flop) == [20000]
    assert all(flop.can(action) for action in ResponseMenu.parse("56", 4).actions(flop))


def test_folds_are_of_the_menu_and_of_the_rules():
    faced, free = (State.from_betting_text(NOLIMIT_HOLDEM, text) for text in ("r300", "c"))
    for menu, folds in (("c", False), ("fc", True), ("cpa", False), ("56", True)):
        parsed = ResponseMenu.parse(menu, 4)
        assert (FOLD in parsed.actions(faced)) == folds
        assert FOLD not in parsed.actions(free)
        assert CALL in parsed.actions(free)


def test_every_street_has_its_own():
    menu = ResponseMenu.parse("c,56,fc,fcpa", 4)
    texts = ("", "cc/", "cc/cc/", "cc/cc/cc/")
    counts = [len(menu.actions(State.from_betting_text(NOLIMIT_HOLDEM, text))) for text in texts]
    assert counts == [1, 57, 1, 3]


def test_a_menu_has_one_name():
    assert str(ResponseMenu.parse("apcf", 4)) == "fcpa"
    assert str(ResponseMenu.parse("fc,cf,fc,fc", 4)) == "fc"
    assert ResponseMenu.parse("fc", 2) == ResponseMenu.parse("fc,fc", 2)


@pytest.mark.parametrize("text", ["", "f", "fp", "fcc", "fcx", "57", "fc,,fc,fc", "FC", "fc, fc"])
def test_what_is_no_menu_is_refused(text):
    with pytest.raises(EquipoiseError, match=r"no menu .*: write 56, or c with any of f, p and a"):
        ResponseMenu.parse(text, 4)


def test_menus_for_another_number_of_streets_are_refused():
    with pytest.raises(EquipoiseError, match="is for 2 streets: this game has 4"):
        ResponseMenu.parse("fc,fcpa", 4)
    with pytest.raises(EquipoiseError, match="is for 10000 streets") as told:
        ResponseMenu.parse("c," * 9999 + "c", 4)
    assert len(str(told.value)) < 300
