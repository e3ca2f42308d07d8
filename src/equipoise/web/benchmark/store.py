"""Sessions of the benchmark: one SQLite file, changed in transactions alone.

    sessions    who plays, the hash of the token, the series or the secret seed, sums
    hands       cards, betting, and once it is over what the client won, with and without luck
    users       names and salted hashes of passwords

A hand is written with every answer, before the answer is sent: whoever kills the server loses at most
the action that was on its way.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import NamedTuple

from equipoise.web.database import Database

_VERSION = 1
#: Name of the file within the data folder.
FILE = "benchmark.sqlite"
#: Seconds after which a session without a hand to its name is forgotten where room is needed.
_FORGOTTEN = 3600.0

_TABLES = """
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, token BLOB NOT NULL UNIQUE, name TEXT NOT NULL, agent TEXT NOT NULL,
    series INTEGER, seed INTEGER NOT NULL, begun REAL NOT NULL, last REAL NOT NULL,
    hands INTEGER NOT NULL DEFAULT 0, total REAL NOT NULL DEFAULT 0, errors INTEGER NOT NULL DEFAULT 0,
    agent_decisions INTEGER NOT NULL DEFAULT 0, agent_seconds REAL NOT NULL DEFAULT 0,
    agent_faults INTEGER NOT NULL DEFAULT 0,
    decisions INTEGER NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0);
CREATE INDEX sessions_by_hands ON sessions (agent, hands);
CREATE TABLE hands (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, number INTEGER NOT NULL,
    cards TEXT NOT NULL, betting TEXT NOT NULL, old TEXT NOT NULL,
    payoff REAL, equity REAL, aivat REAL, PRIMARY KEY (session, number)) WITHOUT ROWID;
CREATE INDEX hands_unscored ON hands (session, number) WHERE payoff IS NOT NULL AND equity IS NULL;
CREATE TABLE users (name TEXT PRIMARY KEY, salt BLOB NOT NULL, password BLOB NOT NULL) WITHOUT ROWID;
"""


class SessionRow(NamedTuple):
    """One client's play against the agent."""

    id: int
    name: str
    agent: str
    #: The seed that its deals follow from, where the client chose one.
    series: int | None
    #: The seed of the agent's random choices: the series, or a secret.
    seed: int
    begun: float
    last: float
    #: Hands that are over, and the client's chips.
    hands: int
    total: float
    #: Requests that were refused.
    errors: int
    agent_decisions: int
    agent_seconds: float
    agent_faults: int
    decisions: int
    seconds: float


class HandRow(NamedTuple):
    """One hand; payoffs are the client's chips, None until it is over or found out."""

    number: int
    cards: str
    #: As the ACPC writes it.
    betting: str
    #: The betting before the client's last action, as the wire writes it.
    old: str
    payoff: float | None
    #: With an all-in paid by its equity.
    equity: float | None
    #: Without luck.
    aivat: float | None


class Step(NamedTuple):
    """What one answer adds to a session."""

    number: int
    cards: str
    betting: str
    old: str
    payoff: float | None
    agent_decisions: int
    agent_seconds: float
    agent_faults: int
    decisions: int
    seconds: float


_SESSION = ", ".join(SessionRow._fields)
_HAND = ", ".join(HandRow._fields)


