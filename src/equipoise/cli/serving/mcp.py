"""`equipoise mcp`: tools for language models, over the Model Context Protocol on standard streams."""

from __future__ import annotations

import json
from pathlib import Path
from secrets import randbits
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import check_number
from equipoise.cli.serving.tools import bounded
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_INSTRUCTIONS = (
    "Heads-up poker: exact equities, ranges, solved postflop spots, and hands against agents. Cards are "
    "As, Kd, 7h; ranges are '22+, A2s+, KTs+'; a spot is TOML text with board, pot, stack, ranges.oop, "
    "ranges.ip and menu.bets. Amounts are chips. Look at spot_estimate before you solve."
)


def mcp_command(
    folder: Annotated[
        Path | None, typer.Option(help="Where solutions are kept; nothing else is read or written.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="Seconds that a tool may take.")] = 60.0,
    memory: Annotated[int, typer.Option(help="Megabytes that a tool may take.")] = 4096,
) -> None:
    """Offer tools to a language model: equity, range, spot_estimate, solve, show, review, deal, act.

    \b
    Example: equipoise mcp --folder solutions --seconds 60

    A client starts this command and speaks the Model Context Protocol over its standard streams.
    """
    check_number("--seconds", seconds, 1, 3600)
    check_number("--memory", memory, 512, 1 << 20)
    if folder is not None and not folder.is_dir():
        raise EquipoiseError(
            f"--folder {str(folder)[:200]}: there is no such folder: make it first"
        )
    try:
        server = make_server(None if folder is None else str(folder.absolute()), seconds, memory)
    except ImportError as error:
        raise EquipoiseError(f"the tools need {error.name}: pip install 'equipoise[mcp]'") from None
    server.run("stdio")


class _Desk:
    """Hands work to a process apart, and waits no longer than is allowed."""

    def __init__(self, folder: str | None, seconds: float, memory_mb: int) -> None:
        from equipoise.web.jobs import Jobs

        self.folder, self.seconds, self.memory_mb = folder, seconds, memory_mb
        self._jobs = Jobs({"tools": 1})
        #: The hand under way: agent, seed, number, betting; and whether it is over.
        self.hand: tuple[str, int, int, str] | None = None
        self.over = True

    async def do(self, name: str, **args: Any) -> dict[str, Any]:
        """What a tool answers; what it cannot is a sentence."""
        import asyncio

        from mcp.server.mcpserver.exceptions import ToolError

        job = self._jobs.submit("tools", bounded, self.memory_mb, name, args)
        try:
            told: dict[str, Any] = await asyncio.wait_for(
                asyncio.shield(job.answer()), self.seconds + 1
            )
            return told
        except TimeoutError:
            job.cancel()
            raise ToolError(
                f"{name} took more than {self.seconds:g} s and was stopped: ask for less"
            ) from None
        except EquipoiseError as error:
            raise ToolError(" ".join(str(error).split())) from None

    async def step(self, hand: tuple[str, int, int, str], answer: str) -> dict[str, Any]:
        """Go on with a hand."""
        agent, seed, number, betting = hand
        told = await self.do(
            "play", agent=agent, seed=seed, number=number, betting=betting, answer=answer
        )
        self.over = told["type"] == "result"
        self.hand = (agent, seed, number, told["betting"])
        return told


def make_server(folder: str | None, seconds: float, memory_mb: int) -> MCPServer[Any]:
    """The server with all its tools."""
    from mcp.server.mcpserver import MCPServer

    from equipoise.version import __version__

    server: MCPServer[Any] = MCPServer(
        "equipoise", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR"
    )
    desk = _Desk(folder, seconds, memory_mb)
    _add_study(server, desk)
    _add_play(server, desk)
    return server


def _add_study(server: MCPServer[Any], desk: _Desk) -> None:
    """Cards, spots and hands that were played."""
    from mcp.server.mcpserver.exceptions import ToolError

    @server.tool()
    async def equity(first: str, second: str, board: str = "") -> dict[str, Any]:
        """Exact equity of two hands or ranges, as 'AsAh' or '22+,AKs', on a board of 0 to 5 cards."""
        return await desk.do("equity", first=first, second=second, board=board)

    @server.tool(name="range")
    async def read_range(text: str) -> dict[str, Any]:
        """What is in a range: its combinations, its share of all hands, and its text made plain."""
        return await desk.do("range", text=text)

    @server.tool()
    async def spot_estimate(spot: str) -> dict[str, Any]:
        """What solving a spot would cost: decisions, megabytes, seconds an iteration."""
        return await desk.do("spot_estimate", spot=spot)

    @server.tool()
    async def solve(
        spot: str, target_pct_pot: float = 0.5, max_seconds: float = 20.0, save_as: str = ""
    ) -> dict[str, Any]:
        """Solve a spot to an exploitability in % of the pot, within a budget of seconds.

        `save_as` keeps the solution in the folder, under a name that ends in .solution.
        """
        if not 0 < max_seconds <= desk.seconds or not target_pct_pot > 0:
            raise ToolError(
                f"max_seconds is more than 0 and at most {desk.seconds:g}, target_pct_pot more than 0"
            )
        return await desk.do(
            "solve",
            spot=spot,
            target_pct_pot=target_pct_pot,
            seconds=max_seconds,
            memory_mb=desk.memory_mb,
            save_as=save_as,
            folder=desk.folder,
        )

    @server.tool()
    async def show(file: str, line: str = "") -> dict[str, Any]:
        """A node of a saved solution, such as line 'check, bet 50, call, Kh': strategy, EV, equity."""
        return await desk.do("show", file=file, line=line, folder=desk.folder)

    @server.tool()
    async def review(
        hand: str, player: str, reference: str = "tartanian5", flop_seconds: float = 0.0
    ) -> dict[str, Any]:
        """Grade a player's decisions after the flop in one hand: big blinds lost, the better action.

        `hand` is an ACPC line of no-limit hold'em, 50-100 and 20,000 chips:
        STATE:7:cr300c/cr600c/cc/cc:Ah8s|2h4c/Kd7s2c/9h/3d:600|-600:ann|bob
        """
        if not 0 <= flop_seconds <= desk.seconds:
            raise ToolError(f"flop_seconds is from 0 to {desk.seconds:g}")
        return await desk.do(
            "review", hand=hand, player=player, reference=reference, flop_seconds=flop_seconds
        )


def _add_play(server: MCPServer[Any], desk: _Desk) -> None:
    """A hand against an agent."""
    from mcp.server.mcpserver.exceptions import ToolError

    @server.tool()
    async def deal(agent: str = "tartanian5") -> dict[str, Any]:
        """Deal a hand of no-limit hold'em, 50-100 and 20,000 chips, against an agent of the list.

        The answer is a decision for `act`, or the result if the agent folds at once. Seats change.
        """
        number = 0 if desk.hand is None else desk.hand[2] + 1
        return await desk.step((agent, randbits(62), number, ""), "")

    @server.tool()
    async def act(action: str, amount: int | None = None) -> dict[str, Any]:
        """Fold, check, call, all-in, or bet or raise to an amount: your total of the whole hand."""
        if desk.hand is None or desk.over:
            raise ToolError("no hand is under way: deal one first")
        answer = {"action": action} | ({} if amount is None else {"amount": amount})
        return await desk.step(desk.hand, json.dumps(answer))
