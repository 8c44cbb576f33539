"""How good the answers are, measured."""
