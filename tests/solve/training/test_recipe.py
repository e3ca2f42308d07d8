"""Recipes: those that ship are read and written back; what is wrong is told in a sentence."""

from __future__ import annotations

import pytest
from tinyrecipe import TINY

from equipoise.abstraction import methods
from equipoise.errors import EquipoiseError, GameError, RecipeError
from equipoise.games.betting import measure
from equipoise.games.rules import ONE_BET_HOLDEM
from equipoise.settings import OneOf, Within
from equipoise.solve.registry import TRAINERS
from equipoise.solve.training.model import TrainingEstimate
from equipoise.solve.training.recipe import Recipe, names


@pytest.mark.parametrize("name", names())
def test_recipes_that_ship_round_trip(name: str) -> None:
    recipe = Recipe.shipped(name)
    again = Recipe.from_toml(recipe.to_toml())
    assert again == recipe
    assert again.fingerprint == recipe.fingerprint
    assert recipe.name == name
    assert recipe.about


def test_the_recipes_of_the_papers() -> None:
    counts = {name: methods.bucket_counts(Recipe.shipped(name).abstraction) for name in names()}
    assert counts["tartanian5"] == (8, 96, 384, 1536)
    assert counts["tartanian4"] == (12, 300, 1800, 10800)
    assert counts["inot"] == (169, 150, 100, 75)
    assert counts["inot-negative"] == (169, 300, 200, 75)
    large = Recipe.shipped("tartanian5")
    assert measure(large.rules, large.menu).total >= 60_000
    small = Recipe.shipped("tartanian5-m")
    assert measure(small.rules, small.menu).total == 15_949
    assert large.rules.stacks == (20_000, 20_000)
    assert not Recipe.shipped("sampled").model.judge
    assert Recipe.shipped("regret").rules == ONE_BET_HOLDEM


