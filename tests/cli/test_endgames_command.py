"""`equipoise endgames`."""

import json

import pytest
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.errors import EquipoiseError


def run(*words):
    result = CliRunner().invoke(app, ["endgames", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_the_figures_as_json():
    told = json.loads(run("call", "--roots", 3, "--seed", 1, "--json"))
    assert told.pop("seconds") > 0
    assert told == {"agent": "call", "street": "river", "roots": 3, "exploitability_pct_pot": 0,
                    "ci95_pct_pot": 0, "off_tree_pct_pot": None}  # fmt: skip
    more = json.loads(
        run("call", "--roots", 3, "--seed", 1, "--responder-sizes", "100,a", "--json")
    )
    assert more["off_tree_pct_pot"] > 100


def test_the_table_says_both_figures():
    text = run("call", "--roots", 2, "--seed", 1, "--responder-sizes", "a", "--street", "river")
    assert "beaten for 0.00 ± 0.00 % of the pot" in text
    assert "and a of a responder" in text


def test_an_unknown_street_is_refused():
    with pytest.raises(EquipoiseError, match="choose turn or river"):
        run("call", "--street", "flop")
