"""The benchmark over HTTP: an agent that any client may play, and how well each of them did."""
