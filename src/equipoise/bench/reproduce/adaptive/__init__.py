"""The adaptive agent's document: players predicted, its figures and its failure, and matches."""
