"""What the opponent learns in a gadget, between two sweeps: compiled, for it is done every iteration."""

from __future__ import annotations

from typing import Any

from equipoise.kernel import row_kernel


@row_kernel
def learn_to_follow(values: Any, gadget: Any, fading: Any, reach: Any) -> None:
    """Resolve: regret matching, hand by hand, of playing on against the alternative.

    `gadget` is (alternatives, held, regrets[2, hand], follow, average, weights, hair) with the weights by
    which ties are broken; `fading` the discounts of positive and negative regrets, their floor, how the
    average is kept and gains, and what is left of those weights. Writes the reach with which the
    opponent's hands begin next.
    """
    alternatives, held, regrets, follow, average, tie, hair = gadget
    positive, negative, floor = fading[0], fading[1], fading[2]
    keep, gain, left = fading[3], fading[4], fading[5]
    for h in range(values.shape[0]):
        if not held[h]:
            reach[h] = hair
            continue
        on, off = values[h], alternatives[h]
        got = follow[h] * on + (1.0 - follow[h]) * off
        first = regrets[0, h] * (positive if regrets[0, h] > 0.0 else negative) + (on - got)
        second = regrets[1, h] * (positive if regrets[1, h] > 0.0 else negative) + (off - got)
        first, second = max(first, floor), max(second, floor)
        regrets[0, h], regrets[1, h] = first, second
        first, second = max(first, 0.0), max(second, 0.0)
        total = first + second
        follow[h] = first / total if total > 0.0 else 0.5
        average[h] = keep * average[h] + gain * follow[h]
        reach[h] = max(follow[h] + left * tie[h], hair)


@row_kernel
def learn_to_pick(values: Any, gadget: Any, fading: Any, reach: Any) -> None:
    """Maxmargin: regret matching of one distribution over hands, gain (value - alternative) / mass.

    `gadget` is (alternatives, held, regrets[1, hand], picked, average, mass, hair); else as in
    :func:`learn_to_follow`.
    """
    alternatives, held, regrets, picked, average, mass, hair = gadget
    positive, negative, floor = fading[0], fading[1], fading[2]
    keep, gain = fading[3], fading[4]
    mean, most, hands = 0.0, 0.0, 0
    for h in range(values.shape[0]):
        if held[h]:
            mean += picked[h] * ((values[h] - alternatives[h]) / mass[h])
            most = max(most, mass[h])
            hands += 1
    total = 0.0
    for h in range(values.shape[0]):
        if held[h]:
            faded = regrets[0, h] * (positive if regrets[0, h] > 0.0 else negative)
            regrets[0, h] = max(faded + (values[h] - alternatives[h]) / mass[h] - mean, floor)
            total += max(regrets[0, h], 0.0)
    for h in range(values.shape[0]):
        if not held[h]:
            reach[h] = hair
            continue
        picked[h] = max(regrets[0, h], 0.0) / total if total > 0.0 else 1.0 / hands
        average[h] = keep * average[h] + gain * picked[h]
        reach[h] = max(picked[h] * (most / mass[h]), hair)
