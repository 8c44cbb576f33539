"""Builds a world on disk, once: its site, its redirects and its questions.

site/             what is served: pages, files, sitemap.xml
attachments/      what is attached to questions
redirects.json    address -> address
questions.jsonl   the form that `evals.questions` reads; `evidence` too
index.sqlite      what its search knows, made at its first use
"""

import fcntl
import json
import shutil
from pathlib import Path

from evals.world.facts import Facts
from evals.world.files import files
from evals.world.pages import pages, redirects
from evals.world.place import world_place
from evals.world.questions import as_question, posed

QUESTIONS = 60


def build_world(folder: Path, seed: int, count: int = QUESTIONS) -> Path:
    """The world's folder, made when it is not there yet: a broken-off one is made anew."""
    place = world_place(folder, seed)
    if place.exists():
        return place
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several workers of one machine may want the same world
        if not place.exists():
            _build(folder / f".{place.name}.part", seed, count).rename(place)
    return place


def _build(draft: Path, seed: int, count: int) -> Path:
    shutil.rmtree(draft, ignore_errors=True)
    facts = Facts(seed)
    site = draft / "site"
    paths = []
    for path, content in (*pages(facts), *files(facts)):
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(content)
        paths.append(path)
    (site / "sitemap.xml").write_text(_sitemap(paths), "utf-8")
    (draft / "redirects.json").write_text(json.dumps(redirects(facts), indent=0), "utf-8")
    _questions(draft, facts, count)
    return draft


def _questions(draft: Path, facts: Facts, count: int) -> None:
    rows = []
    for number, each in enumerate(posed(facts, count), 1):
        row = as_question(number, each, facts.seed).row()
        if each.attached:
            name, content = each.attached
            path = Path("attachments") / row["id"] / name
            (draft / path).parent.mkdir(parents=True)
            (draft / path).write_bytes(content)
            row["files"] = [str(path)]
        rows.append(row | {"evidence": each.evidence})
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (draft / "questions.jsonl").write_text(text, "utf-8")


def _sitemap(paths: list[str]) -> str:
    places = "".join(f"<url><loc>/{path}</loc></url>\n" for path in sorted(paths))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n'