def test_limits_and_names_do_not_change_what_is_trained() -> None:
    recipe = Recipe.from_toml(TINY)
    assert recipe.limited(minutes=3).fingerprint == recipe.fingerprint
    assert recipe.seeded(3).fingerprint != recipe.fingerprint
    assert recipe.limited() is recipe


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "tiny"', "", "name: a recipe needs it"),
        ('name = "tiny"', 'name = "a/b"', "without / in it"),
        ("[limit]", "[limits]", "did you mean 'limit'"),
        ("iterations = 10", "iteratons = 10", "did you mean 'limit.iterations'"),
        ("iterations = 10", "iterations = 0", "limit.iterations = 0: give more than 0"),
        ("iterations = 10", 'iterations = "ten"', "write a whole number"),
        ("iterations = 10", "checkpoint_minutes = 1", "give minutes, iterations or target_bb"),
        ("boards = 150", "bords = 150", "did you mean 'model.boards'"),
        ("boards = 150", 'boards = "some"', 'or "all"'),
        ("boards = 150", 'kind = "jiont"', "did you mean 'joint'"),
        ("boards = 150", 'kind = "cards"', 'go with the solver "cards"'),
        ("boards = 150", 'kind = "independent"', "remembers past buckets"),
        ("boards = 150", 'classes = "flop"', "classes of boards go with"),
        ("boards = 150", "judge = -1", "model.judge"),
        ('name = "dcfr"', 'name = "dcrf"', "did you mean 'dcfr'"),
        ('name = "dcfr"', 'name = "dcfr"\nalfa = 1.5', "did you mean 'solver.alpha'"),
        ('name = "dcfr"', "alpha = 1.5", "solver.name: choose from"),
        ('name = "dcfr"', 'name = "fp"\nstart = -3', "solver.start = -3: write a number from 0"),
        (
            'name = "dcfr"',
            'name = "dcfr"\ngamma = nan',
            "solver.gamma = nan: write a number",
        ),
        (
            'name = "dcfr"',
            'name = "dcfr"\nalpha = inf',
            "solver.alpha = inf: write a number from 0",
        ),
        ('name = "dcfr"', 'name = "dcfr"\nalpha = 1e400', "solver.alpha = inf: write"),
        ('name = "dcfr"', 'name = "dcfr"\nalpha = -1', "solver.alpha = -1: write"),
        ('name = "dcfr"', 'name = "dcfr"\nbeta = -inf', "solver.beta = -inf: write"),
        (
            'name = "dcfr"',
            f'name = "dcfr"\nbeta_ramp = 0x{"f" * 9000}',
            "beta_ramp is a number too long",
        ),
        ('name = "dcfr"', 'name = "dcfr"\nwarm_up = -1', "solver.warm_up = -1: write"),
        ('name = "dcfr"', 'name = "dcfr"\nprecision = "half"', 'write "float32" or "float64"'),
        ('name = "dcfr"', 'name = "dcfr"\ncompressed = true\nprecision = "float64"', "no float64"),
        ('name = "dcfr"', 'name = "pcfr+"\ncompressed = true', "no prediction, leave it out"),
        ('name = "dcfr"', 'name = "egt"\nprox = "entropie"', 'write "entropy" or "euclidean"'),
        ("iterations = 10", "minutes = nan", "limit.minutes = nan: write a number"),
        ("iterations = 10", "minutes = 1e300", "limit.minutes = 1e+300: give more than 0"),
        ("iterations = 10", "target_bb = inf", "limit.target_bb = inf: write a number"),
        ("boards = 150", "boards = 1000000000000", 'at most 100,000,000, or "all"'),
        ("boards = 150", f"seed = {2**70}", "seed is a number too long"),
        ("stack = 1000", f"stack = {10**12}", "write a whole number from 1 to 1,000,000,000"),
        ("stack = 1000", "stack = 1000\nbig = 0", "rules.big = 0: write"),
        ("stack = 1000", "stack = 100", "rules.stack = 100: give more than the big blind, 100"),
        ("stack = 1000", "small = 300", "rules.small = 300: give at most the big blind, 100"),
        ('game = "nolimit"\nstack = 1000', 'game = "limit"\ncap = 20', "from 1 to 10"),
        ("count = 3", "count = 1", "abstraction.count = 1: choose from 2 to 100"),
        ('name = "tiny"', 'name = "a\\u0000b"', "a name is also a folder's"),
        ('name = "tiny"', f'name = "{"x" * 300}"', "at most 100 characters"),
        ('name = "tiny"', 'name = "tiny"\nseed = -1', "seed = -1: write a whole number of 0"),
        ('method = "equity"', 'method = "equty"', "did you mean 'equity'"),
        ('method = "equity"', "", "abstraction.method: choose from"),
        ("count = 3", 'count = "3"', "abstraction.count = '3': write a whole number"),
        ("count = 3", "remembers = false", "forgets past buckets"),
        ("count = 3", "count = 16", "65,536 sequences of buckets, choose at most 15"),
        ("count = 3", 'division = "kwantile"', "division = 'kwantile': choose"),
        (
            '"equity"\ncount = 3',
            '"histograms"\nmetric = "l3"',
            "abstraction: metric = 'l3': choose",
        ),
        (
            '"equity"\ncount = 3',
            '"potential"\nflop = {equity = [nan]}',
            "flop.equity = nan: write",
        ),
        ('"equity"\ncount = 3', '"potential"\nflop = {equity = [0.5, 0.4]}', "give them ascending"),
        (
            '"equity"\ncount = 3',
            '"potential-aware"\nbranching = [8, 4, 3, 3]\nriver_cells = 1',
            "abstraction: river_cells = 1: choose from 2 to 100",
        ),
        ('"equity"\ncount = 3', '"potential-aware"\ntotals = [8, 4, 3, 3]', "that do not fall"),
        ('game = "nolimit"', 'game = "nolimt"', "did you mean 'nolimit'"),
        ('game = "nolimit"', 'game = "limit"', "limit is played without stacks"),
        ('game = "nolimit"', 'game = "nolimit"\nstak = 3', "did you mean 'rules.stack'"),
        ('bets = "100%,a"', 'bts = "100%,a"', "did you mean 'bets'"),
        ('bets = "100%,a"', 'bets = "100"', "a size needs a unit"),
        ("[rules]", "[rules", "not TOML"),
    ],
)
def test_what_is_wrong_is_told(old: str, new: str, told: str) -> None:
    assert old in TINY
    with pytest.raises((RecipeError, GameError)) as caught:
        Recipe.from_toml(TINY.replace(old, new, 1))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value) or "TOML" in str(caught.value)


