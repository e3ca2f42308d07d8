"""How good an agent is: AIVAT, local best response, exact values, openings."""
