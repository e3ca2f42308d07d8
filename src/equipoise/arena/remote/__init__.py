"""Play over HTTP, hand by hand, in the words of Slumbot's public server."""
