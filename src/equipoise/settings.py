"""Settings from a TOML file, checked: every key known, every value of its kind.

What is wrong is told in one sentence that names the key as the file does, `model.boards`, and what
to write in its place. :func:`read_toml` is how every TOML file is read, whatever it holds, and
:func:`toml_text` writes one: the standard library reads TOML and does not write it.
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.errors import EquipoiseError, RecipeError

#: No file of settings is larger than this.
MOST_BYTES = 1_000_000
#: Tables and lists within each other, and parts of a dotted key: nobody writes more by hand.
_DEEPEST = 32
#: Whole numbers of more bits are no setting; TOML promises no more either.
_MOST_BITS = 63
_LARGEST = 2**_MOST_BITS - 1
#: A key with more parts than that, at a place where a key may stand. The library that reads TOML
#: takes time that grows with the cube of their number.
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*+(?:{_PART}){{{_DEEPEST}}}", re.MULTILINE)
#: As much of a value as a sentence quotes, and as many words as it lists.
_QUOTED, _LISTED = 60, 60
#: How alike two words are, from 0 to 1, if one may be meant by the other.
_ALIKE = 0.6
#: A key that is written without quotes.
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

#: Kinds of values, and what to write for them. Numbers are finite.
KINDS = {
    "text": 'text, such as "dcfr"',
    "whole": "a whole number, such as 20000",
    "number": "a number, such as 1.5",
    "truth": "true or false",
    "wholes": "whole numbers in brackets, such as [8, 12, 4, 4]",
    "numbers": "numbers in brackets, such as [0.6, 0.8]",
    "words": 'words in brackets, such as ["./mybot", "--fast"]',
    "table": "a table of settings",
    "boards": 'a whole number, or "all"',
    "shares": "a whole number, or shares in brackets, such as [0.25, 0.5, 0.75]",
    "sizes": 'sizes as text, "50%,a", or a list of them',
}


@dataclass(frozen=True)
class Within:
    """A number between two others, both included: `kind` is whole, number, wholes or numbers."""

    kind: str
    least: float
    most: float

    def __str__(self) -> str:
        what = KINDS[self.kind].partition(",")[0] + (", each" if self.kind.endswith("s") else "")
        if self.most >= _LARGEST:
            return f"{what} of {self.least:,} or more"
        return f"{what} from {self.least:,} to {self.most:,}"


@dataclass(frozen=True)
class OneOf:
    """One of some words."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return " or ".join(f'"{word}"' for word in self.words)


#: What a value may be: a name of :data:`KINDS`, or one that says more.
Kind = str | Within | OneOf
#: The seed of random choices.
SEED = Within("whole", 0, _LARGEST)


def shown(value: Any) -> str:
    """A wrong value as a sentence shows it: cut where it is long, whatever it is.

    >>> shown("dcrf"), len(shown("x" * 1000)), shown(1 << 20_000)
    ("'dcrf'", 60, 'a number too long to show')
    """
    try:
        return brief(repr(value))
    except ValueError:
        return "a number too long to show"


def read_text(
    path: str | Path,
    error: type[EquipoiseError] = EquipoiseError,
    most_bytes: int = MOST_BYTES,
) -> str:
    """The text of a small file in UTF-8, with or without a byte order mark.

    Whatever cannot be read is an `error` of one sentence that names the file.
    """
    try:
        with open(path, "rb") as opened:
            found = opened.read(most_bytes + 1)
    except (OSError, ValueError) as problem:
        reason = (problem.strerror if isinstance(problem, OSError) else None) or problem
        raise error(f"{path}: cannot be read ({reason}): name a text file") from None
    if len(found) > most_bytes:
        raise error(f"{path}: over {most_bytes / 1e6:g} MB: name the right file, or a shorter one")
    try:
        text = found.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise error(f"{path}: not a text file: save it as UTF-8") from None
    if "\0" in text:
        raise error(f"{path}: not a text file: it holds a NUL character")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_toml(
    text: str,
    error: type[EquipoiseError] = RecipeError,
    parse_float: Callable[[str], Any] = float,
) -> dict[str, Any]:
    """Settings from the text of a TOML file; whatever is wrong with it is an `error`.

    Numbers with a point are what `parse_float` makes of them, as in the standard library. Those that
    no setting can mean are refused here, once for all files: not-a-number, and whole numbers of more
    than 63 bits.

    >>> parse_toml('[menu]\\nbets = "50%"')
    {'menu': {'bets': '50%'}}
    >>> parse_toml("gamma = nan")
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: gamma = nan: write a number
    """
    if _LONG_KEY.search(text):
        raise error(f"this is not TOML: a key of over {_DEEPEST} parts: shorten it")
    try:
        settings = tomllib.loads(text.removeprefix("\ufeff"), parse_float=parse_float)
    except RecursionError:
        raise error("this is not TOML: brackets within brackets without end: close them") from None
    except (ValueError, ArithmeticError) as problem:
        if not isinstance(problem, tomllib.TOMLDecodeError):
            raise error("this is not TOML: a number is too long: write fewer digits") from None
        told = " ".join(brief(str(problem), 200).split())
        raise error(f"this is not TOML: {told}: mend that line") from None
    _check_values(settings, error)
    return settings


