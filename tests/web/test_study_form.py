"""What stands in the boxes of the study page, and what its solves do with locks."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui")

from equipoise.cards.namedranges import range_names
from equipoise.cards.range import Range
from equipoise.errors import EquipoiseError
from equipoise.games.spot import Spot
from equipoise.games.spotmenu import default_menu
from equipoise.run import Stop
from equipoise.solve.spots.solution import Solution, solve_spot
from equipoise.solve.study.presets import preset
from equipoise.web.store import Store
from equipoise.web.study.form import _boxes, _hint
from equipoise.web.study.ownranges import RANGE, OwnRanges
from equipoise.web.study.solving import packed, solution_file, solve_work, unpacked

RIVER = 'board = "Td9d6hQc2s"\npot = 100\nstack = 200\n[ranges]\noop = "22+"\nip = "TT+,KQs"\n'


def with_menu(spot, **streets):
    told = spot.to_dict()
    return Spot.from_dict({**told, "menu": {**told["menu"], **streets}})


def test_boxes_say_what_is_not_the_default():
    spot = preset("single-raised")
    assert set(_boxes(spot).values()) == {""}
    assert _boxes(preset("limped"))["turn", "bets"] == "75%"
    one = {"bets": "50%", "raises": "", "max_raises": 2}
    boxes = _boxes(with_menu(spot, turn=one))
    assert (boxes["turn", "bets"], boxes["turn", "raises"]) == ("50%", "none")
    assert boxes["river", "bets"] == ""
    # Players that differ otherwise than by default, and caps, are said as text.
    assert _boxes(with_menu(spot, turn={"oop": one, "ip": {**one, "bets": "a"}})) is None
    assert _boxes(with_menu(spot, turn={**one, "max_raises": 3})) is None


def test_an_empty_box_says_what_it_stands_for():
    turn, river = (default_menu(3).street(number) for number in (1, 2))
    assert _hint(turn, "bets") == "oop 75%; ip 33%,75%"
    assert _hint(river, "bets") == "oop 33%,75%; ip 75%"
    assert _hint(river, "raises") == "60%"


def test_ranges_are_kept_found_and_forgotten_by_their_owner(tmp_path):
    store = Store(tmp_path / "store")
    own = OwnRanges(store, "ann")
    assert own.keep("  my  opens ", Range.parse("QQ+,A5s:0.5")) == "my opens"
    assert str(own.find("my opens")) == "QQ+,A5s:0.5"
    assert own.find("my open") is None
    assert OwnRanges(store, "bob").find("my opens") is None
    shipped = next(iter(range_names()))
    assert own.find(shipped) == Range.parse(shipped)
    for name, cure in (("  ", "give the range a name"), (shipped, "give yours another name")):
        with pytest.raises(EquipoiseError, match=cure):
            own.keep(name, Range.parse("AA"))
    own.drop("my opens")
    assert own.find("my opens") is None
    assert store.kept("ann", RANGE) == {}
    store.close()


def test_a_link_holds_a_spot():
    assert Spot.from_toml(unpacked(packed(RIVER))) == Spot.from_toml(RIVER)


@pytest.mark.parametrize("storage", ["32-bit", "16-bit"])
def test_locks_begin_from_what_is_solved_or_solve_it_first(tmp_path, monkeypatch, storage):
    monkeypatch.setenv("EQUIPOISE_DATA", str(tmp_path))
    spot, base = Spot.from_toml(RIVER), tmp_path / "base.solution"
    solve_spot(spot, 5, storage=storage).save(base)
    locks = [("", {"check": 0.25, "bet 33": 0.75, "bet 75": 0.0}, "", True)]
    told = solve_work(lambda event: None, Stop(), RIVER, 5.0, locks, str(base))
    locked = Solution.look(solution_file(spot, locks))
    assert told["file"] == str(solution_file(spot, locks))
    assert locked.at().frequencies() == pytest.approx([0.25, 0.75, 0.0], abs=1e-3)
    # The hands that check are not a quarter of every hand: they were chosen.
    play = locked.at().strategy()[0]
    assert play.min() < 0.1
    assert play.max() > 0.9
