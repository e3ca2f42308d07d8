"""What readers accept, to be spoiled: short literals, and things the package itself wrote.

Everything is the same at every call, so that a seed names the same inputs on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from equipoise.agents.registry import AGENTS as LISTED
from equipoise.arena.acpc.table import DealerTable
from equipoise.arena.match import play_match
from equipoise.games.notation import gamefile
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, Rules
from equipoise.games.spot import Spot
from equipoise.solve.batch.jobs import Batch
from equipoise.solve.batch.report import BatchReport
from equipoise.solve.batch.reportfolder import rows_text
from equipoise.solve.batch.results import JobOutcome, Results, summary
from equipoise.solve.spots.solution import Solution, solve_spot

#: A hand as a poker site writes it.
SITE = """PokerStars Hand #123456789: Hold'em No Limit ($0.50/$1.00 USD) - 2024/01/02 12:00:00 ET
Table 'Aludra' 2-max Seat #1 is the button
Seat 1: Hero ($100 in chips)
Seat 2: Villain ($97.50 in chips)
Hero: posts small blind $0.50
Villain: posts big blind $1
*** HOLE CARDS ***
Dealt to Hero [Ah Qd]
Hero: raises $1.50 to $2.50
Villain: calls $1.50
*** FLOP *** [Td 9d 6h]
Villain: checks
Hero: bets $2.50
Villain: calls $2.50
*** TURN *** [Td 9d 6h] [Qc]
Villain: checks
Hero: checks
*** RIVER *** [Td 9d 6h Qc] [2s]
Villain: bets $5
Hero: calls $5
*** SHOW DOWN ***
Villain: shows [Kh Qh] (a pair of Queens)
Hero: shows [Ah Qd] (a pair of Queens - Ace kicker)
Hero collected $19 from pot
*** SUMMARY ***
Total pot $20 | Rake $1
Board [Td 9d 6h Qc 2s]
Seat 1: Hero (button) (small blind) showed [Ah Qd] and won ($19) with a pair of Queens
Seat 2: Villain (big blind) showed [Kh Qh] and lost with a pair of Queens
"""
RANGES = (
    "QQ+, AKs, A5s:0.5",
    "22-55,A2s+,KTo-K8o,JTs-76s,54s:0.25",
    "AhKh, AsKs:0.5, random",
    "[0.3]AA,KK[/0.3],QQ",
    "22+,A2s+,A8o+:0.75,T9s",
    "random",
)
#: Lines of :func:`river`, as `--at` names them.
LINES = ("check, bet 33, call", "bet 100", "check, check", "bet 50, raise, fold", "check, bet 62")

_RIVER = """name = "a river"
board = "Td 9d 6h Qc 2s"
pot = 100
stack = 200
min_bet = 2

[ranges]
oop = "22+,A2s+,A8o+:0.5"
ip = "TT+,AKs,QJs,T9s"

[rake]
rate = 0.05
cap = 3

