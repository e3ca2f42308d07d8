"""`equipoise web`: the table and its pages, in a browser."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from equipoise.cli.output import check_number


def web_command(
    port: Annotated[
        int | None, typer.Option(help="Port; by default the first free one from 8200 on.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(help="What every visitor must show; needed to let others in.")
    ] = None,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open a browser where there is a display."),
    ] = False,
) -> None:
    """Play in a browser: the address is printed, Ctrl-C ends the server, nothing is lost by that.

    Others are let in by --host, and only with a --token. Sessions are kept in EQUIPOISE_DATA, by
    default ~/.local/share/equipoise.

    \b
    Example: equipoise web
    Example: equipoise web --port 8300 --browser
    Example: equipoise web --host 0.0.0.0 --token "a long word of yours"
    """
    from equipoise.web.app import serve

    check_number("--port", port, 1, 65_535)

    def ready(address: str) -> None:
        print(f"Equipoise is at {address} (Ctrl-C ends it)", flush=True)
        if browser and _has_display():
            import webbrowser

            webbrowser.open(address)

    serve(host, port, token, ready)


def _has_display() -> bool:
    """Whether a window could be seen on this machine."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