def test_the_one_bet_game_has_blinds_and_nothing_else_to_set() -> None:
    told = Recipe.shipped("regret").to_dict()
    rules = Recipe.from_dict(told | {"rules": {"game": "one-bet", "small": 1, "big": 2}}).rules
    assert rules.raise_sizes == (2, 2, 2, 2)
    for key in ("stack", "cap"):
        with pytest.raises(RecipeError, match=f"rules.{key}: one-bet limit has"):
            Recipe.from_dict(told | {"rules": {"game": "one-bet", key: 3}})
    with pytest.raises(RecipeError, match="did you mean 'one-bet'"):
        Recipe.from_dict(told | {"rules": {"game": "onebet"}})


def test_settings_of_solvers_are_those_of_their_signatures() -> None:
    told = Recipe.shipped("regret").to_dict()
    for name, kind in TRAINERS.items():
        known = kind.kinds()
        assert not {"game", "threads", "seed", "lookup", "discounting"} & set(known), name
    assert TRAINERS["cards"].kinds()["prune_share"] == Within("number", 0, 0.9999)
    assert TRAINERS["egt"].kinds()["prox"] == OneOf(("entropy", "euclidean"))
    schedule = {"gamma": 3, "alpha": 1.5, "warm_up": 4, "precision": "float32"}
    assert Recipe.from_dict(told | {"solver": {"name": "cfr+", **schedule}}).solver_settings
    for wrong, cure in (
        ({"name": "cfr+", "gama": 3}, "did you mean 'solver.gamma'"),
        ({"name": "cfr+", "gamma": 101}, "write a number from 0 to 100"),
        ({"name": "fp", "gamma": 1}, "unknown key 'solver.gamma'"),
        ({"name": "egt", "steps": "small"}, '"adaptive" or "theoretical"'),
        ({"name": "board-sampling", "precision": "float64"}, 'write "float32"'),
    ):
        with pytest.raises(RecipeError, match=cure):
            Recipe.from_dict(told | {"solver": wrong})


def test_files_that_are_not_there_or_not_text(tmp_path) -> None:
    with pytest.raises(RecipeError, match="cannot be read"):
        Recipe.load(tmp_path / "none.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecipeError, match="not a text file"):
        Recipe.load(tmp_path / "odd.toml")
    (tmp_path / "bad.toml").write_text(TINY.replace("boards", "bords"))
    with pytest.raises(RecipeError, match=r"bad\.toml: unknown key 'model\.bords'"):
        Recipe.load(tmp_path / "bad.toml")
    with pytest.raises(RecipeError, match="did you mean 'quick'"):
        Recipe.load("quik")
    (tmp_path / "deep.toml").write_text(f"name = {'[' * 3000}")
    with pytest.raises(RecipeError, match=r"deep\.toml: this is not TOML"):
        Recipe.load(tmp_path / "deep.toml")
    (tmp_path / "long.toml").write_text(TINY.replace("150", "1" * 5000))
    with pytest.raises(RecipeError, match=r"long\.toml: .*a number is too long"):
        Recipe.load(tmp_path / "long.toml")


def test_a_byte_order_mark_is_no_part_of_a_recipe(tmp_path) -> None:
    (tmp_path / "marked.toml").write_text(TINY, encoding="utf-8-sig")
    assert Recipe.load(tmp_path / "marked.toml") == Recipe.from_toml(TINY)


def test_what_does_not_fit_is_refused(tmp_path) -> None:
    estimate = TrainingEstimate.of(Recipe.from_toml(TINY))
    estimate.check(tmp_path)
    assert str(estimate).startswith(f"{estimate.nodes:,} betting nodes, 3-9-27-81 buckets")
    huge = TrainingEstimate.of(
        Recipe.from_toml(
            TINY.replace('"100%,a"\nmax_raises = 2', '"50%,100%,a"').replace("stack = 1000", "stack = 20000")
            .replace('method = "equity"\ncount = 3',
                     'method = "potential-aware"\nbranching = [160, 10, 5, 8]')
        )
    )  # fmt: skip
    with pytest.raises(EquipoiseError, match="use fewer buckets or bet sizes"):
        huge.check(tmp_path)
