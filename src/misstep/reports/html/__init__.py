"""One page for the browser, which opens offline: what was found, and every bug step by step."""