def read_toml(path: str | Path, error: type[EquipoiseError] = RecipeError) -> dict[str, Any]:
    """Settings from a TOML file; whatever is wrong with it is an `error` that names the file."""
    try:
        return parse_toml(read_text(path, error), error)
    except error as problem:
        told = str(problem)
        raise error(told if told.startswith(f"{path}: ") else f"{path}: {told}") from None


def brief(value: object, most: int = _QUOTED) -> str:
    """A value as a sentence quotes it: text as it is, all else as Python writes it, neither long.

    >>> brief("50%"), brief(["x"] * 100, 12)
    ('50%', "['x', 'x'...")
    """
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _check_values(settings: Mapping[str, Any], error: type[EquipoiseError]) -> None:
    """Refuse, level by level, nesting and numbers that nothing here can mean."""
    level: list[tuple[str, Any]] = list(settings.items())
    for _ in range(_DEEPEST):
        below: list[tuple[str, Any]] = []
        for key, value in level:
            if isinstance(value, Mapping):
                below += [(f"{key}.{name}", part) for name, part in value.items()]
            elif isinstance(value, list):
                below += [(key, part) for part in value]
            elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
                raise error(f"{brief(key)} is a number too long: write fewer digits")
            elif isinstance(value, float) and value != value:
                raise error(f"{brief(key)} = nan: write a number")
        if not below:
            return
        level = below
    raise error(f"{brief(level[0][0])} lies over {_DEEPEST} tables and lists deep: write it flat")


def did_you_mean(
    word: object,
    known: Iterable[str],
    otherwise: str = "choose from",
    prefix: str = "",
    cutoff: float = _ALIKE,
) -> str:
    """The cure for a word that nobody knows: the one that was meant, or all there are.

    >>> did_you_mean("sede", ["seed"], prefix="model."), did_you_mean("x", ["joint"], "it takes")
    ("did you mean 'model.seed'?", 'it takes joint')
    """
    known = tuple(known)
    near = difflib.get_close_matches(str(word)[:_QUOTED], known, n=1, cutoff=cutoff)
    if near:
        return f"did you mean {prefix + near[0]!r}?"
    more = ["…"] if len(known) > _LISTED else []
    return f"{otherwise} {', '.join([*known[:_LISTED], *more]) or 'none'}"


def choose(
    name: str, known: Iterable[str], what: str, error: type[EquipoiseError] = RecipeError
) -> str:
    """`name` if it is known; otherwise a sentence that guesses the one that was meant.

    >>> choose("jiont", ["joint", "cards"], "model.kind")
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: model.kind = 'jiont': did you mean 'joint'?
    """
    known = tuple(known)
    if name not in known:
        raise error(f"{what} = {shown(name)}: {did_you_mean(name, known)}")
    return name


def check_keys(
    settings: Iterable[object],
    known: Iterable[str],
    prefix: str = "",
    error: type[EquipoiseError] = RecipeError,
    what: str = "setting",
) -> None:
    """Refuse a key that nobody knows.

    >>> check_keys({"bts": "50%"}, ("bets", "raises"), "flop.")
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: unknown setting 'flop.bts': did you mean 'flop.bets'?
    """
    known = tuple(known)
    for key in settings:
        if key not in known:
            cure = did_you_mean(key, known, "use one of", prefix)
            raise error(f"unknown {what} '{prefix}{brief(key)}': {cure}")


def check(
    settings: Mapping[str, Any], kinds: Mapping[str, Kind], where: str = ""
) -> dict[str, Any]:
    """The settings as they are, once every key and kind of value is found to be right.

    >>> check({"boards": 100, "sede": 1}, {"boards": "boards", "seed": "whole"}, "model")
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: unknown key 'model.sede': did you mean 'model.seed'?
    >>> check({"boards": 1.5}, {"boards": "boards"}, "model")
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: model.boards = 1.5: write a whole number, or "all"
    >>> check({"gamma": float("nan")}, {"gamma": Within("number", 0, 100)}, "solver")
    Traceback (most recent call last):
        ...
    equipoise.errors.RecipeError: solver.gamma = nan: write a number from 0 to 100
    """
    prefix = f"{where}." if where else ""
    check_keys(settings, kinds, prefix, what="key")
    for key, value in settings.items():
        kind = kinds[key]
        if not _is(value, kind):
            wanted = KINDS[kind] if isinstance(kind, str) else kind
            raise RecipeError(f"{prefix}{key} = {shown(value)}: write {wanted}")
    return dict(settings)


