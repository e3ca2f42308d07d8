"""Files of settings: every way that text can be wrong is one sentence of one kind."""

from __future__ import annotations

import codecs
import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.errors import EquipoiseError, GameError
from equipoise.settings import MOST_BYTES, brief, parse_toml, read_text, read_toml

WRONG = {
    "nested lists": "a = " + "[" * 100_000,
    "nested tables": "a = " + "{a=" * 100_000,
    "deep but closed": "a = " + "[" * 60 + "]" * 60,
    "dotted key": ".".join(["a"] * 400_000) + " = 1",
    "dotted table": "[" + ".".join(["a"] * 40) + "]",
    "quoted dotted key": ".".join([r'"\""'] * 100_000) + " = 1",
    "inline dotted key": "a = {" + ".".join(["a"] * 100_000) + " = 1}",
    "long number": "a = " + "1" * 5000,
    "long hexadecimal": "a = [0x" + "f" * 5000 + "]",
    "not a number": "a = { b = [1.0, nan] }",
    "no value": "a =",
    "control character": "a = 'x\x01'",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_no_setting_can_mean_is_one_short_sentence(text):
    with pytest.raises(GameError) as caught:
        parse_toml(text, GameError)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_byte_order_mark_and_any_line_ends_are_fine(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(codecs.BOM_UTF8 + b"a = 1\r\nb = 'x'\r")
    assert read_toml(path) == {"a": 1, "b": "x"}
    assert parse_toml("\ufeffa = 1") == {"a": 1}


def test_as_much_as_people_write_is_read():
    keys = ".".join(["a"] * 30)
    assert parse_toml(f"{keys} = 9223372036854775807")
    weights = ",".join(f"AhKd:0.{n}" for n in range(5000))
    assert parse_toml(f"range = '{weights}'") == {"range": weights}


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (b"a = 1\xff", "UTF-8"),
        ("a = 1".encode("utf-16"), "UTF-8"),
        (b"a = 1 # \x00", "NUL"),
        (b"#" * (MOST_BYTES + 1), "over 1 MB"),
    ],
)
def test_what_is_not_text_is_told_with_its_name(tmp_path, found, told):
    path = tmp_path / "a.toml"
    path.write_bytes(found)
    with pytest.raises(GameError, match=told) as caught:
        read_toml(path, GameError)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1


def test_places_that_cannot_be_read(tmp_path):
    for path in (tmp_path, tmp_path / "none.toml", Path("a\0b"), Path("x" * 5000)):
        with pytest.raises(EquipoiseError):
            read_text(path)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="a.=[]{}\"'\\ \n#,0x_1e+-nif", max_size=200))
def test_any_text_is_settings_or_a_typed_error(text):
    with contextlib.suppress(GameError):
        assert isinstance(parse_toml(text, GameError), dict)


def test_values_are_quoted_briefly():
    assert brief("x" * 100) == "x" * 57 + "..."
