"""Search: one file a provider, one chain."""
