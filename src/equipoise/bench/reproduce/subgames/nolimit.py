"""No-limit Leduc: bets that the blueprint does not know, translated or solved again with the bet inside.

Ante 1, some chips behind, fractions of a chip allowed. The blueprint's tree has a bet of half the pot (h)
and all-in (a), one raise, all-in. The opponent of the seat that is measured may also bet the pot (p) and
twice the pot (d), in both rounds.

Translation reads such a bet as one of the two it knows, by the pseudo-harmonic mapping between half the
pot and all-in, drawn once and remembered; a line that is all-in in its own mind checks and calls. Nested
solving puts the bet into the tree and solves the rest again: his alternatives are what his hands could
have had, at their best, at the decision before the bet; later unknown bets are solved again in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from equipoise.bench.reproduce.subgames.sequences import (
    Floats,
    Gadgets,
    Part,
    Play,
    SequenceGame,
    solve_part,
)

Data = dict[str, Any]

#: Sizes in pots.
SIZES = {"h": 0.5, "p": 1.0, "d": 2.0}
#: Those that the blueprint does not know.
UNKNOWN = "pd"
_CARDS = range(3)
#: Chances of lines that a translated line may be; None is a line whose betting is over in its mind.
_Lines = dict[str | None, float]


def nolimit_leduc(behind: float, more: int | None = None) -> SequenceGame:
    """The game with so many chips behind the ante; seat `more` also has the unknown sizes."""
    game, top = SequenceGame(), 1.0 + behind

    def options(history: str, seat: int, chips: tuple[float, float]) -> list[tuple[str, float]]:
        if history and history[-1] in "hpda":
            facing = [("f", 0.0), ("c", max(chips))]
            return facing + ([("a", top)] if history[-1] != "a" else [])
        known = "h" + (UNKNOWN if seat == more else "")
        bets = [(size, chips[seat] + SIZES[size] * sum(chips)) for size in known]
        return [("k", chips[seat]), *(bet for bet in bets if bet[1] < top - 1e-9), ("a", top)]

    def bet(
        cards: tuple[int, int],
        board: int | None,
        chance: float,
        done: str,
        history: str,
        chips: tuple[float, float],
        at: tuple[int, int],
        seat: int,
    ) -> None:
        if max(chips) >= top - 1e-9 and min(chips) == max(chips):
            deal(cards, board, chance, done, chips, at)
            return
        offered = options(history, seat, chips)
        name = (cards[seat], board, done + history)
        first = game.infoset(seat, name, at[seat], len(offered))
        game.actions[board, done + history, seat] = [action for action, _ in offered]
        for i, (action, to) in enumerate(offered):
            after = (first + i, at[1]) if seat == 0 else (at[0], first + i)
            line = history + action
            if action == "f":
                payoff = chips[1] if seat else -chips[0]
                game.end(*after, chance, payoff, (*cards, board, done + line))
                continue
            paid = (to, chips[1]) if seat == 0 else (chips[0], to)
            if action == "c" or (action == "k" and history == "k"):
                deal(cards, board, chance, done + line, paid, after)
            else:
                bet(cards, board, chance, done, line, paid, after, 1 - seat)

    def deal(
        cards: tuple[int, int],
        board: int | None,
        chance: float,
        done: str,
        chips: tuple[float, float],
        at: tuple[int, int],
    ) -> None:
        if board is not None:
            mine, his = (3 if card == board else card for card in cards)
            game.end(*at, chance, chips[0] * ((mine > his) - (mine < his)), (*cards, board, done))
            return
        for dealt in _CARDS:
            left = 2 - (cards[0] == dealt) - (cards[1] == dealt)
            if left:
                bet(cards, dealt, chance * left / 4, done + "/", "", chips, at, 0)

    for a in _CARDS:
        for b in _CARDS:
            bet((a, b), None, 2 * (2 - (a == b)) / 30, "", "", (1.0, 1.0), (0, 0), 0)
    return game.close()


def chips_after(history: str, behind: float) -> list[float]:
    """Chips of both seats after a line."""
    chips, seat, top = [1.0, 1.0], 0, 1.0 + behind
    for action in history:
        if action == "/":
            seat = 0
            continue
        if action in SIZES:
            chips[seat] = min(top, chips[seat] + SIZES[action] * sum(chips))
        elif action == "c":
            chips[seat] = max(chips)
        elif action == "a":
            chips[seat] = top
        seat = 1 - seat
    return chips


class Translation:
    """A seat that reads every unknown bet as one that its blueprint knows."""

    def __init__(self, small: SequenceGame, play: Sequence[Play], seat: int, behind: float) -> None:
        self.small, self.own, self.seat, self.behind = small, play[seat], seat, behind
        lines = {name[2] for sets in small.sets for name in sets}
        lines |= {end.label[3] for end in small.terminals}
        self.lines = lines | {line[:i] for line in lines for i in range(len(line))}

    def readings(self, history: str | None, action: str) -> _Lines:
        """Lines of the blueprint after the opponent's action, and their chances."""
        if history is None:
            return {None: 1.0}
        if history + action in self.lines:
            return {history + action: 1.0}
        chips = chips_after(history, self.behind)
        size, small = SIZES.get(action, np.inf), 0.5
        large = (1 + self.behind - max(chips)) / sum(chips)
        if history + "h" not in self.lines or size >= large:
            return {history + "a" if history + "a" in self.lines else None: 1.0}
        low = 1.0
        if size > small:
            low = (large - size) * (1 + small) / ((large - small) * (1 + size))
        return {history + "h": low, history + "a": 1 - low}

    def behaviour(self, game: SequenceGame) -> Play:
        """What the seat plays in the true game."""
        found: Play = {}
        for card in _CARDS:
            self._walk(game, found, card, None, "", {"": 1.0})
        return found

    def _walk(
        self,
        game: SequenceGame,
        found: Play,
        card: int,
        board: int | None,
        history: str,
        lines: _Lines,
    ) -> None:
        acting = [s for s in (0, 1) if (board, history, s) in game.actions]
        if not acting:
            if history and history[-1] in "ck" and board is None:
                new = {
                    None if line is None or line + "/" not in self.lines else line + "/": chance
                    for line, chance in lines.items()
                }
                for dealt in _CARDS:
                    if (dealt, history + "/", 0) in game.actions:
                        self._walk(game, found, card, dealt, history + "/", new)
            return
        actions = game.actions[board, history, acting[0]]
        if acting[0] == self.seat:
            after = self._own(card, board, actions, lines)
            sums = np.array([sum(part.values()) for part in after])
            flat = np.full(len(actions), 1 / len(actions))
            found[card, board, history] = sums / sums.sum() if sums.sum() > 1e-14 else flat
        else:
            after = [self._read(lines, action) for action in actions]
        for action, new in zip(actions, after, strict=True):
            self._walk(game, found, card, board, history + action, new)

    def _read(self, lines: _Lines, action: str) -> _Lines:
        new: _Lines = {}
        for line, chance in lines.items():
            for read, share in self.readings(line, action).items():
                new[read] = new.get(read, 0.0) + chance * share
        return new

    def _own(self, card: int, board: int | None, actions: list[str], lines: _Lines) -> list[_Lines]:
        """Lines after each own action, with the chance that it is played."""
        after: list[_Lines] = [{} for _ in actions]

        def add(action: str, line: str | None, chance: float) -> None:
            slot = after[actions.index(action)]
            slot[line] = slot.get(line, 0.0) + chance

        passive = "k" if "k" in actions else "c"
        for line, weight in lines.items():
            known = (
                self.small.sets[self.seat].get((card, board, line)) if line is not None else None
            )
            if line is None or known is None:
                add(passive, None, weight)
                continue
            offered = self.small.actions[board, line, self.seat]
            for action, chance in zip(offered, self.own[card, board, line], strict=True):
                real = action
                if action not in actions:
                    real = "a" if action == "h" and "a" in actions else "c"
                add(real, line + action if line + action in self.lines else None, weight * chance)
        return after


