"""The research agent: sessions, runs, the loop, the model and the sandbox."""

import os

# smolagents, as it is imported, would load the next `.env` of any folder above into the environment.
os.environ["PYTHON_DOTENV_DISABLED"] = "1"
