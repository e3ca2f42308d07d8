"""Three hands all-in before the flop: every three classes of hole cards, in every order."""
