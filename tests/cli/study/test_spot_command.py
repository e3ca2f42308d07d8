"""`equipoise spot`: which hand and which preset, and what is said where there is none."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError

LOG = "STATE:3:cc/cr234c/cc/cc:Qh4s|8c6s/2dQdKd/7s/8s:234|-234:call|quick\n"


@pytest.mark.parametrize(
    ("log", "words", "sentence"),
    [
        (LOG, ["--number", "99"], "no hand of number 99: numbers are 3 to 3"),
        ("STATE:0:zz\n", [], "that can be read: see `equipoise history`"),
        (LOG, ["--preset", "limped"], "one of them"),
    ],
)
def test_a_hand_that_is_not_there_is_refused(tmp_path, log, words, sentence):
    file = tmp_path / "hands.log"
    file.write_text(log)
    with pytest.raises(EquipoiseError, match=sentence):
        CliRunner().invoke(app, ["spot", "--from-hand", str(file), *words], catch_exceptions=False)


def test_a_misspelt_preset_is_guessed():
    with pytest.raises(EquipoiseError, match="did you mean 'single-raised'"):
        CliRunner().invoke(app, ["spot", "--preset", "single-rased"], catch_exceptions=False)
