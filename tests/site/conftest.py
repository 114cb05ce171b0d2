"""The built site, served on this machine, and a browser on it.

`HOAD_SITE` says where the site is; then nothing may be missing. Without it, tests of the site are skipped where it has
not been built into build/site, or where there is no browser.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from quality.project import ROOT

ASKED = os.environ.get("HOAD_SITE")


def absent(what: str) -> NoReturn:
    if ASKED:
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    folder = Path(ASKED or ROOT / "build" / "site").resolve()
    if not (folder / "index.html").exists():
        absent(f"no site in {folder}: sphinx-build -W docs build/site")
    return folder


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window, driven by selenium."""
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        absent("selenium is not installed: pip install '.[docs]'")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver_found = shutil.which("chromedriver")
    if found is None or driver_found is None:
        absent("no browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = found
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for name in (
        *("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-dev-shm-usage"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
        f"user-data-dir={tmp_path_factory.mktemp('browser')}",
    ):
        options.add_argument(f"--{name}")
    driver = webdriver.Chrome(options, Service(driver_found))
    driver.set_page_load_timeout(30)
    yield driver
    driver.quit()
