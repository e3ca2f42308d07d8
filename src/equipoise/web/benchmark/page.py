"""The leaderboard as a page: one table, no scripts."""

from __future__ import annotations

import html
from typing import Any

from equipoise.arena.statistics import rate_text

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}th,td{padding:.4em .7em;text-align:right;"
    "border-bottom:1px solid #8884}th:first-child,td:first-child{text-align:left}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#eee}}"
)
_COLUMNS = (
    "player",
    "series",
    "hands",
    "without luck",
    "all-in equity",
    "raw",
    "errors",
    "s/decision",
)


def leaderboard_page(agent: str, sessions: list[dict[str, Any]]) -> str:
    """All sessions against an agent; rates are in mbb/hand with their 95 % interval."""
    head = "".join(f"<th scope=col>{html.escape(column)}</th>" for column in _COLUMNS)
    body = "".join(f"<tr>{''.join(map(_cell, _row(told)))}</tr>" for told in sessions)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'>"
        f"<title>Equipoise benchmark</title><style>{_STYLE}</style>"
        f"<h1>Against {html.escape(agent)}</h1>"
        "<p>Heads-up no-limit hold’em, 50-100, 20,000 chips every hand. Rates are the player’s, in "
        "mbb/hand (thousandths of a big blind), ± half of the 95 % interval. In a series every deal is "
        "played from both seats and a pair is one sample.</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></html>"
    )


def _row(told: dict[str, Any]) -> tuple[str, ...]:
    seconds = told["seconds_per_decision"]
    return (
        told["name"],
        "" if told["series"] is None else str(told["series"]),
        f"{told['hands']:,}",
        *(_rate(told, key) for key in ("aivat_", "allin_", "")),
        str(told["errors"]),
        "" if seconds is None else f"{seconds:.3f}",
    )


def _rate(told: dict[str, Any], key: str) -> str:
    mean, half = told[f"{key}mbb_per_hand"], told[f"{key}ci95_mbb"]
    if mean is None:
        return "–"
    return rate_text(mean, float("nan") if half is None else half, 1)


def _cell(text: str) -> str:
    return f"<td>{html.escape(text)}</td>"
