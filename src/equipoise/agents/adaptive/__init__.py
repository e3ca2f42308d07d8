"""An agent that models its opponent, believes by Bayes' rule, and plays the best answer it sees."""
