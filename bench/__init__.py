"""Speed, memory and answers, measured side by side."""
