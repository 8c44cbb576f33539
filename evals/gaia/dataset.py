"""The questions of GAIA with their attachments, from the Hub or from a folder.

Two layouts are read: `metadata.parquet` with attachments beside it (since
October 2025), and the older `metadata.jsonl`. A folder may be the dataset's
root (which has 2023/validation and 2023/test in it), or a split's own folder.
"""

import json
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

from agent.errors import ResearchError
from evals.gaia import FORM, NOTICE
from evals.questions import Question, QuestionSet, by_id, content_of
from evals.results import is_full

DATASET = "gaia-benchmark/GAIA"
SPLITS = ("validation", "test")

_YEAR = "2023"
_COLUMNS = ("task_id", "Question", "Level", "Final answer", "file_name")
_UNKNOWN = "?"


class GaiaNotAvailable(ResearchError):
    """The dataset cannot be had, or is not as it was."""


def fetch_gaia(split: str, token: str | None, endpoint: str | None = None) -> Path:
    """The folder of that split, downloaded once and kept in the Hub's own cache. Raises GaiaNotAvailable."""
    page = f"https://huggingface.co/datasets/{DATASET}"
    if not token:
        raise GaiaNotAvailable(
            f"GAIA is a gated dataset and HF_TOKEN is not set: accept its conditions on {page}, then set"
            " HF_TOKEN, or name a folder that holds the dataset with --folder."
        )
    try:
        root = snapshot_download(
            DATASET,
            repo_type="dataset",
            allow_patterns=f"{_YEAR}/{split}/*",
            token=token,
            endpoint=endpoint,
        )
    except (GatedRepoError, RepositoryNotFoundError) as error:
        raise GaiaNotAvailable(
            f"HF_TOKEN has no access to GAIA: accept the conditions on {page} with the account of that token,"
            " and let the token read gated repositories."
        ) from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        if isinstance(error, OSError) and is_full(error):
            raise
        raise GaiaNotAvailable(
            f"The Hub does not give out GAIA ({_why(error)}): check HF_TOKEN and the network, or name a folder"
            " that holds the dataset with --folder."
        ) from error
    return Path(root) / _YEAR / split


def load_gaia(folder: Path, split: str) -> QuestionSet:
    """All questions of a split. Raises GaiaNotAvailable."""
    places = (folder / _YEAR / split, folder / split, folder)
    rows, place = next(
        (
            (read(place / name), place)
            for place in places
            for name, read in _LAYOUTS
            if (place / name).is_file()
        ),
        (None, folder),
    )
    if rows is None:
        raise GaiaNotAvailable(
            f"{folder} holds neither metadata.parquet nor metadata.jsonl of {split}: name the folder of the dataset."
        )
    questions = [_question(row, number, place) for number, row in enumerate(rows, 1)]
    by_id(questions)
    return QuestionSet(f"gaia {split}", tuple(questions), form=FORM, notice=NOTICE)


def _parquet(path: Path) -> list[dict[str, Any]]:
    # Only now: no other set needs it, and with pandas it takes half a second.
    from fastparquet import ParquetFile

    try:
        file = ParquetFile(str(path))
        frame = file.to_pandas(columns=[name for name in _COLUMNS if name in file.columns])
    except Exception as error:  # the reader has no error of its own for a damaged file
        reason = str(error) or type(error).__name__
        raise GaiaNotAvailable(f"{path.name} cannot be read ({reason}): fetch the dataset again.") from error
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def _jsonl(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text("utf-8").split("\n")
        return [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise GaiaNotAvailable(f"{path.name} cannot be read ({error}): fetch the dataset again.") from error


_LAYOUTS = (("metadata.parquet", _parquet), ("metadata.jsonl", _jsonl))


def _question(row: dict[str, Any], number: int, place: Path) -> Question:
    missing = [name for name in _COLUMNS if not isinstance(row, dict) or name not in row]
    if missing:
        raise GaiaNotAvailable(
            f"Row {number} of the dataset has no {missing[0]!r}: GAIA has changed, so this version cannot read it."
        )
    level = str(row["Level"])
    if level not in ("1", "2", "3"):
        raise GaiaNotAvailable(
            f"Row {number} of the dataset has the level {level[:20]!r}: GAIA has changed, so this version cannot read it."
        )
    # Only the name: what a dataset says about places must not lead out of its folder.
    name = Path(str(row["file_name"] or "")).name
    if name and not (place / name).is_file():
        raise GaiaNotAvailable(
            f"The attachment {name} of question {row['task_id']} is missing in {place}: fetch the dataset again."
        )
    files = (place / name,) if name else ()
    answer = str(row["Final answer"])
    return Question(
        id=str(row["task_id"]),
        question=str(row["Question"]),
        answer="" if answer == _UNKNOWN else answer,
        level=int(level),
        files=files,
        content=content_of(files),
    )


def _why(error: BaseException) -> str:
    """The Hub's status, where it answered at all; its client hides that in the cause."""
    for each in (error, error.__cause__):
        response = getattr(each, "response", None)
        if response is not None:
            return f"HTTP {response.status_code}"
    return getattr(error, "strerror", None) or "no answer"