[menu]
bets = "50%,100%"
raises = "60%,a"
add_allin_threshold = 1.5
[menu.river.ip]
bets = "33.3%,2e"
max_raises = 2
"""
_TURN = """board = "9c7d5h6s"
pot = 120
stack = 910
[ranges]
oop = "22-66,77:0.5,A2s-A9s"
ip = "77+,A9s+,KTs+"
[menu.turn]
bets = "33%,75%"
raises = ["3x", "2.2x,a"]
[menu.river.oop]
bets = "50%"
donks = "33%,120c"
"""
_FLOP = """board = "As 7d 2c"
pot = 55
stack = 20
ranges = { oop = "AA,KK:0.25,AhKd", ip = "random" }
menu = { bets = "a", force_allin_threshold = 0.2, merging_threshold = 0.1 }
"""
_MIDDLE = 'line = "check, bet 33, raise"\n' + _RIVER
SPOTS = (_RIVER, _TURN, _FLOP, _MIDDLE)

BOARDS = ("Td9d6hQc2s\nAsKsQsJsTs 24\n# a comment\n2c 2d 2h 3s 4s: 0.5\n", "Td 9d 6h Qc 3s 1e3\n")

AGENTS = (
    'agent = "call"\nname = "station"\n',
    'agent = "blueprint"\nname = "mine"\nblueprint = "own"\ntranslation = "pseudo-harmonic"\n'
    'postprocess = "raw/purify"\nguard = "closing"\nback_onto_tree = true\n',
    'agent = "random"\n',
    'agent = "blueprint"\nblueprint = "quick"\n',
)
#: Agents that play blueprints of the package.
SHIPPED = frozenset(name for name, entry in LISTED.items() if "blueprint" in entry.settings)

LOG = """# name/game/hands/seed p1-p2 holdem.nolimit.2p.reverse_blinds.game 1000 0
#--t_response 600000
STATE:0:r19686r20000c///:5d5c|9hQd/8dAs8s/4h/6d:20000|-20000:p1|p2
STATE:1:r19848c/cr19998c/r20000c/:6sKs|5dJd/2sTh2h/Qh/8h:20000|-20000:p2|p1
STATE:2:f:Ah8s|2h4c:50|-50:p1|p2
SCORE:50|-50:p1|p2
"""
_LIMIT_LOG = """STATE:0:cc/crc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20:p1|p2
STATE:1:crc/rc/rrc/rc:6sKs|5dJd/2sTh2h/Qh/8h:90|-90:p2|p1
STATE:3:rrrc/rrf:4s8s|6hJd/QhJs9d:-50|50:p2|p1
"""
PHHS = """[1]
variant = 'NT'
ante_trimming_status = false
antes = [0, 0]
blinds_or_straddles = [0.25, 0.50]
min_bet = 0.50
starting_stacks = [29.85, 29.25]
actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cc', 'p1 cc', 'd db Ks7h5d', 'p1 cc', 'p2 cbr 0.50',
           'p1 f']
venue = 'PokerStars'
year = 2009
hand = 60947439272
players = ['ann', '+4GNcSsecmapVGSdV0mUPA']
winnings = [0, 0]
currency_symbol = '$'

[2]
variant = 'NT'
antes = [1, 1]
blinds_or_straddles = [2, 4]
min_bet = 4
starting_stacks = [408, 357]
actions = ['d dh p1 AsAd', 'd dh p2 KsKd', 'p2 cbr 12', 'p1 cbr 407', 'p2 cc', 'd db Kh7h5d',
           'd db 2c', 'd db 3d', 'p1 sm AsAd', 'p2 sm KsKd']
hand = 7

