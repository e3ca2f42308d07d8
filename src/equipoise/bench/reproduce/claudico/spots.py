"""Three rivers on which endgames by buckets are judged.

A is an ordinary one. B is the board of the article's example: three spades, and a straight for whoever
holds an ace or a nine; ranges and stack are chosen so that all-in for eleven pots is used. C is B with
all-in as the only bet, where who bluffs has one answer. Weights are sums of powers of two, so that nothing is
rounded where ranges are kept in 32 bits.
"""

from __future__ import annotations

from dataclasses import replace

from equipoise.games.menu import BetMenu
from equipoise.games.spot import Spot

SPOT_A = Spot(
    "Kh 9s 5d 8c 2h",
    "22-66,77:0.5,99:0.25,A2s-A9s,A7o-A9o:0.25,ATs:0.5,K2s-K9s,KTs:0.5,K8o-KTo:0.5,Q8s-QTs,J8s-JTs,"
    "J9o:0.25,T7s-T9s,T9o:0.25,96s-98s,98o:0.5,85s-87s,74s-76s,64s-65s,54s",
    "22-55:0.5,66-TT,JJ-AA:0.5,A2s-A8s:0.5,A9s-AQs,ATo-AQo:0.25,AKs,AKo:0.75,K8s-KQs,KTo-KJo:0.5,"
    "KQo,Q9s-QJs,J9s-JTs,T8s-T9s,97s-98s,87s,76s,65s",
    pot=400,
    stack=800,
    menu=BetMenu.from_dict({"bets": "50%,100%,a", "raises": "a"}),
    name="spot A",
)
SPOT_B = Spot(
    "Js Ts 4s Kc Qh",
    "22-33:0.5,55-88:0.5,99:0.25,A2s-A9s:0.5,A9o:0.25,K2s-K9s:0.5,Q2s-Q9s:0.5,J7s-J9s:0.5,"
    "T7s-T9s:0.5,95s-98s:0.5,84s-87s:0.5,73s-76s:0.5,62s-65s:0.5,52s-54s:0.5,42s-43s:0.5,32s,"
    "32o:0.75,As9s,As8s,As7s,As6s,As5s,As3s,As2s",
    "22-33:0.5,55-99:0.5,44:0.25,A2s-A9s:0.25,K2s-K9s:0.5,K9o:0.25,Q2s-Q9s:0.5,J7s-J9s:0.5,"
    "T7s-T9s:0.5,96s-98s:0.5,85s-87s:0.5,74s-76s:0.5,63s-65s:0.5,53s-54s:0.5,As9s:0.125,As8s:0.125,"
    "As7s:0.125,As6s:0.125,As5s:0.125,As3s:0.125,As2s:0.125,Ks9s,Ks8s,Ks7s,Ks6s,Ks5s,Ks3s,Ks2s",
    pot=1700,
    stack=19150,
    menu=BetMenu.from_dict({"bets": "50%,200%,a", "raises": ""}),
    name="spot B",
)
SPOT_C = replace(SPOT_B, menu=BetMenu.from_dict({"bets": "a", "raises": ""}), name="spot C")
#: What the player out of position has, in chips, by exact linear program.
EXACT_EV_OOP_CHIPS = {"A": 165.916027, "B": 802.865162, "C": 823.295978}
SPOTS = {"A": SPOT_A, "B": SPOT_B, "C": SPOT_C}
