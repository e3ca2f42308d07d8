"""ACPC game files: a betting game as the competition's dealer reads it.

A file is `GAMEDEF`, then one line a setting in any order, then `END GAMEDEF`; `#` starts a comment
and keys ignore case:

    GAMEDEF
    nolimit
    numPlayers = 2
    numRounds = 4
    stack = 20000 20000
    blind = 100 50
    firstPlayer = 2 1 1 1
    numSuits = 4
    numRanks = 13
    numHoleCards = 2
    numBoardCards = 0 3 1 1
    END GAMEDEF

Players are counted from 1 here and from 0 everywhere else. As in the dealer, a missing `stack` is
unlimited, a missing `maxRaises` is no cap and a missing `firstPlayer` is player 1 in every round; a
value list shorter than the number of rounds is an error. The two settings of postflop spots that
the format lacks travel as comments which other readers skip: `# dead = 100`, `# minBet = 1`; so
does the name, `# name = no-limit hold'em`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from equipoise.errors import GameError
from equipoise.files import written
from equipoise.games.rules import MOST_ROUNDS, UNLIMITED, Rules
from equipoise.numerals import read_whole
from equipoise.settings import brief, did_you_mean, read_text

#: The dealer's own stand-in for "no cap".
_NO_CAP = 255
#: The longest text that is read: a game file is some lines.
_LONGEST = 1 << 16

_KEYS = {
    key.lower(): key
    for key in (
        "limit",
        "nolimit",
        "numPlayers",
        "numRounds",
        "stack",
        "blind",
        "raiseSize",
        "firstPlayer",
        "maxRaises",
        "numSuits",
        "numRanks",
        "numHoleCards",
        "numBoardCards",
    )
}
_REQUIRED = (
    "numPlayers",
    "numRounds",
    "blind",
    "numSuits",
    "numRanks",
    "numHoleCards",
    "numBoardCards",
)
_COMMENTED = {"name": "name", "dead": "dead", "minbet": "minBet"}


class _Settings:
    """The settings of one file, with the line each stands on."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[int, str]] = {}

    def add(self, key: str, value: str, line: int) -> None:
        if key in self.values:
            first = self.values[key][0]
            raise GameError(f"line {line}: {key} is already set on line {first}: drop one of them")
        self.values[key] = line, value

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def numbers(self, key: str, count: int) -> tuple[int, ...]:
        line, text = self.values[key]
        words = text.split()
        numbers = []
        for word in words:
            number = read_whole(word)
            if number is None:
                raise GameError(
                    f"line {line}: {key} = {brief(text)}: {brief(word)!r} is not a whole number, "
                    "or is too large for chips and cards"
                )
            numbers.append(number)
        if len(words) != count:
            plural = "s" * (count != 1)
            raise GameError(
                f"line {line}: {key} has {len(words)} values: give {count} number{plural}"
            )
        return tuple(numbers)

    def number(self, key: str) -> int:
        return self.numbers(key, 1)[0]


def parse(text: str) -> Rules:
    """Read a game file's text.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> parse(write(NOLIMIT_HOLDEM)) == NOLIMIT_HOLDEM
    True
    >>> parse("GAMEDEF\\nnolimit\\nnumplayer = 2\\nEND GAMEDEF")
    Traceback (most recent call last):
        ...
    equipoise.errors.GameError: line 3: unknown setting 'numplayer': did you mean 'numPlayers'?
    """
    if len(text) > _LONGEST:
        raise GameError(f"this is not a game file: it has more than {_LONGEST:,} characters")
    settings = _read(text)
    if ("limit" in settings) == ("nolimit" in settings):
        raise GameError("the game file needs exactly one line that says limit or nolimit")
    limit = "limit" in settings
    for key in (*_REQUIRED, "raiseSize") if limit else _REQUIRED:
        if key not in settings:
            raise GameError(f"the game file has no {key}: add a line `{key} = ...`")
    if (players := settings.number("numPlayers")) != 2:
        line = settings.values["numPlayers"][0]
        raise GameError(
            f"line {line}: numPlayers = {players}: only two-player games are played here"
        )

    rounds = settings.number("numRounds")
    if not 1 <= rounds <= MOST_ROUNDS:
        line = settings.values["numRounds"][0]
        raise GameError(f"line {line}: numRounds = {rounds}: a game has 1 to {MOST_ROUNDS} rounds")
    blinds = settings.numbers("blind", 2)
    stacks = settings.numbers("stack", 2) if "stack" in settings else (UNLIMITED, UNLIMITED)
    first = (1,) * rounds
    if "firstPlayer" in settings:
        first = settings.numbers("firstPlayer", rounds)
        if not set(first) <= {1, 2}:
            line = settings.values["firstPlayer"][0]
            raise GameError(f"line {line}: firstPlayer counts players from 1: use 1 and 2 only")
    caps: tuple[int, ...] = (_NO_CAP,) * rounds
    if "maxRaises" in settings:
        caps = settings.numbers("maxRaises", rounds)
    raise_sizes: tuple[int, ...] = ()
    if limit:
        raise_sizes = settings.numbers("raiseSize", rounds)
    name = " ".join(settings.values["name"][1].split()) if "name" in settings else ""
    if not name:
        name = f"{'limit' if limit else 'no-limit'} game, blinds {min(blinds)}-{max(blinds)}"
    return Rules(
        name=name,
        limit=limit,
        blinds=(blinds[0], blinds[1]),
        first=tuple(player - 1 for player in first),
        stacks=(stacks[0], stacks[1]),
        raise_sizes=raise_sizes,
        max_raises=tuple(None if cap >= _NO_CAP else cap for cap in caps),
        suits=settings.number("numSuits"),
        ranks=settings.number("numRanks"),
        hole_cards=settings.number("numHoleCards"),
        board_cards=settings.numbers("numBoardCards", rounds),
        dead=settings.number("dead") if "dead" in settings else 0,
        min_bet=settings.number("minBet") if "minBet" in settings else None,
    )


