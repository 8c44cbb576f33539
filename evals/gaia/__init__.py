"""GAIA (Mialon et al. 2023): its gated dataset, and the file that its leaderboard takes.

Nothing of GAIA's content belongs into this repository, not even as an example.
"""

NOTICE = """\
This folder holds questions, answers or traces of GAIA (gaia-benchmark/GAIA), a gated benchmark.
Whoever was given access has agreed not to reshare it outside of a gated or private repository, and
not in a form that crawlers can read. It must never be part of a training set: benchmark data that
models were trained on measures nothing. Keep this notice beside every copy.
"""

FORM = """\
End with final_answer, and give it nothing but the answer: a number, as few words as possible, or a \
list of these separated by commas. Write a number in digits, without thousands separators, and without \
a unit such as $ or % unless the question asks for it. Write words without articles and abbreviations. \
Keep to these rules inside of a list."""
