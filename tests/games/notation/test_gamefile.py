import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.errors import GameError
from equipoise.games.notation import gamefile
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, UNLIMITED, Rules, nolimit
from equipoise.games.spot import postflop

# The competition's own layout: spacing, comments and the order of keys are free.
REVERSE_BLINDS = """\
# two-player no-limit, big blind posted by position 1
GAMEDEF
NoLimit
numplayers = 2
NUMROUNDS = 4      # a comment after a value
stack =   20000   20000
blind = 100 50
firstPlayer = 2 1 1 1
numBoardCards = 0 3 1 1
numHoleCards = 2
numRanks = 13
numSuits = 4

END GAMEDEF
"""

LEDUC = """\
GAMEDEF
limit
numPlayers = 2
numRounds = 2
blind = 1 1
raiseSize = 2 4
maxRaises = 2 2
numSuits = 2
numRanks = 3
numHoleCards = 1
numBoardCards = 0 1
END GAMEDEF
"""


def test_reads_the_competition_game():
    rules = gamefile.parse(REVERSE_BLINDS)
    assert not rules.limit
    assert rules.blinds == (100, 50)
    assert rules.stacks == (20000, 20000)
    assert rules.first == (1, 0, 0, 0)
    assert rules.max_raises == (None,) * 4
    assert rules.board_cards == (0, 3, 1, 1)


def test_missing_settings_take_the_dealers_defaults():
    rules = gamefile.parse(LEDUC)
    assert rules.limit
    assert rules.first == (0, 0)
    assert rules.stacks == (UNLIMITED, UNLIMITED)
    assert rules.max_raises == (2, 2)


@pytest.mark.parametrize(
    "rules", [LIMIT_HOLDEM, NOLIMIT_HOLDEM, nolimit(20, 1, 2), postflop(101, 200, 2)]
)
def test_round_trip(rules):
    assert gamefile.parse(gamefile.write(rules)) == rules


@given(st.data())
def test_round_trip_of_any_game(data):
    rounds = data.draw(st.integers(1, 4))
    limit = data.draw(st.booleans())
    chips = st.integers(1, 10**6)

    def row(values):
        return data.draw(st.tuples(*[values] * rounds))

    rules = Rules(
        name=data.draw(st.sampled_from(["a game", "limit hold'em 5-10"])),
        limit=limit,
        blinds=data.draw(st.tuples(st.integers(0, 100), st.integers(0, 100))),
        first=row(st.integers(0, 1)),
        stacks=data.draw(st.tuples(chips, chips)),
        raise_sizes=row(chips) if limit else (),
        max_raises=row(st.none() | st.integers(0, 20)),
        board_cards=row(st.integers(0, 3)),
        dead=data.draw(st.integers(0, 100)),
        min_bet=data.draw(st.none() | chips),
    )
    assert gamefile.parse(gamefile.write(rules)) == rules


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("GAMEDEF\nlimit", "limit", r"line 1: 'limit' comes before GAMEDEF"),
        ("END GAMEDEF\n", "", "last line must be END GAMEDEF"),
        ("limit\n", "", "exactly one line that says limit or nolimit"),
        ("limit\n", "limit\nnolimit\n", "exactly one line"),
        ("limit\n", "limit = 1\n", "line 2: limit stands alone"),
        ("numPlayers = 2", "numPlayers = 3", "line 3: numPlayers = 3: only two-player"),
        ("numPlayers = 2\n", "", "no numPlayers: add a line"),
        ("blind = 1 1\n", "", "no blind: add a line"),
        ("raiseSize = 2 4\n", "", "no raiseSize: add a line"),
        ("raiseSize = 2 4", "raiseSize = 2", "line 6: raiseSize has 1 values: give 2 numbers"),
        ("raiseSize = 2 4", "raiseSize = 2 x", "line 6: .*'x' is not a whole number"),
        ("raiseSize = 2 4", "raiseSise = 2 4", "line 6: .*did you mean 'raiseSize'"),
        ("raiseSize = 2 4", "bananas = 2 4", "line 6: unknown setting 'bananas': use one of"),
        (
            "numRanks = 3",
            "numRanks = 3\nnumRanks = 4",
            "line 10: numRanks is already set on line 9",
        ),
        ("numRanks = 3", "numRanks = 1", "deals 3 cards from a deck of 2"),
        ("maxRaises = 2 2", "firstPlayer = 0 1", "line 7: firstPlayer counts players from 1"),
        # Refused before anything of that length is made.
        ("numRounds = 2", "numRounds = 300000000", "line 4: numRounds = 300000000: .*1 to 16"),
        ("numRounds = 2", "numRounds = 0", "line 4: numRounds = 0"),
        ("numRounds = 2", "numRounds = " + "9" * 5000, "line 4: .*too large"),
        ("blind = 1 1", "blind = 1 " + "9" * 5000, "line 5: .*is not a whole number"),
        ("blind = 1 1", "blind = 1 " + "9" * 17, "at most 1,000,000,000,000,000 chips"),
        ("blind = 1 1", "blind = 1 ²", "line 5: .*'²' is not a whole number"),
        ("blind = 1 1", "blind = 1 ٣", "line 5: .*is not a whole number"),
        ("limit\n", "limit\n# dead = x\n", "dead = x"),
        ("limit\n", "limit\n" + "#" * 100_000 + "\n", "more than 65,536 characters"),
        ("END GAMEDEF\n", "END GAMEDEF\nlimit", "line 13: 'limit' comes after END GAMEDEF"),
    ],
)
def test_bad_files_name_the_cure(old, new, message):
    assert old in LEDUC
    with pytest.raises(GameError, match=message) as told:
        gamefile.parse(LEDUC.replace(old, new))
    assert len(str(told.value)) < 300


def test_a_name_is_written_as_it_is_read():
    text = gamefile.write(NOLIMIT_HOLDEM).replace(NOLIMIT_HOLDEM.name, "two  spaces\tand a tab ")
    rules = gamefile.parse(text)
    assert rules.name == "two spaces and a tab"
    assert gamefile.parse(gamefile.write(rules)) == rules


def test_an_empty_name_is_no_name():
    rules = gamefile.parse(
        gamefile.write(LIMIT_HOLDEM).replace("# name = limit hold'em 5-10", "# name =")
    )
    assert rules.name == "limit game, blinds 5-10"
    assert gamefile.parse(gamefile.write(rules)) == rules


def test_load_and_save(tmp_path):
    path = tmp_path / "holdem.game"
    gamefile.save(LIMIT_HOLDEM, path)
    assert gamefile.load(path) == LIMIT_HOLDEM
    path.write_text("nonsense")
    with pytest.raises(GameError, match=r"holdem\.game: line 1"):
        gamefile.load(path)
    with pytest.raises(GameError, match="cannot be read"):
        gamefile.load(tmp_path / "absent.game")


def test_a_file_with_a_mark_of_its_byte_order_is_read(tmp_path):
    path = tmp_path / "windows.game"
    path.write_text(LEDUC, encoding="utf-8-sig")
    assert gamefile.load(path) == gamefile.parse(LEDUC)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, ".", "/dev/zero"])
def test_what_is_no_game_file_is_one_sentence(name):
    with pytest.raises(GameError):
        gamefile.load(name)
