"""Chromium, where one is installed: nothing is ever downloaded."""

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page, async_playwright

ARGUMENTS = (
    "--no-sandbox",  # tests also run as root, in containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str | None:
    """The path of an installed Chromium or Chrome."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name)) is not None), None)


@asynccontextmanager
async def browsing(
    profile: Path, *, scripts: bool = False, width: int = 1000, height: int = 760
) -> AsyncGenerator[Page]:
    """A page of a browser that knows nothing yet.

    Args:
        profile: An empty folder.
        scripts: Whether pages may run scripts.
        width: Of the window, in CSS pixels.
        height: Likewise.
    """
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch_persistent_context(
            profile,
            executable_path=chromium(),
            headless=True,
            args=list(ARGUMENTS),
            java_script_enabled=scripts,
            viewport={"width": width, "height": height},
        )
        try:
            yield browser.pages[0]
        finally:
            await browser.close()