[3]
variant = 'FT'
antes = [0, 0]
blinds_or_straddles = [5, 10]
small_bet = 10
big_bet = 20
starting_stacks = [1000, 1000]
actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cbr 20', 'p1 f']
"""

CURVES = (
    "iteration,seconds,exploitability_bb,judged_bb\n10,0.5,1.25,\n20,1.125,0.5,0.75\n",
    "iteration,seconds,exploitability_bb,judged_bb\n1000000,3600.25,,\n",
)

_ANSWERS = ("r600", "c", "c", "r1200", "c", "c", "c", "r20000", "f", "c", "r300", "r900", "c", "f")


def _played(rules: Rules, hands: int) -> Iterable[tuple[str, int, str]]:
    """The lines of a match at our table: `TO` or `FROM`, the seat, the line."""
    table, answers = DealerTable(rules, 0), cycle(_ANSWERS)
    while True:
        for seat in (0, 1):
            yield "TO", seat, table.line(seat)
        asked = table.seat_to_act
        if asked is not None:
            answer = f"{table.line(asked)}:{next(answers)[: 1 if rules.limit else None]}"
            yield "FROM", asked, answer
            table.answer(answer)
        elif table.hand.number + 1 < hands:
            table.next_hand()
        else:
            return


def _transcript(rules: Rules, hands: int) -> str:
    name = "limit" if rules.limit else "nolimit"
    lines = [f"# name/game/hands/seed 2p {name} {hands} 0", "STARTED at 1341695920.914516"]
    lines += [f"{way} {seat + 1} at 0.25 {line}" for way, seat, line in _played(rules, hands)]
    return "\n".join(lines) + "\n"


def _told(rules: Rules, wanted: int, hands: int = 4) -> str:
    lines = _played(rules, hands)
    return "\n".join(line for way, seat, line in lines if (way, seat) == ("TO", wanted))


LOGS = (LOG, _LIMIT_LOG)
TRANSCRIPTS = (_transcript(NOLIMIT_HOLDEM, 3), _transcript(LIMIT_HOLDEM, 3))
MATCH_STATES = (
    _told(NOLIMIT_HOLDEM, 0),
    _told(NOLIMIT_HOLDEM, 1, 2),
    "LIMIT" + _told(LIMIT_HOLDEM, 0),
    "MATCHSTATE:1:7:cr300:|9hQd",
)
ANSWERS = (
    "\n".join(line for way, _, line in _played(NOLIMIT_HOLDEM, 4) if way == "FROM"),
    "c\nr300\nr900\nc\nf",
    "\n".join(_ANSWERS),
)
DEALT = (_told(NOLIMIT_HOLDEM, 0, 2).replace("\n", "\r\n") + "\r\n",)


@cache
def match_logs() -> tuple[str, ...]:
    """Logs of two short matches, in duplicate and not."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "match.log"
        found = []
        for a, b, hands in (("call", "all-in", 6), ("call", "all-in", 2)):
            play_match(a, b, NOLIMIT_HOLDEM, hands, seed=3, log=path)
            found.append(path.read_text())
            path.unlink()
        return tuple(found)


@cache
def game_files() -> tuple[str, ...]:
    """Game files that we write, and one as others do."""
    others = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 20000 20000
blind = 100 50
firstPlayer = 2 1 1 1
maxRaises = 255 255 255 255
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
    return gamefile.write(NOLIMIT_HOLDEM), gamefile.write(LIMIT_HOLDEM), others


@cache
def river() -> Spot:
    """A small spot."""
    return Spot.from_toml(_RIVER)


@cache
def solved() -> Solution:
    """The river, as far as ten iterations go."""
    return _solve(river())


@cache
def solved_turn() -> Solution:
    """A turn with few hands."""
    return _solve(Spot("9c7d5h6s", "AA,KQs", "QQ,JTs", pot=10, stack=20, menu="a"))


def _solve(spot: Spot) -> Solution:
    solution = solve_spot(spot, None, iterations=10)
    # A clock's figure would be another one each time.
    solution.seconds = 1.0
    return solution


@cache
def batch_result() -> bytes:
    """The answer to a job of a batch, as the batch keeps it."""
    with TemporaryDirectory() as folder:
        results = Results(folder)
        results.make_folders()
        job = Batch.of_boards([("Td9d6hQc2s", 1.0)], river()).jobs[0]
        results.write(job, {"exploitability_pct_pot": 0.25, "lines": {"root": {"check": 0.5}}})
        return results.path(job).read_bytes()


@cache
def batch_report() -> dict[str, bytes]:
    """Tables of a report on two boards, by the names of their files."""
    batch = Batch.of_boards([("Td9d6hQc2s", 1.0), ("AsKs7s3s2d", 2.5)], river())
    report = BatchReport(JobOutcome(job, summary(solved())) for job in batch.jobs)
    tables = {"spots.csv": report.spots, "lines.csv": report.lines}
    return {name: rows_text(rows).encode() for name, rows in tables.items()}


@cache
def recipes() -> tuple[str, ...]:
    """The recipes that ship."""
    folder = files("equipoise.solve.training") / "recipes"
    found = sorted(
        (file.name, file.read_text("utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    )
    return tuple(text for _, text in found)
