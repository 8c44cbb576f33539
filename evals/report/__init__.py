"""What an evaluation found, for readers: a page, a table, a CSV file."""
