"""What a visitor does on the page, and what they look for."""

import re

from playwright.sync_api import Locator
from playwright.sync_api import Page as Tab

QUESTION = "When was the Suez Canal opened?"
ANSWER = "The Suez Canal, in 1869"


def ask(tab: Tab, question: str) -> None:
    box = tab.get_by_role("textbox")
    box.fill(question)
    box.press("Enter")


def stop_button(tab: Tab) -> Locator:
    return tab.get_by_role("button", name="Stop", exact=True)


def step(tab: Tab, number: int) -> Locator:
    return tab.get_by_role("button", name=re.compile(rf"^Step {number} · "))


def ended(tab: Tab, how: str = "Answered") -> Locator:
    return tab.locator("small", has_text=re.compile(rf"^{how}.* · \d+ steps? · "))
