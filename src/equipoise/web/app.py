"""The server: FastAPI and NiceGUI behind the gate, with the store and the jobs they stand on.

    serve(port=8200)      until Ctrl-C, on 127.0.0.1

One process answers pages; agents act and spots are solved in processes of their own
(:mod:`equipoise.web.jobs`). All state is in the store (:mod:`equipoise.web.store`), so that a server
may be killed and started again in the middle of a hand. Which pages there are says
:mod:`equipoise.web.shell`.
"""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from equipoise.datafolder import data_folder
from equipoise.errors import EquipoiseError
from equipoise.web.auth import Application, Gate, check_host, is_loopback

#: Where the server listens unless told otherwise.
PORT = 8200
#: Seconds for which the table of a browser that lost its connection waits for it.
_RECONNECT_SECONDS = 20.0
#: Ports after the first that are tried where nobody asked for a certain one.
_MORE_PORTS = 20


def free_port(host: str, first: int, more: int = 0) -> int:
    """The first port of a few that nobody listens on; refused with a sentence if there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    why: OSError | None = None
    for port in range(first, first + more + 1):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except (OSError, OverflowError) as error:
                why = error if isinstance(error, OSError) else None
                continue
            return int(probe.getsockname()[1])
    told = why.strerror if why is not None else "no such port"
    raise EquipoiseError(f"cannot listen on {host}, port {first}: {told}: choose another --port")


def application(folder: Path, token: str | None = None, local: bool = True) -> Application:
    """All pages behind the gate; `folder` holds what is kept. One a process: pages are global."""
    # Read by NiceGUI when it is first imported: it would otherwise look at the current folder.
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(folder / "nicegui"))
    from fastapi import FastAPI
    from nicegui import app as pages
    from nicegui import ui

    from equipoise.web.jobs import Jobs
    from equipoise.web.shell import PAGES, STATIC, STATIC_PATH, House
    from equipoise.web.store import FILE, Store

    house = House(Store(folder / FILE), Jobs())
    pages.add_static_files(STATIC_PATH, str(STATIC), max_cache_age=86_400)
    for page in PAGES:
        import_module(page.module).register(house)
    server = FastAPI(title="Equipoise", docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(
        server,
        title="Equipoise",
        favicon=str(STATIC / "favicon.svg"),
        dark=None,
        tailwind=False,
        reconnect_timeout=_RECONNECT_SECONDS,
        show_welcome_message=False,
    )

    def close() -> None:
        house.jobs.close()
        house.store.close()

    pages.on_shutdown(close)
    return Gate(server, token, local)


def serve(
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Answer until told to stop; `ready` is told the address once pages are answered."""
    check_host(host, token)
    chosen = free_port(host, PORT, _MORE_PORTS) if port is None else free_port(host, port)
    folder = data_folder()
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{chosen}/" + (f"?token={token}" if token else "")
    listen(application(folder, token, is_loopback(host)), host, chosen, address, ready)


def listen(
    app: Application, host: str, port: int, address: str, ready: Callable[[str], None] | None
) -> None:
    """Answer until told to stop; `ready` is told the address once requests are answered."""
    import uvicorn

    settings = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="error",
        access_log=False,
        server_header=False,
        ws_max_size=4 << 20,
        timeout_graceful_shutdown=2,
    )

    class Telling(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            # What was loaded by now stays: looking for garbage in it would cost every page some.
            gc.collect()
            gc.freeze()
            if ready is not None and self.started:
                ready(address)

    with suppress(KeyboardInterrupt):
        Telling(settings).run()
