"""What the server remembers: one SQLite file in the data folder, changed in transactions alone.

A session is a match log in the making: a seed, from which all its cards follow, and the betting of
every hand, written action by action. So a hand is never half there: whoever kills the server loses at
most the action that was on its way, and whoever reloads the page finds the hand where it stood.

    sessions    who plays whom, at which game, from which seed, on which side of a room
    hands       number, betting, and once it is over what it paid, with and without luck
    rooms       two sessions of the same cards
    documents   anything else a visitor keeps, as text under a kind and a name (own ranges, spots)

A page that keeps something of its own uses :meth:`Store.keep` and :meth:`Store.kept`.
"""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import Any, NamedTuple

from equipoise.errors import EquipoiseError
from equipoise.settings import brief
from equipoise.web.database import Database

#: Changes when tables change their meaning.
_VERSION = 1
#: Name of the file within the data folder.
FILE = "web.sqlite"
#: Characters of a document, and documents of one visitor.
MOST_CHARACTERS, MOST_DOCUMENTS = 1 << 20, 1000

_TABLES = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, visitor TEXT NOT NULL, player TEXT NOT NULL, agent TEXT NOT NULL,
    game TEXT NOT NULL, seed INTEGER NOT NULL, seat INTEGER NOT NULL, room TEXT,
    begun REAL NOT NULL, last REAL NOT NULL);
CREATE INDEX sessions_of ON sessions (visitor, last);
CREATE INDEX sessions_in ON sessions (room);
CREATE TABLE hands (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, number INTEGER NOT NULL,
    betting TEXT NOT NULL, payoff REAL, equity REAL, aivat REAL, review TEXT,
    PRIMARY KEY (session, number)) WITHOUT ROWID;
CREATE TABLE rooms (
    code TEXT PRIMARY KEY, agent TEXT NOT NULL, game TEXT NOT NULL, seed INTEGER NOT NULL,
    begun REAL NOT NULL);
CREATE TABLE documents (
    visitor TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL,
    changed REAL NOT NULL, PRIMARY KEY (visitor, kind, name)) WITHOUT ROWID;
"""


class SessionRow(NamedTuple):
    """Who plays whom."""

    id: str
    visitor: str
    #: What the person calls himself.
    player: str
    #: The agent's name in the registry.
    agent: str
    #: The game: `nolimit 200`, `nolimit 100` or `limit`.
    game: str
    seed: int
    #: The person's seat, 0 or 1: in hand n he sits at position (n + seat) mod 2.
    seat: int
    room: str | None
    begun: float
    last: float


class HandRow(NamedTuple):
    """One hand of a session; payoffs are the person's chips, None until the hand is over."""

    number: int
    betting: str
    payoff: float | None
    #: With an all-in paid by its equity.
    equity: float | None
    #: Without luck, where the agent tells its policy.
    aivat: float | None
    #: What a review found, as JSON.
    review: str | None


class RoomRow(NamedTuple):
    """Two people, one deal."""

    code: str
    agent: str
    game: str
    seed: int
    begun: float


