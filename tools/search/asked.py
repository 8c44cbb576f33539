"""Search filters as a model's code writes them."""

import re
from datetime import date, datetime, timedelta
from typing import Any

from tools.archive import day
from tools.errors import BadArguments
from tools.search.results import Filters


def filters_of(site: Any, after: Any, before: Any, language: Any) -> Filters:
    """The filters that were meant. Raises BadArguments."""
    host = re.sub(r"^(https?://)?(www\.)?", "", str(site or "").strip().lower()).split("/")[0]
    host = host.removeprefix("site:").removeprefix("*.").strip(".")
    if host and not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*", host):
        raise BadArguments(f"site must be the name of a site, not {site!r}: write it as 'nasa.gov'.")
    code = str(language or "").strip().lower()[:2]
    if code and not re.fullmatch(r"[a-z]{2}", code):
        raise BadArguments(f"language must be two letters, not {language!r}: write 'de' for German.")
    return Filters(host, _date(after, first=True), _date(before, first=False), code)


def _date(value: Any, *, first: bool) -> date | None:
    """The day that was meant: of a year or a month alone its first or its last one."""
    if value in (None, ""):
        return None
    if isinstance(value, date):
        return value
    text = str(value).strip()
    whole = datetime.strptime(day(text), "%Y%m%d").date()
    parts = len(re.findall(r"\d+", text[:10])) if not re.fullmatch(r"\d{8}.*", text) else 3
    if first or parts >= 3:
        return whole
    month = whole.month if parts == 2 else 12
    return date(whole.year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
