"""What the experiments print and draw."""
