"""The walks of sampling a second time, slow and plain: their referee on both kinds of deals."""

from __future__ import annotations

import numpy as np

from equipoise.abstraction.boardindex import RENAMED_COMBO, board_place
from equipoise.cards.combos import combo_index
from equipoise.cards.evaluator import evaluate
from equipoise.games.nodes import DEAL, SHOWDOWN

MASK = (1 << 64) - 1


class Stream:
    """The random numbers of a thread, in plain integers."""

    def __init__(self, state):
        self.state = int(state)

    def number(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def unit(self):
        return (self.number() >> 11) * 2.0**-53


def slow_holdem(deals):
    """Deal nine cards; buckets by renaming boards and hands, result by the evaluator."""
    tables = deals.lookup

    def deal(stream):
        deck, drawn = list(range(52)), []
        for count in (4, 5):
            fraction = stream.number() & ((1 << 58) - 1)
            for _ in range(count):
                fraction *= 52 - len(drawn)
                i, j = len(drawn), len(drawn) + (fraction >> 58)
                fraction &= (1 << 58) - 1
                deck[i], deck[j] = deck[j], deck[i]
                drawn.append(deck[i])
        assert len(set(drawn)) == 9
        board = drawn[4:]
        buckets = []
        for hole in (drawn[:2], drawn[2:4]):
            combo = combo_index(*hole)
            path = [int(tables.preflop_child[0, tables.preflop_feature[combo]])]
            for size, feature, child in (
                (3, tables.flop_feature, tables.flop_child),
                (4, tables.turn_feature, tables.turn_child),
                (5, tables.river_feature, tables.river_child),
            ):
                place, renaming = board_place(board[:size])
                found = feature[place, RENAMED_COMBO[renaming, combo]]
                path.append(int(child[path[-1] if len(child) > 1 else 0, found]))
            buckets.append(path)
        mine, theirs = (evaluate([*hole, *board]) for hole in (drawn[:2], drawn[2:4]))
        return buckets, [np.sign(mine - theirs)] * 4

    return deal


def slow_listed(deals):
    """Draw a line of the list, by the alias method."""
    keep, other = deals.tables
    every = deals.dealt(np.float64)

    def deal(stream):
        spot = stream.unit() * len(keep)
        line = int(spot)
        if spot - line >= keep[line]:
            line = int(other[line])
        here = slice(line * int(every.width), (line + 1) * int(every.width))
        bucket = every.bucket[here].astype(int).tolist()
        return [bucket[0::2], bucket[1::2]], every.result[here][0::2].tolist()

    return deal


class SlowSampling:
    """Sampling over the betting tree as it is written, one number at a time."""

    def __init__(self, sampler, deal):
        self.rule, self.deal, self.layout = sampler.rule, deal, sampler.layout
        self.betting, self.real = sampler.layout.betting, sampler.rows.dtype.type
        self.rows = np.zeros_like(sampler.rows)
        self.stream = Stream(sampler.streams[0])
        self.scheme = sampler.scheme
        self.iteration = self.skipped = self.early = 0

    def advance(self, count):
        rule, pruning, real = self.rule, self.rule.pruning, self.real
        for _ in range(count):
            self.iteration += 1
            for player in (0, 1):
                self.buckets, self.result = self.deal(self.stream)
                self.weight = real(self.iteration if rule.linear else 1)
                self.pruning = False
                if pruning is not None and self.iteration > pruning.after:
                    self.pruning = self.stream.unit() < pruning.share
                    self.threshold = -real(pruning.chips) * self.weight
                self.floor = -real(rule.floor_chips) * self.weight
                self.player = player
                if self.scheme == "external":
                    self.external(0)
                elif self.scheme == "outcome":
                    self.outcome(0, real(1))
                else:
                    self.chance(0, self.weight)

    def past_deals(self, node):
        betting = self.betting
        while betting.kind[node] == DEAL:
            node = int(betting.next_root[node])
        return node

    def pays(self, node):
        betting, real, street = self.betting, self.real, self.betting.round_of(node)
        self.early += betting.kind[node] == SHOWDOWN and street + 1 < betting.rounds
        sign = -1 if self.player else 1
        result = real(sign * self.result[street])
        return real(betting.even[node, self.player]) + real(betting.swing[node]) * result

    def numbers(self, node):
        """Regrets and averages at a decision, in the bucket of who decides."""
        player, street = int(self.betting.kind[node]), self.betting.round_of(node)
        return self.layout.block(self.rows, node)[self.buckets[player][street]]

    def matched(self, regrets):
        positive, total = np.maximum(regrets, 0), self.real(0)
        for part in positive:
            total += part
        even = np.full(len(regrets), self.real(1) / self.real(len(regrets)))
        return positive / total if total > 0 else even

    def outcome(self, node, drawn):
        """One line of play; `drawn` is the probability of the player's own actions on it."""
        node = self.past_deals(node)
        if self.betting.kind[node] > 1:
            return self.pays(node) * (self.weight / drawn)
        mine, (regrets, average) = self.betting.kind[node] == self.player, self.numbers(node)
        strategy, children = self.matched(regrets), self.betting.children(node)
        chances = strategy
        if mine:
            explored = self.real(self.rule.exploration)
            chances = explored / self.real(len(strategy)) + (self.real(1) - explored) * strategy
        else:
            average += self.weight * strategy / drawn
        left, chosen = self.real(self.stream.unit()), len(strategy) - 1
        for a, part in enumerate(chances):
            if left >= 0 and part > 0:
                chosen = a
            left -= part
        if not mine:
            return self.outcome(children[chosen], drawn)
        worth = self.outcome(children[chosen], drawn * chances[chosen])
        mean = worth * strategy[chosen]
        gains = np.where(np.arange(len(strategy)) == chosen, worth, self.real(0)) - mean
        regrets[:] = np.maximum(regrets + gains, self.floor)
        return mean

    def chance(self, node, reach):
        """Every line of play; `reach` is the opponent's, times the weight of the iteration."""
        node = self.past_deals(node)
        if self.betting.kind[node] > 1:
            return self.pays(node)
        mine, (regrets, average) = self.betting.kind[node] == self.player, self.numbers(node)
        strategy = self.matched(regrets)
        if not mine:
            average += reach * strategy
        values, worth = np.zeros_like(strategy), self.real(0)
        for a, child in enumerate(self.betting.children(node)):
            if mine or strategy[a] > 0:
                values[a] = self.chance(child, reach if mine else reach * strategy[a])
        for part, value in zip(strategy, values, strict=True):
            worth += part * value
        if mine:
            regrets[:] = np.maximum(regrets + reach * (values - worth), self.floor)
        return worth

    def external(self, node):
        """All actions of the player, one of the opponent's."""
        betting, real = self.betting, self.real
        node = self.past_deals(node)
        kind, street = int(betting.kind[node]), betting.round_of(node)
        if kind > 1:
            return self.pays(node)
        regrets, average = self.numbers(node)
        positive = [max(r, real(0)) for r in regrets]
        total = real(0)
        for part in positive:
            total += part
        actions, children = len(positive), betting.children(node)
        if kind != self.player:
            if total > 0:
                left, scale, chosen = real(self.stream.unit()) * total, self.weight / total, 0
                for a, part in enumerate(positive):
                    average[a] += part * scale
                    if left >= 0 and part > 0:
                        chosen = a
                    left -= part
            else:
                chosen = int(self.stream.unit() * actions)
                average += self.weight / real(actions)
            return self.external(children[chosen])
        skipped = set()
        if self.pruning and street + 1 < betting.rounds and total > 0:
            skipped = {
                a
                for a, child in enumerate(children)
                if regrets[a] < self.threshold and betting.kind[self.past_deals(child)] < 2
            }
        self.skipped += len(skipped)
        values = {a: self.external(child) for a, child in enumerate(children) if a not in skipped}
        mean, plain = real(0), real(0)
        for a, value in values.items():
            mean += positive[a] * value
            plain += value
        worth = mean / total if total > 0 else plain / real(actions)
        for a, value in values.items():
            regrets[a] = max(regrets[a] + self.weight * (value - worth), self.floor)
        return worth
