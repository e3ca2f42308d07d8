"""Readers with a fault planted in each, for the fuzzer to find.

Every process that the fuzzer starts imports this file: it imports only what the readers need.
"""

from __future__ import annotations

import os
import signal
import time

from equipoise.bench.fuzz.reader import Reader, from_text
from equipoise.errors import CardError


def _card(text: str) -> None:
    if not text.startswith("As"):
        raise CardError("that is no ace of spades")


def _buggy(text: str) -> None:
    {"As": 1}[text[:2]]


def _loops(text: str) -> None:
    while not text.startswith("A"):
        pass


def _deaf(text: str) -> None:
    """Does not hear the alarm, as compiled code does not."""
    if not text.startswith("A"):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(3600)


def _dies(text: str) -> None:
    if not text.startswith("A"):
        os._exit(3)


def _large(text: str) -> None:
    if not text.startswith("A"):
        try:
            bytearray(300_000_000)[::4096] = b"x" * len(range(0, 300_000_000, 4096))
        except MemoryError:
            raise CardError("too large") from None


def _planted(*readers: Reader):
    return [from_text("sound", 1, _card, "AsKd", "As"), *readers]


def sound():
    return _planted()


def buggy():
    return _planted(from_text("buggy", 1, _buggy, "AsKd"))


def hanging():
    return _planted(from_text("loops", 0.02, _loops, "AsKd"))


def deaf():
    return _planted(from_text("deaf", 0.02, _deaf, "AsKd"))


def dying():
    return _planted(from_text("dies", 0.05, _dies, "AsKd"))


def hungry():
    return _planted(from_text("large", 0.1, _large, "AsKd"))