#: Kinds of values by the type that a signature declares.
_OF_TYPE: dict[object, Kind] = {
    bool: "truth",
    int: "whole",
    float: "number",
    str: "text",
    tuple[float, ...]: "numbers",
    tuple[str, ...]: "words",
}


def kinds_of(maker: Callable[..., Any]) -> dict[str, Kind]:
    """Keyword settings of a class or function, with the kinds that its signature declares.

    A type stands for a kind, `Literal` for its words, and `Annotated[float, Within("number", 0, 1)]` for
    what it says. Parameters of types that no file can write are left out, and so are all if the
    signature cannot be read.

    >>> Share = typing.Annotated[float, Within("number", 0, 1)]
    >>> def make(game: object, seed: int = 0, share: Share = 1): ...
    >>> kinds_of(make)
    {'seed': 'whole', 'share': Within(kind='number', least=0, most=1)}
    """
    try:
        hints = typing.get_type_hints(
            maker.__init__ if isinstance(maker, type) else maker,  # type: ignore[misc]
            include_extras=True,
        )
        parameters = inspect.signature(maker).parameters
    except (NameError, TypeError, ValueError):
        # Another package's annotations may be for type checkers alone.
        return {}
    found = {key: _declared(hints.get(key)) for key in parameters}
    return {key: kind for key, kind in found.items() if kind is not None}


def _declared(hint: Any) -> Kind | None:
    """The kind that a type stands for; None where no file can write it, or in several ways."""
    if typing.get_origin(hint) is typing.Annotated:
        for said in hint.__metadata__:
            if isinstance(said, Within | OneOf) or said in KINDS:
                kind: Kind = said
                return kind
        return _declared(hint.__origin__)
    if typing.get_origin(hint) is typing.Literal:
        return OneOf(typing.get_args(hint))
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        kinds = [kind for kind in map(_declared, typing.get_args(hint)) if kind is not None]
        return kinds[0] if len(kinds) == 1 else None
    return _OF_TYPE.get(hint) if hint is None or hint.__hash__ else None


def _is(value: Any, kind: Kind) -> bool:
    if isinstance(kind, Within):
        numbers = value if kind.kind.endswith("s") else [value]
        return _is(value, kind.kind) and all(kind.least <= one <= kind.most for one in numbers)
    if isinstance(kind, OneOf):
        return value in kind.words
    if kind == "text":
        return isinstance(value, str)
    if kind == "truth":
        return isinstance(value, bool)
    if kind == "table":
        return isinstance(value, Mapping)
    if kind == "whole":
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST
    if kind == "number":
        return _is(value, "whole") or (isinstance(value, float) and math.isfinite(value))
    if kind == "boards":
        return value == "all" or _is(value, "whole")
    if kind == "shares":
        return _is(value, "whole") or _is(value, "numbers")
    if kind == "words":
        return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)
    if kind == "sizes":
        return isinstance(value, str) or _is(value, "words")
    each = "whole" if kind == "wholes" else "number"
    return isinstance(value, list | tuple) and all(_is(part, each) for part in value)


# ---------------------------------------------------------------------------------- writing


def toml_text(settings: Mapping[str, Any]) -> str:
    """TOML of nested settings.

    >>> print(toml_text({"pot": 100, "ranges": {"oop": "QQ+"}}), end="")
    pot = 100
    <BLANKLINE>
    [ranges]
    oop = "QQ+"
    """
    return "\n".join(_toml_lines(settings, ())).lstrip("\n") + "\n"


def _toml_lines(settings: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    plain = {key: value for key, value in settings.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in settings.items() if isinstance(value, Mapping)}
    if path and (plain or not tables):
        yield f"\n[{'.'.join(path)}]"
    for key, value in plain.items():
        yield f"{_toml_key(key)} = {_toml_value(value)}"
    for key, table in tables.items():
        yield from _toml_lines(table, (*path, _toml_key(key)))


def _toml_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml_value(part) for part in value)}]"
    escaped = "".join(
        f"\\{c}" if c in '"\\' else c if c.isprintable() else f"\\U{ord(c):08X}" for c in value
    )
    return f'"{escaped}"'
