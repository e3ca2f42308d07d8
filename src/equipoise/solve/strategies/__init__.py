"""What solvers answer: strategies, best responses, and what is done to them afterwards."""
