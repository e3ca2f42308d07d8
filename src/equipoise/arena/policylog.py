"""Policies kept beside the log of a match: what was searched for is not searched for again.

Some agents solve a part of the game at every decision. Who takes the luck out of a match asks for their
policies once more, and would wait for all of it again. So a match that is logged keeps them, in a file
beside its log, a line for each such decision:

    POLICY:HAND:SEAT:BETTING:ACTIONS:TABLE

with the seat (0 is A), the actions with commas between, and what each of 1,326 hands plays, float32 by
hand and action, packed by zlib and written in base64.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from equipoise.cards.combos import COMBO_COUNT
from equipoise.errors import ArtefactError
from equipoise.games.policy import Policy
from equipoise.games.rules import CALL, FOLD, Action, raise_to

#: Seat and betting, by hand: what a policy is kept by.
Kept = dict[tuple[int, str], Policy]

_WORD = "POLICY"
#: Actions of one decision.
_MOST_ACTIONS = 64


def policies_path(log: Path) -> Path:
    """Where the policies of a match are kept.

    >>> policies_path(Path("match.log")).name
    'match.log.policies'
    """
    return log.with_name(log.name + ".policies")


def policy_line(hand: int, seat: int, betting: str, policy: Policy) -> str:
    """A line of the file.

    >>> line = policy_line(3, 1, "r250c/", Policy((CALL,), np.ones((1326, 1), dtype=np.float32)))
    >>> line[:19], read_policy(line)[:3]
    ('POLICY:3:1:r250c/:c', (3, 1, 'r250c/'))
    """
    table = zlib.compress(np.ascontiguousarray(policy.probabilities, dtype="<f4").tobytes(), 6)
    actions = ",".join(map(str, policy.actions))
    packed = base64.b64encode(table).decode("ascii")
    return f"{_WORD}:{hand}:{seat}:{betting}:{actions}:{packed}\n"


def read_policy(line: str) -> tuple[int, int, str, Policy]:
    """Hand, seat, betting and policy of a line; what is none is refused."""
    parts = line.rstrip("\n").split(":")
    try:
        word, hand, seat, betting, named, packed = parts
        actions = tuple(_action(name) for name in named.split(",", _MOST_ACTIONS))
        size = 4 * COMBO_COUNT * len(actions)
        unpack = zlib.decompressobj()
        data = unpack.decompress(base64.b64decode(packed, validate=True), size + 1)
        if word != _WORD or len(data) != size or seat not in ("0", "1") or not hand.isdecimal():
            raise ValueError
        table = np.frombuffer(data, dtype="<f4").reshape(COMBO_COUNT, len(actions))
        if not np.isfinite(table).all() or (table < 0).any() or (table > 1.001).any():
            raise ValueError
        return int(hand), int(seat), betting, Policy(actions, table.astype(np.float32))
    except (ValueError, binascii.Error, zlib.error):
        raise ArtefactError(
            f"{line[:30]!r} is no policy of a match: delete the file of policies, they are made again"
        ) from None


def _action(name: str) -> Action:
    if name == "f":
        return FOLD
    if name == "c":
        return CALL
    if not (name[:1] == "r" and name[1:].isascii() and name[1:].isdecimal() and len(name) < 12):
        raise ValueError
    return raise_to(int(name[1:]))


def kept_lines(log: Path) -> dict[int, list[str]]:
    """Lines of the policies that are kept beside a log, by hand; none if there are none."""
    path = policies_path(log)
    if not path.is_file():
        return {}
    found: dict[int, list[str]] = {}
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                hand = line.split(":", 2)[1:2]
                if line.startswith(f"{_WORD}:") and line.endswith("\n") and hand[0].isdecimal():
                    found.setdefault(int(hand[0]), []).append(line)
    except OSError as error:
        raise ArtefactError(f"cannot read the policies {path}: {error}") from None
    return found


def kept_policies(lines: Iterable[str]) -> Kept:
    """The policies of one hand."""
    return {(seat, betting): policy for _, seat, betting, policy in map(read_policy, lines)}
