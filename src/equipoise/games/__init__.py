"""Rules, bet menus and public trees: the games that everything else solves and plays."""
