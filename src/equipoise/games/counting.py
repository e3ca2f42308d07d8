"""How large a game is: its decision nodes, information sets and states, counted exactly.

A *decision node* is a betting sequence after which somebody acts. An *information set* is such a
node with the cards its player sees; a *state* is one with the cards of both players. Suits are not
identified with each other (Johanson, "Measuring the size of large no-limit poker games", 2013), so
a round with N decision nodes holds N × (deals one player can see) information sets.

No-limit is counted without a tree. A round that begins with s chips from each player has two
openings (bet, or check and let the other bet); from there the raises add increments d1 ≤ d2 ≤ …,
each at least the big blind b, so the ways to a raise-to of h < stack are the partitions of h − s
into parts of at least b; and from each of them there is one all-in. With F(s) the ways for the
round to begin at s and p(n) those partitions, put

    B(h) = Σ_s 2 F(s) p(h − s)        h < stack.

The round has Σ B nodes that may raise and as many that face an all-in, so 2 Σ B in all, and the
next round begins at h in B(h) − F(h) ways: by two checks, or by a call of a raise to h.
"""

from __future__ import annotations

import decimal
from collections import Counter
from dataclasses import dataclass
from math import comb

from equipoise.errors import TooLargeError
from equipoise.games.rules import CALL, FOLD, Rules, State, raise_to

#: Largest stack whose no-limit raises are counted one by one where the closed form does not apply.
_WALK_STACK = 250


@dataclass(frozen=True, slots=True)
class GameSize:
    """Exact sizes of a game."""

    #: Betting sequences after which a player acts, for each round.
    decision_nodes: tuple[int, ...]
    #: Information sets of both players together.
    information_sets: int
    #: Decision nodes with the cards of both players.
    states: int


def size(rules: Rules) -> GameSize:
    """Count a game.

    >>> from equipoise.games.rules import LIMIT_HOLDEM
    >>> size(LIMIT_HOLDEM).decision_nodes
    (8, 70, 630, 5670)
    >>> f"{size(LIMIT_HOLDEM).information_sets:,}"
    '319,365,922,522,608'
    """
    nodes = decision_nodes(rules)
    return GameSize(
        decision_nodes=nodes,
        information_sets=_with_deals(rules, nodes, players=1),
        states=_with_deals(rules, nodes, players=2),
    )


def _with_deals(rules: Rules, nodes: tuple[int, ...], players: int) -> int:
    left = rules.suits * rules.ranks
    deals, total = 1, 0
    for _ in range(players):
        deals *= comb(left, rules.hole_cards)
        left -= rules.hole_cards
    for count, board in zip(nodes, rules.board_cards, strict=True):
        deals *= comb(left, board)
        left -= board
        total += count * deals
    return total


def decision_nodes(rules: Rules) -> tuple[int, ...]:
    """Count the betting sequences of each round after which a player acts.

    >>> from equipoise.games.rules import nolimit
    >>> decision_nodes(nolimit(stack=20, small=1, big=2))
    (1188, 19996, 151124, 738540)
    """
    stack = min(rules.stacks)
    if (
        not rules.limit
        and rules.stacks == (stack, stack)
        and rules.max_raises == (None,) * rules.rounds
        and max(rules.blinds) < stack
    ):
        return _count_nolimit(rules)
    if not rules.limit and stack > _WALK_STACK:
        raise TooLargeError(
            f"a no-limit game with capped raises or unequal stacks of {stack} chips takes too long "
            f"to count: drop the cap, or measure in larger chips, at most {_WALK_STACK} a stack"
        )
    return _walk(rules)


def _count_nolimit(rules: Rules) -> tuple[int, ...]:
    stack = rules.stacks[0]
    ways = [0] * stack
    ways[max(rules.blinds)] = 1
    raising = _partitions(stack, rules.smallest_bet)
    nodes = []
    for _ in range(rules.rounds):
        reached = _convolve([2 * count for count in ways], raising)
        nodes.append(2 * sum(reached))
        ways = [after - before for after, before in zip(reached, ways, strict=True)]
    return tuple(nodes)


def _partitions(limit: int, least: int) -> list[int]:
    """Partitions of 0, 1, …, limit − 1 into parts of at least `least`.

    By the number of parts k: either the smallest part is `least`, or every part can lose 1.
    """
    total = [0] * limit
    total[0] = 1
    fewer = total.copy()
    for parts in range(1, (limit - 1) // least + 1):
        exactly = [0] * limit
        for n in range(parts * least, limit):
            exactly[n] = fewer[n - least] + exactly[n - parts]
            total[n] += exactly[n]
        fewer = exactly
    return total


def _convolve(first: list[int], second: list[int]) -> list[int]:
    """The first len(first) terms of the product of two series, exactly.

    Each series becomes the digits of one long decimal number (Kronecker's substitution), because
    :mod:`decimal` multiplies numbers of millions of digits by a number-theoretic transform.
    """
    terms = len(first)
    width = len(str(max(first) * max(second) * terms))
    context = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX)

    def pack(series: list[int]) -> decimal.Decimal:
        return context.create_decimal("".join(f"{term:0{width}d}" for term in reversed(series)))

    digits = str(context.multiply(pack(first), pack(second))).zfill(2 * terms * width)
    end = len(digits)
    return [int(digits[end - (n + 1) * width : end - n * width]) for n in range(terms)]


def _walk(rules: Rules) -> tuple[int, ...]:
    """Count by playing every raise, with states merged that have the same future."""
    nodes = [0] * rules.rounds
    frontier = Counter({State.start(rules): 1})
    while frontier:
        reached: Counter[State] = Counter()
        for state, count in frontier.items():
            if state.to_act is None:
                continue
            nodes[state.round] += count
            legal = state.legal()
            children = [state.apply(CALL)]
            if legal.fold:
                children.append(state.apply(FOLD))
            if legal.raise_min:
                children += [
                    state.apply(raise_to(amount))
                    for amount in range(legal.raise_min, legal.raise_max + 1)
                ]
            for child in children:
                # Of the history the future depends only on whether somebody has acted.
                acted = (CALL,) if child.history[-1] else ()
                reached[child._replace(history=(acted,), caller=None)] += count
        frontier = reached
    return tuple(nodes)