class Store(Database):
    """The file, open.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / "web.sqlite")
    >>> session = store.begin_session("visitor", "Ann", "call", "limit", seed=7)
    >>> store.begin_hand(session.id, 0); store.set_betting(session.id, 0, "rc/")
    >>> store.hand(session.id, 0).betting
    'rc/'
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, _TABLES, _VERSION)

    # ------------------------------------------------------------------------------------ sessions

    def begin_session(
        self,
        visitor: str,
        player: str,
        agent: str,
        game: str,
        *,
        seed: int | None = None,
        seat: int = 0,
        room: str | None = None,
    ) -> SessionRow:
        """A new session, its seed drawn unless it is given; of a room each side is taken once."""
        now = time.time()
        seed = secrets.randbits(48) if seed is None else seed
        row = SessionRow(
            secrets.token_hex(8), visitor, player, agent, game, seed, seat, room, now, now
        )
        with self.transaction() as base:
            if room is not None:
                taken = base.execute(
                    "SELECT 1 FROM sessions WHERE room = ? AND (seat = ? OR visitor = ?)",
                    (room, seat, visitor),
                ).fetchone()
                if taken:
                    raise EquipoiseError("this side of the room is taken: take the other")
            base.execute(f"INSERT INTO sessions VALUES ({', '.join('?' * len(row))})", row)
        return row

    def session(self, session: str) -> SessionRow | None:
        """One session."""
        rows = self.rows("SELECT * FROM sessions WHERE id = ?", session)
        return SessionRow(*rows[0]) if rows else None

    def sessions(self, visitor: str, limit: int = 500) -> list[SessionRow]:
        """A visitor's sessions, the last first."""
        query = "SELECT * FROM sessions WHERE visitor = ? ORDER BY last DESC LIMIT ?"
        return [SessionRow(*row) for row in self.rows(query, visitor, limit)]

    def forget_session(self, session: str) -> None:
        """A session and all its hands, for good."""
        with self.transaction() as base:
            base.execute("DELETE FROM sessions WHERE id = ?", (session,))

    # --------------------------------------------------------------------------------------- hands

    def begin_hand(self, session: str, number: int) -> None:
        """A hand is dealt; one that is there already stays as it is."""
        with self.transaction() as base:
            base.execute(
                "INSERT OR IGNORE INTO hands (session, number, betting) VALUES (?, ?, '')",
                (session, number),
            )

    def set_betting(self, session: str, number: int, betting: str) -> None:
        """One action more."""
        with self.transaction() as base:
            base.execute(
                "UPDATE hands SET betting = ? WHERE session = ? AND number = ? AND payoff IS NULL",
                (betting, session, number),
            )
            base.execute("UPDATE sessions SET last = ? WHERE id = ?", (time.time(), session))

    def finish_hand(self, session: str, number: int, betting: str, payoff: float) -> None:
        """The last action, and what the hand paid."""
        with self.transaction() as base:
            base.execute(
                "UPDATE hands SET betting = ?, payoff = ? WHERE session = ? AND number = ?",
                (betting, payoff, session, number),
            )
            base.execute("UPDATE sessions SET last = ? WHERE id = ?", (time.time(), session))

    def set_lucks(
        self, session: str, number: int, equity: float | None, aivat: float | None
    ) -> None:
        """What the hand paid without luck, found out after it."""
        with self.transaction() as base:
            base.execute(
                "UPDATE hands SET equity = ?, aivat = ? WHERE session = ? AND number = ?",
                (equity, aivat, session, number),
            )

    def set_review(self, session: str, number: int, review: str) -> None:
        """What a review found."""
        with self.transaction() as base:
            base.execute(
                "UPDATE hands SET review = ? WHERE session = ? AND number = ?",
                (review, session, number),
            )

    def hand(self, session: str, number: int) -> HandRow | None:
        """One hand."""
        rows = self._hands("session = ? AND number = ?", session, number)
        return rows[0] if rows else None

    def hands(self, session: str) -> list[HandRow]:
        """The hands of a session in their order."""
        return self._hands("session = ? ORDER BY number", session)

    def last_hand(self, session: str) -> HandRow | None:
        """The hand that was dealt last."""
        rows = self._hands("session = ? ORDER BY number DESC LIMIT 1", session)
        return rows[0] if rows else None

    def _hands(self, which: str, *values: Any) -> list[HandRow]:
        query = f"SELECT number, betting, payoff, equity, aivat, review FROM hands WHERE {which}"
        return [HandRow(*row) for row in self.rows(query, *values)]

    # --------------------------------------------------------------------------------------- rooms

    def begin_room(self, agent: str, game: str) -> RoomRow:
        """A new room with a code that can be read out."""
        letters = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
        code = "".join(secrets.choice(letters) for _ in range(8))
        row = RoomRow(code, agent, game, secrets.randbits(48), time.time())
        with self.transaction() as base:
            base.execute("INSERT INTO rooms VALUES (?, ?, ?, ?, ?)", row)
        return row

    def room(self, code: str) -> RoomRow | None:
        """One room."""
        rows = self.rows("SELECT * FROM rooms WHERE code = ?", code)
        return RoomRow(*rows[0]) if rows else None

    def room_sessions(self, code: str) -> dict[int, SessionRow]:
        """The sessions in a room, by seat."""
        rows = self.rows("SELECT * FROM sessions WHERE room = ?", code)
        return {row.seat: row for row in (SessionRow(*values) for values in rows)}

    # ----------------------------------------------------------------------------------- documents

    def keep(self, visitor: str, kind: str, name: str, text: str) -> None:
        """Keep a text under a name, in place of what was there."""
        if len(text) > MOST_CHARACTERS or len(name) > 200:
            raise EquipoiseError(
                f"{brief(name, 60)}: more than {MOST_CHARACTERS:,} characters are not kept"
            )
        with self.transaction() as base:
            count = base.execute(
                "SELECT count(*) FROM documents WHERE visitor = ? AND NOT (kind = ? AND name = ?)",
                (visitor, kind, name),
            ).fetchone()[0]
            if count >= MOST_DOCUMENTS:
                raise EquipoiseError(f"{MOST_DOCUMENTS} texts are kept already: delete some first")
            base.execute(
                "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)",
                (visitor, kind, name, text, time.time()),
            )

    def kept(self, visitor: str, kind: str) -> dict[str, str]:
        """All texts of a kind, by name."""
        query = "SELECT name, text FROM documents WHERE visitor = ? AND kind = ? ORDER BY name"
        return dict(self.rows(query, visitor, kind))

    def drop(self, visitor: str, kind: str, name: str) -> None:
        """Let go of a text."""
        with self.transaction() as base:
            base.execute(
                "DELETE FROM documents WHERE visitor = ? AND kind = ? AND name = ?",
                (visitor, kind, name),
            )
