"""How a run is shown: the page, the terminal, the API."""
