"""Google's filters as its own addresses write them, which Serper and SerpAPI pass on."""

from tools.search.results import Filters


def with_site(query: str, filters: Filters) -> str:
    """The query with the site operator that most engines understand."""
    return f"{query} site:{filters.site}" if filters.site else query


def tbs(filters: Filters) -> str:
    """Google's `tbs`: dates and language; empty for none."""
    parts = []
    if filters.after or filters.before:
        parts.append("cdr:1")
    if filters.after:
        parts.append(f"cd_min:{filters.after:%m/%d/%Y}")
    if filters.before:
        parts.append(f"cd_max:{filters.before:%m/%d/%Y}")
    if filters.language:
        parts.append(f"lr:lang_1{filters.language}")
    return ",".join(parts)
