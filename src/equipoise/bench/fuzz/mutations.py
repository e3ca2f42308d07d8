"""Ways to spoil what a reader is given: bytes that were right, and are not quite any more.

A mutation takes a random generator, the bytes and a :class:`Stock` to borrow from, and returns other
bytes. Some know nothing of the text (flipped bits, cuts, chunks twice); some know what readers stumble
over (numbers of 5,000 digits, `nan`, deep nesting, marks of byte order, half characters); and some know
words: they exchange tokens for those of a dictionary gathered from all samples of all readers, so that
a key of one format turns up in another. One to five of them, mostly few, are applied one after another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

#: Longest input. Readers must stand longer ones too, but these find nothing that shorter do not.
MOST_BYTES = 200_000

#: Numbers that fit nowhere, or only just.
NUMBERS: tuple[bytes, ...] = tuple(
    text.encode()
    for text in (
        *(
            "0",
            "-0",
            "-1",
            "1",
            "2",
            "00",
            "007",
            "0.0",
            "-0.5",
            ".5",
            "5.",
            "1_000",
            "0x1F",
            "0b1",
        ),
        *("nan", "NaN", "-nan", "inf", "-inf", "Infinity", "true", "false", "null", "None"),
        *(str(2**n + step) for n in (7, 8, 15, 16, 31, 32, 53, 63, 64, 127) for step in (-1, 0)),
        *("-9223372036854775809", "1e5", "1e18", "1e308", "1e309", "1e-400", "1e999999999"),
        *(
            "1e-999999999",
            "1e99999999999999999999",
            "3000000000",
            "300000000",
            "16.666666666666668",
        ),
        *("0.1", "0.30000000000000004", "1/3", "1/0", "99999999/7", "+5", "++5", "- 5", "5-", "1e"),
        *(
            "٣",
            "²",
            "1",
            "½",
            "9" * 400,
            "9" * 4301,
            "9" * 5000,
            "0." + "3" * 5000,
            "1" + "0" * 5000,
        ),
    )
)

#: Scraps that mean something to some reader.
# fmt: off
SCRAPS: tuple[bytes, ...] = (
    b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"\x80", b"\xc3", b"\xed\xa0\x80", b"\x1a",
    b"\r", b"\n", b"\r\n", b"\n\r", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\t", b" ", b"   ",
    b"[/p1]", b"[bold]", b"[", b"]", b"[[", b"{", b"}", b"{}", b"%s", b"%n", b"{0}", b"\\", b"\\u0000",
    b'"', b"'", b'"""', b"#", b";", b":", b"::", b"|", b"||", b"/", b"//", b",", b",,", b"=", b"==",
    b"..", b"../../etc/passwd", b"/dev/zero", b"~", b"$HOME", b"-", b"--", b"+", b"*", b"?", b"????",
    *(mark.encode() for mark in (
        "\u2028", "\u00a0", "\u200b", "\u0131", "\u00df", "\ufb01", "\u212a", "\u017f", "\u2013", "\u2660",
        "\u00e9", "\U0001f0a1",
    )),
)
# fmt: on

_TOKEN = re.compile(rb"[A-Za-z_]+|[0-9]+(?:\.[0-9]+)?|\s+|[^\sA-Za-z_0-9]")
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_NEST = (
    *((b"[", b"]"), (b"(", b")"), (b"{", b"}"), (b'{"a":', b"}"), (b"{a=", b"}")),
    *((b"a.", b""), (b"'", b"")),
)


@dataclass(frozen=True)
class Stock:
    """What mutations borrow from."""

    #: The other samples of the reader.
    samples: Sequence[bytes]
    #: Words and numbers of the samples of all readers.
    tokens: Sequence[bytes]


def gather(samples: Iterable[bytes]) -> tuple[bytes, ...]:
    """The dictionary of some samples, in an order that depends on nothing else."""
    found = {token for sample in samples for token in _TOKEN.findall(sample)}
    return tuple(sorted(token for token in found if len(token) <= 40 and not token.isspace()))


Mutation = Callable[[Random, bytes, Stock], bytes]


def spoil(rng: Random, data: bytes, stock: Stock) -> bytes:
    """Apply one to five mutations, drawn at random."""
    for _ in range(min(5, 1 + int(rng.expovariate(1.2)))):
        data = rng.choices(_ALL, _WEIGHTS)[0](rng, data, stock)[:MOST_BYTES]
    return data


# ---------------------------------------------------------------------------------- bytes


def _span(rng: Random, data: bytes) -> tuple[int, int]:
    """Where a chunk begins and ends; short chunks are likelier than long ones."""
    first = rng.randrange(len(data) + 1)
    return first, min(len(data), first + 1 + int(rng.expovariate(1 / (1 + len(data) / 8))))


def _flip(rng: Random, data: bytes, stock: Stock) -> bytes:
    if not data:
        return data
    spoiled = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        spoiled[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(spoiled)


def _random_bytes(rng: Random, data: bytes, stock: Stock) -> bytes:
    first, last = _span(rng, data)
    return data[:first] + rng.randbytes(min(last - first, 64)) + data[last:]


def _printable(rng: Random, data: bytes, stock: Stock) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(32, 127)]) + data[at + rng.randrange(2) :]


def _cut(rng: Random, data: bytes, stock: Stock) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] if rng.random() < 0.8 else data[at:]


