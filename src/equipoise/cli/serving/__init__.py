"""Commands that serve others: the browser's pages."""
