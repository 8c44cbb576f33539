"""The model: a chat endpoint on the wire, what it can do, and the embedded default."""
