"""The picture of a real run that the README shows."""

import re
from pathlib import Path

from playwright.sync_api import Browser, expect


def screenshot(browser: Browser, address: str, question: str, target: Path, timeout: float) -> None:
    """Ask on the page at `address` and save what it shows when the answer is there, its first step opened.

    `timeout`: seconds for the whole run.
    """
    tab = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
    try:
        tab.goto(address)
        tab.get_by_role("textbox").fill(question)
        tab.get_by_role("textbox").press("Enter")
        expect(tab.locator("small", has_text=re.compile(r"^Answered.* · \d+ steps? · "))).to_be_visible(
            timeout=timeout * 1000
        )
        tab.get_by_role("button", name=re.compile(r"^Step 1 · ")).click()
        tab.wait_for_timeout(600)
        tab.locator("#chat [role=log]").evaluate("log => log.scrollTo(0, 0)")
        target.parent.mkdir(parents=True, exist_ok=True)
        tab.screenshot(path=target)
    finally:
        tab.close()
