"""What host and box both run: `limits.py`, `frames.py`, and the values that may cross (`codec.py` and its readers)."""
