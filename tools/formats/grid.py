"""The filled cells of a sheet as tables: cut at empty rows, without empty columns, merged values repeated."""

from collections.abc import Iterator, Sequence

from tools.formats.cells import column_name, place_of
from tools.tables import table_text

_MAX_MERGED = 200_000
_REPEATED = 300  # characters of a merged cell that are still repeated
_SPARSE = 40  # a table that is emptier than one cell in so many is a list of cells

Row = tuple[int, dict[int, str]]


class Grid:
    """Cells by row and column, counted from 1."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[int, str]] = {}
        self._spans: list[tuple[int, int, int, int]] = []

    def put(self, row: int, column: int, text: str) -> None:
        """Sets a cell that has something to show."""
        if text.strip():
            self._rows.setdefault(row, {})[column] = text.strip()

    def get(self, row: int, column: int) -> str:
        """What a cell shows."""
        return self._rows.get(row, {}).get(column, "")

    def merge(self, reference: str) -> None:
        """Notes that the cells of a range, like A1:C2, are one."""
        first, _, last = reference.partition(":")
        start, end = place_of(first), place_of(last)
        if start and end:
            self.span(*start, *end)

    def span(self, top: int, first: int, bottom: int, last: int) -> None:
        """Notes that the cells from (top, first) to (bottom, last) are one."""
        self._spans.append((top, first, bottom, last))

    def name(self, row: int, column: int) -> str:
        """What the sheet calls a cell."""
        return f"{column_name(column)}{row}"

    def rows(self) -> list[list[str]]:
        """The filled rows in full width, merged values repeated."""
        self._spread()
        width = max((column for cells in self._rows.values() for column in cells), default=0)
        return [
            [cells.get(at, "") for at in range(1, min(width, 1000) + 1)]
            for _, cells in sorted(self._rows.items())
        ]

    def blocks(self) -> tuple[list[str], list[tuple[tuple[str, ...], ...]]]:
        """The sheet as Markdown blocks, and its tables as rows of text, header first."""
        self._spread()
        texts: list[str] = []
        tables: list[tuple[tuple[str, ...], ...]] = []
        for block in _cut(sorted(self._rows.items())):
            columns = sorted({column for _, cells in block for column in cells})
            filled = sum(len(cells) for _, cells in block)
            if len(columns) == 1 and len(block) == 1:
                texts.append(next(iter(block[0][1].values())))
            elif len(columns) * len(block) > max(20_000, _SPARSE * filled):
                texts.append(
                    "\n".join(
                        f"- {column_name(at)}{row}: {' '.join(text.split())}"
                        for row, cells in block
                        for at, text in sorted(cells.items())
                    )
                )
            else:
                table = tuple(tuple(cells.get(column, "") for column in columns) for _, cells in block)
                texts.append(table_text(table[0], table[1:]))
                tables.append(table)
        return texts, tables

    def _spread(self) -> None:
        """Repeats a merged value in every cell that it covers, but a title over a whole row stays one."""
        left = _MAX_MERGED
        last_row = max(self._rows, default=0)
        last_column = max((column for cells in self._rows.values() for column in cells), default=0)
        for top, first, bottom, last in self._spans:
            text = self.get(top, first)
            alone = not any(column > last or column < first for column in self._rows.get(top, {}))
            if not text or len(text) > _REPEATED or (alone and top == bottom):
                continue
            bottom, last = min(bottom, last_row), min(last, last_column)
            left -= (bottom - top + 1) * (last - first + 1)
            if left < 0:
                return
            for row in range(top, bottom + 1):
                for column in range(first, last + 1):
                    self._rows.setdefault(row, {}).setdefault(column, text)
        self._spans = []


def _cut(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Pieces of a sheet: titles, and tables, of which one begins after an empty row with a row of words."""
    groups: list[list[Row]] = []
    for row in rows:
        if groups and row[0] == groups[-1][-1][0] + 1:
            groups[-1].append(row)
        else:
            groups.append([row])
    piece: list[Row] = []
    for group in groups:
        # A single row between empty ones belongs to what stands above it.
        if piece and (_only_titles(piece) or (len(group) > 1 and _is_head(group[0][1]))):
            yield from _parts(piece)
            piece = []
        piece += group
    if piece:
        yield from _parts(piece)


def _parts(piece: list[Row]) -> Iterator[list[Row]]:
    """The titles above a table, each alone, and the table."""
    while (
        piece and len(piece[0][1]) == 1 and (len(piece) == 1 or len(piece[1][1]) > 1 or _only_titles(piece))
    ):
        yield piece[:1]
        piece = piece[1:]
    if piece:
        yield piece


def _only_titles(piece: Sequence[Row]) -> bool:
    return len(piece) < 4 and all(len(cells) == 1 for _, cells in piece)


def _is_head(cells: dict[int, str]) -> bool:
    return not any(text[:1].isdigit() for text in cells.values())
