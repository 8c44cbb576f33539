"""A file a family of formats: each turns the bytes of one kind of file into a Document."""
