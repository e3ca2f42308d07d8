"""What the article on Claudico claims, measured here."""
