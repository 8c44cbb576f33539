"""One run as its log holds it, for tests that only read: two steps, one that went wrong, an answer."""

from agent.events import (
    CodeRun,
    CodeWritten,
    Event,
    Notice,
    Outcome,
    OutputPrinted,
    RunEnded,
    RunStarted,
    Source,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    ToolEnded,
    ToolStarted,
    Usage,
)

QUESTION = "Which of the bridges over the Orme is the oldest?"

_CODE_1 = 'results = web_search("bridges over the Orme")\nresults'
_CODE_2 = """pages = [visit_page(result.url) for result in results[:2]]
for page in pages:
    year = re.search(r"opened in (\\d{4})", page.text)
    print(page.title.ljust(20), year.group(1) if year else "?")"""
_CODE_3 = 'final_answer(f"The Old Stone Bridge, opened in {oldest}, is the oldest.")'
_CODE_4 = """final_answer(
    "The Old Stone Bridge, opened in 1741 [1], is the oldest; the Quill Bridge followed in 1893 [2].",
    sources=[
        ("https://orme.example/old-stone", "was opened in 1741"),
        ("https://orme.example/quill", "the iron bridge of 1893"),
    ],
)"""

RUN: list[Event] = [
    RunStarted(QUESTION, "Qwen2.5-Coder-1.5B-Instruct", "web + library", "1 full", ("bridges.xlsx",), 12),
    StepStarted(1),
    ThoughtWritten(1, "I look for a list of "),
    ThoughtWritten(1, "the bridges over the Orme."),
    CodeWritten(1, _CODE_1[:20]),
    CodeWritten(1, _CODE_1[20:]),
    CodeRun(1, _CODE_1),
    ToolStarted(1, 1, "web_search", "bridges over the Orme"),
    ToolEnded(1, 1, True, 1.4, "5 results"),
    OutputPrinted(1, "1. Quill Bridge\n   https://orme.example/quill\n   An iron bridge over the Orme …\n"),
    OutputPrinted(
        1, "2. Old Stone Bridge\n   https://orme.example/old-stone\n   Seven arches of sandstone …\n"
    ),
    StepEnded(1, 2.1, Usage(1480, 52), "searched, 5 results"),
    StepStarted(2),
    ThoughtWritten(2, "The list names three bridges; I read the first two and look for `opened in <year>`."),
    CodeWritten(2, _CODE_2),
    CodeRun(2, _CODE_2),
    ToolStarted(2, 1, "visit_page", "orme.example/quill"),
    ToolEnded(2, 1, True, 0.4, "Quill Bridge, page 1 of 1"),
    ToolStarted(2, 2, "visit_page", "orme.example/old-stone"),
    ToolEnded(2, 2, True, 0.3, "Old Stone Bridge, page 1 of 2"),
    OutputPrinted(2, "Quill Bridge         1893\nOld Stone Bridge     1741\n"),
    StepEnded(2, 4.8, Usage(2310, 118), "read 2 pages"),
    StepStarted(3),
    ThoughtWritten(3, "The older of the two is clear."),
    CodeRun(3, _CODE_3),
    StepEnded(3, 1.2, Usage(2560, 40), "", "NameError: name 'oldest' is not defined (line 1)."),
    Notice("The endpoint is busy; it is asked again in 2 s."),
    StepStarted(4),
    ThoughtWritten(4, "I name the year and the sources."),
    CodeRun(4, _CODE_4),
    ToolStarted(4, 1, "final_answer", "The Old Stone Bridge, opened in 1741 …"),
    ToolEnded(4, 1, True, 0.0, "2 of 2 quotes found"),
    StepEnded(4, 3.0, Usage(2700, 96), "answered"),
    RunEnded(
        Outcome.ANSWERED,
        "The Old Stone Bridge, opened in 1741 [1], is the oldest; the Quill Bridge followed in 1893 [2].",
        (
            Source(
                "https://orme.example/old-stone",
                "Old Stone Bridge",
                "was opened in 1741",
                "verified",
                "page 1",
            ),
            Source("https://orme.example/quill", "Quill Bridge", "the iron bridge of 1893", "unverified"),
            Source("library://rivers/orme.md", "Orme (river)", "", "located", "line 12"),
        ),
        "",
        11.6,
        Usage(9050, 306),
        4,
    ),
]
