"""What the agent can do to the world: search, browse, read files. Knows none of the rooms above."""