def _drop(rng: Random, data: bytes, stock: Stock) -> bytes:
    first, last = _span(rng, data)
    return data[:first] + data[last:]


def _repeat(rng: Random, data: bytes, stock: Stock) -> bytes:
    first, last = _span(rng, data)
    times = rng.choice((1, 1, 2, 3, 10, 100, 5000))
    return data[:first] + (data[first:last] * times)[:MOST_BYTES] + data[first:]


def _swap(rng: Random, data: bytes, stock: Stock) -> bytes:
    a, b, c, d = sorted(rng.randrange(len(data) + 1) for _ in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _splice(rng: Random, data: bytes, stock: Stock) -> bytes:
    other = rng.choice(stock.samples)
    first, last = _span(rng, data)
    start, end = _span(rng, other)
    return data[:first] + other[start:end] + data[last:]


def _join(rng: Random, data: bytes, stock: Stock) -> bytes:
    return data + rng.choice((b"", b"\n", b",", b" ")) + rng.choice(stock.samples)


def _nothing(rng: Random, data: bytes, stock: Stock) -> bytes:
    return rng.choice((b"", b" ", b"\n", b"\x00", b"\xef\xbb\xbf"))


# ---------------------------------------------------------------------------------- text


def _scrap(rng: Random, data: bytes, stock: Stock) -> bytes:
    at = rng.choice((0, len(data), rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return data[:at] + rng.choice(SCRAPS) + data[at + rng.randrange(2) :]


def _number(rng: Random, data: bytes, stock: Stock) -> bytes:
    """Another number in the place of one that is there."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return _insert_number(rng, data, stock)
    chosen = rng.choice(found)
    return data[: chosen.start()] + rng.choice(NUMBERS) + data[chosen.end() :]


def _insert_number(rng: Random, data: bytes, stock: Stock) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(NUMBERS) + data[at:]


def _nest(rng: Random, data: bytes, stock: Stock) -> bytes:
    opening, closing = rng.choice(_NEST)
    depth = rng.choice((1, 2, 10, 200, 1000, 10_000))
    first, last = _span(rng, data)
    closed = closing * depth if rng.random() < 0.7 else b""
    return data[:first] + opening * depth + data[first:last] + closed + data[last:]


def _line_ends(rng: Random, data: bytes, stock: Stock) -> bytes:
    ends = (b"\r\n", b"\r", b"\n\n", b"", b" ", b"\x0b", b"\x85", "\u2028".encode(), b";", b",")
    return data.replace(b"\n", rng.choice(ends))


def _shuffle_lines(rng: Random, data: bytes, stock: Stock) -> bytes:
    lines = data.split(b"\n")
    kind = rng.randrange(4)
    at = rng.randrange(len(lines))
    if kind == 0:
        rng.shuffle(lines)
    elif kind == 1:
        lines.pop(at)
    elif kind == 2:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    else:
        other = rng.choice(stock.samples).split(b"\n")
        lines.insert(at, rng.choice(other))
    return b"\n".join(lines)


def _case(rng: Random, data: bytes, stock: Stock) -> bytes:
    return rng.choice((data.upper, data.lower, data.swapcase, data.title))()


# ---------------------------------------------------------------------------------- words


def _tokens(rng: Random, data: bytes, stock: Stock) -> bytes:
    """Some tokens become others, are dropped, doubled or change places."""
    tokens = _TOKEN.findall(data)
    if not tokens:
        return data
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, kind = rng.randrange(len(tokens)), rng.randrange(6)
        if kind <= 1:
            tokens[at] = rng.choice(stock.tokens)
        elif kind == 2:
            tokens[at] = rng.choice(tokens)
        elif kind == 3:
            tokens[at] = b""
        elif kind == 4:
            tokens[at] += tokens[at]
        else:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
    return b"".join(tokens)


def _insert_tokens(rng: Random, data: bytes, stock: Stock) -> bytes:
    at = rng.randrange(len(data) + 1)
    between = rng.choice((b"", b" ", b",", b"=", b"\n", b":"))
    return data[:at] + between.join(rng.choices(stock.tokens, k=rng.randrange(1, 5))) + data[at:]


def _swap_keys(rng: Random, data: bytes, stock: Stock) -> bytes:
    """Two lines `key = value` or `key: value` exchange their keys."""
    lines = data.split(b"\n")
    parted = [(at, re.split(rb"([=:])", line, maxsplit=1)) for at, line in enumerate(lines)]
    keyed = [(at, parts) for at, parts in parted if len(parts) == 3]
    if len(keyed) < 2:
        return _tokens(rng, data, stock)
    (a, first), (b, second) = rng.sample(keyed, 2)
    lines[a] = second[0] + first[1] + first[2]
    lines[b] = first[0] + second[1] + second[2]
    return b"\n".join(lines)


_MUTATIONS: dict[Mutation, int] = {
    _flip: 4, _random_bytes: 2, _printable: 4, _cut: 3, _drop: 3, _repeat: 3, _swap: 2, _splice: 4,
    _join: 1, _nothing: 1, _scrap: 6, _number: 10, _insert_number: 3, _nest: 2, _line_ends: 1,
    _shuffle_lines: 3, _case: 1, _tokens: 10, _insert_tokens: 3, _swap_keys: 2,
}  # fmt: skip
_ALL, _WEIGHTS = tuple(_MUTATIONS), tuple(_MUTATIONS.values())
