"""A SQLite file that is changed in transactions alone, one at a time, by all threads of a server.

Commits go to the write-ahead log at once, so that a server may be killed at any moment: what was
committed is there again, and nothing is ever half there.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from equipoise.errors import ArtefactError


class Database:
    """The file, open; `tables` are the statements that make a new one, and `version` what they mean."""

    def __init__(self, path: Path, tables: str, version: int) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            # One connection for all threads, one at a time: whole transactions are short.
            self._base = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
            self._base.execute("PRAGMA foreign_keys = ON")
            found = self._base.execute("PRAGMA user_version").fetchone()[0]
            if not found:
                with self.transaction() as base:
                    for statement in filter(str.strip, tables.split(";")):
                        base.execute(statement)
                    base.execute(f"PRAGMA user_version = {version}")
        except sqlite3.Error as error:
            raise ArtefactError(
                f"{path}: {error}: move it away, or set EQUIPOISE_DATA to another folder"
            ) from None
        if found > version:
            raise ArtefactError(f"{path} is of a later version: update, or set EQUIPOISE_DATA")

    def close(self) -> None:
        """Nothing more is written."""
        with self._lock:
            self._base.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block, or nothing of it."""
        with self._lock:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield self._base
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What a query finds."""
        with self._lock:
            return self._base.execute(query, values).fetchall()
