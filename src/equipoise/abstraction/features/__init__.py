"""Exact features of hands over all boards, and the kernels that count them."""
