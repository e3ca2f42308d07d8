"""Joint tables and transitions of buckets, and the games made of them."""