def nested(
    game: SequenceGame, small: SequenceGame, play: Sequence[Play], seat: int, kind: Gadgets
) -> Play:
    """What the seat plays in the true game if every unknown bet is solved again, with it inside."""
    he = 1 - seat
    mine = game.uniform()[seat] | {n: p for n, p in play[seat].items() if n in game.sets[seat]}
    his = game.uniform()[he]
    for name, chances in play[he].items():
        known = dict(zip(small.actions[name[1], name[2], he], chances.tolist(), strict=True))
        his[name] = np.array([known.get(a, 0.0) for a in game.actions[name[1], name[2], he]])
    closed = {
        one.first + i
        for name, one in game.sets[he].items()
        for i, action in enumerate(game.actions[name[1], name[2], he])
        if action in UNKNOWN
    }
    lines = sorted({(b, h) for b, h, who in game.actions if who == he}, key=lambda key: len(key[1]))
    for board, history in lines:
        for action in game.actions[board, history, he]:
            if action in UNKNOWN:
                mine |= _after_bet(game, [mine, his] if seat == 0 else [his, mine], seat, kind,
                                   (board, history, action), closed)  # fmt: skip
    return mine


def _after_bet(
    game: SequenceGame,
    both: Sequence[Play],
    seat: int,
    kind: Gadgets,
    bet: tuple[int | None, str, str],
    closed: set[int],
) -> Play:
    """What the seat plays after an unknown bet, solved again."""
    he, (board, history, action) = 1 - seat, bet
    start = history + action

    def fits(on: Any, line: str, begin: str) -> bool:
        here = board is None or on == board
        return here and line.startswith(begin) and not set(line[len(begin) :]) & set(UNKNOWN)

    ends = [(i, end.label) for i, end in enumerate(game.terminals)]
    inside = [i for i, label in ends if fits(label[2], label[3], start)]
    before = [i for i, label in ends if fits(label[2], label[3], history)]
    mine, his = game.plan(seat, both), game.plan(he, both)
    held = [(h, board, history) for h in _CARDS if (h, board, history) in game.sets[he]]
    worth = game.values(he, mine, before, closed=closed)[1]
    weight = {name[0]: float(his[game.sets[he][name].parent]) for name in held}
    if kind != "unsafe" or sum(weight.values()) < 1e-9:
        weight = dict.fromkeys(weight, 1.0)
    mass = dict.fromkeys(weight, 0.0)
    for hand, card in {
        (game.terminals[i].label[he], game.terminals[i].label[seat]) for i in inside
    }:
        chance = 2 * (2 - (hand == card)) / 30
        if board is not None:
            chance *= (2 - (hand == board) - (card == board)) / 4
        mass[hand] += chance * float(mine[game.sets[seat][card, board, start].parent])
    if max(mass.values()) < 1e-9:
        return {}
    part = Part(
        inside,
        lambda name: fits(name[1], name[2], start),
        lambda name: name[0] if len(name) == 3 else name[he],
    )
    alternatives = {name[0]: worth[name] for name in held}
    found = solve_part(game, seat, part, mine, weight, kind, alternatives, mass, closed=closed)
    new = game.play(seat, found.plan, both)
    return {name: new[name] for name in new if fits(name[1], name[2], start)}


def nested_table(behind: float) -> Data:
    """Exploitability of both seats above the true game's value: translated, and by nested solving."""
    small = nolimit_leduc(behind)
    play, _ = small.equilibrium()
    rows: dict[str, list[float]] = {}
    for seat in (0, 1):
        game = nolimit_leduc(behind, 1 - seat)
        _, value = game.equilibrium()
        flat = game.uniform()
        answers = {"translation": Translation(small, play, seat, behind).behaviour(game)}
        kinds: tuple[Gadgets, ...] = ("resolve", "maxmargin", "unsafe")
        for kind in kinds:
            answers[f"nested {kind}"] = nested(game, small, play, seat, kind)
        for name, own in answers.items():
            both = [own, flat[1]] if seat == 0 else [flat[0], own]
            lost: Floats = np.array(game.exploitability(both, value))
            rows.setdefault(name, []).append(float(lost[seat]))
    return {"behind": behind, "rows": rows}