def _read(text: str) -> _Settings:
    settings = _Settings()
    begun = ended = False
    for line, full in enumerate(text.splitlines(), start=1):
        code, _, comment = full.partition("#")
        code = code.strip()
        word = " ".join(code.lower().split())
        if begun and not ended:
            key, equals, value = comment.partition("=")
            if not code and equals and (known := _COMMENTED.get(key.strip().lower())):
                settings.add(known, value.strip(), line)
        if not code:
            continue
        if ended:
            raise GameError(f"line {line}: {brief(code)!r} comes after END GAMEDEF: move it before")
        if word == "gamedef":
            begun = True
        elif word == "end gamedef":
            ended = True
        elif not begun:
            raise GameError(
                f"line {line}: {brief(code)!r} comes before GAMEDEF: start the file with GAMEDEF"
            )
        else:
            _read_setting(settings, code, line)
    if not begun:
        raise GameError("this is not a game file: its first line must be GAMEDEF")
    if not ended:
        raise GameError("the game file is cut short: its last line must be END GAMEDEF")
    return settings


def _read_setting(settings: _Settings, code: str, line: int) -> None:
    key, equals, value = (part.strip() for part in code.partition("="))
    if not equals:
        key, _, value = code.partition(" ")
    known = _KEYS.get(key.lower())
    if known is None:
        cure = did_you_mean(key, _KEYS.values(), "use one of")
        raise GameError(f"line {line}: unknown setting {brief(key)!r}: {cure}")
    if known in ("limit", "nolimit") and (equals or value):
        raise GameError(f"line {line}: {known} stands alone on its line")
    settings.add(known, value, line)


def write(rules: Rules) -> str:
    """Write a game file's text.

    >>> from equipoise.games.rules import LIMIT_HOLDEM
    >>> print(write(LIMIT_HOLDEM))
    GAMEDEF
    # name = limit hold'em 5-10
    limit
    numPlayers = 2
    numRounds = 4
    blind = 10 5
    raiseSize = 10 10 20 20
    firstPlayer = 2 1 1 1
    maxRaises = 3 4 4 4
    numSuits = 4
    numRanks = 13
    numHoleCards = 2
    numBoardCards = 0 3 1 1
    END GAMEDEF
    """
    lines: Mapping[str, object] = {
        "# name": " ".join(rules.name.split()),
        "limit" if rules.limit else "nolimit": None,
        "numPlayers": 2,
        "numRounds": rules.rounds,
        "stack": _row(rules.stacks) if rules.stacks != (UNLIMITED, UNLIMITED) else "",
        "blind": _row(rules.blinds),
        "raiseSize": _row(rules.raise_sizes),
        "firstPlayer": _row(tuple(player + 1 for player in rules.first)),
        "maxRaises": (
            _row(tuple(_NO_CAP if cap is None else cap for cap in rules.max_raises))
            if any(cap is not None for cap in rules.max_raises)
            else ""
        ),
        "numSuits": rules.suits,
        "numRanks": rules.ranks,
        "numHoleCards": rules.hole_cards,
        "numBoardCards": _row(rules.board_cards),
        "# dead": rules.dead or "",
        "# minBet": "" if rules.min_bet is None else rules.min_bet,
    }
    body = [
        key if value is None else f"{key} = {value}" for key, value in lines.items() if value != ""
    ]
    return "\n".join(["GAMEDEF", *body, "END GAMEDEF"]) + "\n"


def _row(numbers: tuple[int, ...]) -> str:
    return " ".join(str(number) for number in numbers)


def load(path: str | Path) -> Rules:
    """Read a game file from disk."""
    text = read_text(path, GameError)
    try:
        return parse(text)
    except GameError as error:
        raise GameError(f"{path}: {error}") from None


def save(rules: Rules, path: str | Path) -> None:
    """Write a game file to disk."""
    with written(path, "w") as file:
        file.write(write(rules))
