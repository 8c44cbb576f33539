"""The file readers beside their peers: `python -m bench.tools` measures, prints and writes bench/tools.json and bench/tools.md.

`corpus.py` finds the files and what is known about each; `converters.py` is the
program that runs one converter, in a process that `driven.py` watches;
`scores.py` and `ooxml.py` compare what came out with what is known; `made.py`
and `behaviours.py` measure what needs no corpus; `table.py` puts it together.

CORPUS_DIR names a folder with a folder for each of `html`, `pdf`, `office`,
`encodings` and `misc`. Each holds `MANIFEST.tsv`, tab-separated and unquoted,
with the columns `path` (below that folder; its first part is the suite) and
`truth` (empty, or the path below CORPUS_DIR of a JSON file). A truth is one of

    {"kind": "article", "text": …}            the words of the main content
    {"kind": "article_html", "html": …}       the same as HTML
    {"kind": "markdown" | "text", "text": …}  the words of the whole
    {"kind": "snippets", "with": […], "without": […]}
    {"kind": "table", "rows": [[…]], "rowspan": bool} or {"kind": "tables", "tables": [[[…]]]}
    {"kind": "decode", "text": …}             the whole text, decoded

and may name the page's address as "url". `encodings/html5lib/*.dat` are
html5lib's tests of the prescan.
"""
