"""The web as the settings have it: the manners of fetching, and the places to search."""

import hashlib

from agent.settings import Settings
from tools.exchange import FetchLimits
from tools.fetch import Fetcher
from tools.manners import Closed, Manners, all_open
from tools.pace import Pace
from tools.proxy import parse_proxy
from tools.rendering.chromium import chromium_here
from tools.rendering.limits import RenderLimits
from tools.rendering.renderer import Renderer
from tools.robots import Robots
from tools.search.arxiv import ArxivSearch, is_about_papers
from tools.search.brave import BraveSearch
from tools.search.chain import SearchChain
from tools.search.embeddings import Embedder, EmbeddingsEndpoint
from tools.search.engines import Engines
from tools.search.library import Library
from tools.search.results import SearchProvider
from tools.search.searxng import SearxngSearch
from tools.search.serpapi import SerpApiSearch
from tools.search.serper import SerperSearch
from tools.search.tavily import TavilySearch
from tools.search.web import WebSearch
from tools.search.wikipedia import WikipediaSearch, is_for_wikipedia

ENGINES = {
    "serper": "serper_api_key", "brave": "brave_api_key", "tavily": "tavily_api_key", "serpapi": "serpapi_api_key",
    "searxng": "searxng_url",
}  # fmt: skip
"""The engines that need a setting, best first, and the setting."""

# An engine that takes longer is passed over for the next one.
_ENGINE_LIMITS = FetchLimits(connect_seconds=3, silence_seconds=6, total_seconds=6)
_ENGINES_SECONDS = 9.0
_ARXIV_SECONDS = 3.0


def manners_of(settings: Settings, closed: Closed = all_open) -> Manners:
    """What the operator decided about every fetch; shared by all sessions. `closed`: what nobody may read."""
    return Manners(
        ports=frozenset(settings.web_ports),
        proxy=parse_proxy(settings.web_proxy.get_secret_value()) if settings.web_proxy else None,
        robots=Robots(settings.robots),
        pace=Pace(settings.host_seconds),
        archive=settings.archive_retry,
        closed=closed,
    )


def build_library(settings: Settings) -> Library:
    """The library of the settings' folder; its index is kept in the cache, one for each folder and model."""
    folder, embedder = settings.library_dir.resolve(), embedder_of(settings)
    key = hashlib.sha256(f"{folder} {embedder.name if embedder else ''}".encode("utf-8", "surrogateescape"))
    index = settings.cache_dir / "library" / f"{key.hexdigest()[:12]}.sqlite"
    return Library(folder, index, embedder=embedder)


def embedder_of(settings: Settings) -> Embedder | None:
    """The model of embeddings that is set up; None when the library is searched by words only."""
    if not settings.embeddings_url:
        return None
    token = settings.embeddings_token.get_secret_value() if settings.embeddings_token else ""
    return EmbeddingsEndpoint(settings.embeddings_url, settings.embeddings_model, token)


def renderer_of(settings: Settings) -> Renderer | None:
    """Runs the scripts of pages, for all sessions; None where that is off or there is no Chromium."""
    chromium = chromium_here() if settings.render == "auto" else None
    if chromium is None:
        return None
    limits = RenderLimits(
        seconds=settings.render_seconds,
        settle_seconds=settings.render_seconds * 0.4,
        idle_seconds=settings.render_idle_seconds,
        memory_bytes=settings.render_memory_mb << 20,
    )
    return Renderer(chromium, limits)


def build_search(settings: Settings, library: Library, manners: Manners) -> SearchChain:
    """The library, the web engines that are set up (without any, the keyless one), Wikipedia and arXiv."""
    local = settings.allow_local_web
    api = Fetcher(limits=_ENGINE_LIMITS, allow_local=local, manners=Manners(proxy=manners.proxy))
    slow = Manners(proxy=manners.proxy, pace=Pace(_ARXIV_SECONDS, together=1))
    papers = Fetcher(limits=_ENGINE_LIMITS, allow_local=local, manners=slow)
    engines = _engines(settings, api)
    keyless = WebSearch(proxy=settings.web_proxy.get_secret_value() if settings.web_proxy else None)
    web: SearchProvider = Engines([*engines, keyless], seconds=_ENGINES_SECONDS) if engines else keyless
    return SearchChain(
        [library, web, WikipediaSearch(api), ArxivSearch(papers)],
        mode=settings.search,
        patience=_ENGINES_SECONDS + 1 if engines else 4.0,
        reachable=api.reachable,
        occasions={"wikipedia": is_for_wikipedia, "arxiv": is_about_papers},
        closed=manners.closed,
    )


def _engines(settings: Settings, api: Fetcher) -> list[SearchProvider]:
    """Those with a key or an address, best first."""
    found: list[SearchProvider] = []
    if settings.serper_api_key:
        found.append(SerperSearch(api, settings.serper_api_key.get_secret_value()))
    if settings.brave_api_key:
        found.append(BraveSearch(api, settings.brave_api_key.get_secret_value()))
    if settings.tavily_api_key:
        found.append(TavilySearch(api, settings.tavily_api_key.get_secret_value()))
    if settings.serpapi_api_key:
        found.append(SerpApiSearch(api, settings.serpapi_api_key.get_secret_value()))
    if settings.searxng_url:
        # The operator named it, so it may stand in the operator's own network, where no proxy leads.
        own = Fetcher(limits=_ENGINE_LIMITS, allow_local=True)
        found.append(SearxngSearch(own, settings.searxng_url))
    return found
