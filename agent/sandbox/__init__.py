"""The sandbox: the only place where the model's code runs."""
