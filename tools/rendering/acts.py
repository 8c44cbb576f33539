"""What is done to a page once it stands.

Reading it and taking its picture are such acts; one that clicks or fills is
another function of this shape, and its page's requests are answered as ever.
"""

import asyncio
from collections.abc import Awaitable
from typing import Protocol, TypeVar

from playwright.async_api import Page

from tools.rendering.limits import RenderLimits

T_co = TypeVar("T_co", covariant=True)

_READ_SECONDS = 5.0
# In a world of its own: the page cannot have changed what these words mean. Open shadow roots are read as if
# they were ordinary content.
_READ = """(() => {
  const roots = [document];
  for (let at = 0; at < roots.length && at < 10000; at++)
    for (const element of roots[at].querySelectorAll("*"))
      if (element.shadowRoot) roots.push(element.shadowRoot);
  for (const root of roots.slice(1).reverse())
    while (root.firstChild) root.host.append(root.firstChild);
  return (document.documentElement ? document.documentElement.outerHTML : "").slice(0, %d);
})()"""


class Act(Protocol[T_co]):
    """Something done with a page that has settled. Its playwright Error, or a TimeoutError, ends the visit as NotRendered."""

    def __call__(self, page: Page, limits: RenderLimits) -> Awaitable[T_co]: ...


async def read_html(page: Page, limits: RenderLimits) -> str:
    """The page's HTML as it stands now."""
    async with asyncio.timeout(_READ_SECONDS):  # a script that never ends lets nobody in
        return await _html(page, limits)


async def _html(page: Page, limits: RenderLimits) -> str:
    wire = await page.context.new_cdp_session(page)
    frame = (await wire.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    world = await wire.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "reader"})
    answer = await wire.send(
        "Runtime.evaluate",
        {
            "expression": _READ % limits.text_chars,
            "contextId": world["executionContextId"],
            "returnByValue": True,
        },
    )
    return str(answer["result"].get("value") or "")


async def take_picture(page: Page, limits: RenderLimits) -> bytes:
    """A PNG of what a reader would see of the page first, 1280 pixels wide."""
    return await page.screenshot(animations="disabled", timeout=limits.settle_seconds * 1000)
