"""A question as search terms."""

import re

# fmt: off
_STOP = frozenset("""
    become became need needs once use used using called go goes went make made happen happened
    a about above after again all also although am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few find for from further get give had
    has have having he her here hers him his how i if in into is it its itself just let list many me more
    most much my name no nor not of off on once one only or other our out over own per please same say search
    she should show so some such tell than that the their them then there these they this those through to
    too under until up us very was we were what when where which while who whom whose why will with would you
    your
""".split())
# fmt: on

# What a question asks for, and the words in which documents say it.
_ALSO = {
    "tall": ("high", "height"), "high": ("tall", "height", "elevation"), "tallest": ("height", "highest", "tall"),
    "highest": ("height", "tallest", "elevation", "high"), "height": ("tall", "high", "elevation"),
    "elevation": ("height",), "long": ("length",), "longest": ("length", "long"), "length": ("long",),
    "deep": ("depth",), "deepest": ("depth", "deep"), "depth": ("deep",), "wide": ("width",), "width": ("wide",),
    "far": ("distance",), "distance": ("far",), "heavy": ("mass", "weight"), "heaviest": ("mass", "weight", "heavy"),
    "mass": ("weight",), "weight": ("mass",), "fast": ("speed",), "fastest": ("speed", "fast"), "hot": ("temperature",),
    "hottest": ("temperature", "hot"), "cold": ("temperature",), "coldest": ("temperature", "cold"), "old": ("age",),
    "oldest": ("age", "old", "year"), "big": ("size", "large", "diameter"), "biggest": ("largest", "size", "diameter"),
    "large": ("size", "big", "diameter"), "largest": ("biggest", "size", "large", "diameter"),
    "smallest": ("size", "small", "diameter"), "year": ("date", "built", "opened"), "date": ("year",),
    "born": ("birth",), "birth": ("born",), "died": ("death", "dead"), "death": ("died",),
    "built": ("completed", "opened", "construction"), "opened": ("built", "completed", "opening"),
    "wrote": ("written", "author"), "written": ("wrote", "author"), "author": ("wrote", "written"),
    "invented": ("inventor", "invention"), "inventor": ("invented",), "discovered": ("discovery", "discoverer"),
    "discoverer": ("discovered",), "composed": ("composer",), "composer": ("composed",), "speak": ("speakers", "spoken"),
    "speakers": ("spoken", "speak"), "spoken": ("speakers", "speak"), "people": ("population", "inhabitants"),
    "population": ("people", "inhabitants"), "launched": ("launch",), "launch": ("launched",), "capital": ("city",),
    "symbol": ("sign",), "moons": ("satellites",), "satellites": ("moons",), "cost": ("price",), "price": ("cost",),
}  # fmt: skip

Term = tuple[str, ...]
"""A word of the question, then those that mean the same."""

_MAX_TERMS = 24


def terms_of(question: str) -> list[Term]:
    """The words that matter, each with others that mean the same; all of them when none would be left."""
    words = list(dict.fromkeys(re.findall(r"[^\W_]+(?:['’][^\W_]+)?", question.casefold())))
    words = [re.sub(r"['’]s$", "", word) for word in words]
    useful = [word for word in words if word not in _STOP] or words
    return [(word, *_ALSO.get(word, ())) for word in useful[:_MAX_TERMS]]


def quoted(alternatives: Term) -> str:
    """One term in FTS5's language: no character of it is read as an operator."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in alternatives)