def hashed(token: str) -> bytes:
    """What is kept of a token: a file that is read by others gives none away."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


class Store(Database):
    """The file, open.

    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / FILE)
    >>> store.begin_session("secret token", "ann", "call", None, 7).name
    'ann'
    >>> store.session("another") is None
    True
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, _TABLES, _VERSION)

    def begin_session(
        self, token: str, name: str, agent: str, series: int | None, seed: int
    ) -> SessionRow:
        """A new session; an empty name becomes one with its number."""
        now = time.time()
        with self.transaction() as base:
            number = base.execute(
                "INSERT INTO sessions (token, name, agent, series, seed, begun, last) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (hashed(token), name, agent, series, seed, now, now),
            ).lastrowid
            if not name:
                base.execute(
                    "UPDATE sessions SET name = ? WHERE id = ?", (f"anonymous-{number}", number)
                )
        assert number is not None
        found = self.session_of(number)
        assert found is not None
        return found

    def set_series(self, session: int, series: int) -> None:
        """The series of a session in which nothing was dealt."""
        with self.transaction() as base:
            base.execute(
                "UPDATE sessions SET series = ?, seed = ? WHERE id = ?", (series, series, session)
            )

    def session(self, token: str) -> SessionRow | None:
        """The session of a token."""
        rows = self.rows(f"SELECT {_SESSION} FROM sessions WHERE token = ?", hashed(token))
        return SessionRow(*rows[0]) if rows else None

    def session_of(self, session: int) -> SessionRow | None:
        """The session of a number."""
        rows = self.rows(f"SELECT {_SESSION} FROM sessions WHERE id = ?", session)
        return SessionRow(*rows[0]) if rows else None

    def count(self) -> int:
        """How many sessions there are."""
        return int(self.rows("SELECT count(*) FROM sessions")[0][0])

    def forget_empty(self) -> None:
        """Let go of sessions that were never played."""
        with self.transaction() as base:
            base.execute(
                "DELETE FROM sessions WHERE hands = 0 AND last < ?", (time.time() - _FORGOTTEN,)
            )

    def step(self, session: int, step: Step) -> None:
        """A hand as it stands after an answer, and what the answer adds to the session."""
        with self.transaction() as base:
            base.execute(
                "INSERT INTO hands (session, number, cards, betting, old, payoff) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
                "SET betting = excluded.betting, old = excluded.old, payoff = excluded.payoff",
                (session, *step[:5]),
            )
            base.execute(
                "UPDATE sessions SET last = ?, hands = hands + ?, total = total + ?, "
                "agent_decisions = agent_decisions + ?, agent_seconds = agent_seconds + ?, "
                "agent_faults = agent_faults + ?, decisions = decisions + ?, seconds = seconds + ? "
                "WHERE id = ?",
                (time.time(), step.payoff is not None, step.payoff or 0.0, *step[5:], session),
            )

    def add_error(self, session: int) -> None:
        """A request was refused."""
        with self.transaction() as base:
            base.execute("UPDATE sessions SET errors = errors + 1 WHERE id = ?", (session,))

    def last_hand(self, session: int) -> HandRow | None:
        """The hand that was dealt last."""
        rows = self.rows(
            f"SELECT {_HAND} FROM hands WHERE session = ? ORDER BY number DESC LIMIT 1", session
        )
        return HandRow(*rows[0]) if rows else None

    def hands(self, session: int) -> list[HandRow]:
        """The hands that are over, in order."""
        rows = self.rows(
            f"SELECT {_HAND} FROM hands WHERE session = ? AND payoff IS NOT NULL ORDER BY number",
            session,
        )
        return [HandRow(*row) for row in rows]

    def unscored(self, session: int | None, most: int) -> list[tuple[int, HandRow]]:
        """Hands whose luck is still in them, with their sessions."""
        where, values = ("session = ? AND", (session,)) if session is not None else ("", ())
        rows = self.rows(
            f"SELECT session, {_HAND} FROM hands WHERE {where} payoff IS NOT NULL AND equity IS NULL "
            "ORDER BY session, number LIMIT ?",
            *values,
            most,
        )
        return [(row[0], HandRow(*row[1:])) for row in rows]

    def set_scores(self, scores: list[tuple[float, float | None, int, int]]) -> None:
        """Payoffs by equity and without luck: (equity, aivat, session, number)."""
        with self.transaction() as base:
            base.executemany(
                "UPDATE hands SET equity = ?, aivat = ? WHERE session = ? AND number = ?", scores
            )

    def played(self, agent: str, most: int) -> list[SessionRow]:
        """Sessions against an agent with a hand to their name, the longest first."""
        rows = self.rows(
            f"SELECT {_SESSION} FROM sessions WHERE agent = ? AND hands > 0 "
            "ORDER BY hands DESC, id LIMIT ?",
            agent,
            most,
        )
        return [SessionRow(*row) for row in rows]

    # --------------------------------------------------------------------------------------- users

    def user(self, name: str) -> tuple[bytes, bytes] | None:
        """Salt and hash of a password, if the name is taken."""
        rows = self.rows("SELECT salt, password FROM users WHERE name = ?", name)
        return (rows[0][0], rows[0][1]) if rows else None

    def add_user(self, name: str, salt: bytes, password: bytes) -> bool:
        """Take a name; False if somebody was faster."""
        with self.transaction() as base:
            added = base.execute(
                "INSERT OR IGNORE INTO users VALUES (?, ?, ?)", (name, salt, password)
            )
            return bool(added.rowcount)
