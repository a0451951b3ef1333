"""What a person does with the page and sees of it, in a Chromium that is installed."""

import os
import shutil

import pytest

# Set where these tests must run, as .ci/run does.
NEEDED = "MHA_GRADE_NEEDS_BROWSER"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium():
    """Where it is; skips the test where there is none, unless there has to be one."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None and NEEDED not in os.environ:
        pytest.skip("there is no Chromium on this computer")
    assert path is not None, f"{NEEDED} is set, and there is no Chromium"
    return path


def fill(page, text):
    """Put this text into the editor, in place of what is there."""
    page.get_by_role("textbox", name="self_attention.py").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def save(page):
    page.keyboard.press("Control+s")
    page.locator(".say").get_by_text("Saved: ").wait_for()


def walk(page, steps):
    """What the Tab key comes to, one after the other."""
    names = []
    for _ in range(steps):
        page.keyboard.press("Tab")
        names.append(focused(page))
    return names


def focused(page):
    return page.evaluate(
        """() => {
            const at = document.activeElement
            return at.getAttribute("aria-label") ?? at.innerText.replace(/\\s+/g, " ").trim()
        }"""
    )


def outline(page):
    return page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")


def sideways(page):
    """By how many pixels the page is wider than the screen."""
    return page.evaluate("() => document.documentElement.scrollWidth - innerWidth")


def is_in_sight(page, thing):
    """True where all of it is between the top, which stays, and the lower edge of the window."""
    box, top = thing.bounding_box(), page.locator("#top").bounding_box()
    lower = page.evaluate("() => innerHeight")
    return box["y"] >= top["height"] and box["y"] + box["height"] <= lower


def background(page):
    return page.evaluate("() => getComputedStyle(document.body).backgroundColor")


def editor(page):
    return page.get_by_role("textbox", name="self_attention.py").inner_text()
