"""Pages as their scripts make them, in a Chromium that has no network of its own."""
