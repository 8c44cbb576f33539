"""The research agent: sessions, runs, the loop, the model and the sandbox."""
