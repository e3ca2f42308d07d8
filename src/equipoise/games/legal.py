"""What a player may do: which actions are legal, and between which amounts a raise is."""

from __future__ import annotations

from typing import NamedTuple


class LegalActions(NamedTuple):
    """What the player to act may do."""

    #: May fold: there is a bet to call.
    fold: bool
    #: May check or call: true until the hand is over.
    call: bool
    #: Smallest raise-to, 0 if no raise is allowed.
    raise_min: int
    #: Largest raise-to, 0 if no raise is allowed; in limit the same as the smallest.
    raise_max: int

    def __str__(self) -> str:
        """The sentence that error messages use.

        >>> str(LegalActions(True, True, 200, 20000))
        'fold, call or raise to 200-20000'
        """
        options = ["fold"] * self.fold
        if self.call:
            options.append("call" if self.fold else "check")
        if self.raise_min:
            many = f"-{self.raise_max}" if self.raise_max > self.raise_min else ""
            options.append(f"raise to {self.raise_min}{many}")
        if not options:
            return "nothing: the hand is over"
        return ", ".join(options[:-1]) + " or " * (len(options) > 1) + options[-1]
