"""The built site: what its pages refer to is there, and they read well on a phone and a desk, by day and by night."""

from __future__ import annotations

import base64
import html.parser
import json
import re
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PHONE, DESK = (390, 844), (1280, 900)
WAIT = 10  # seconds


class References(html.parser.HTMLParser):
    """The addresses that a page refers to, and the names in it that can be referred to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.addresses.append(value)
            if name in ("id", "name") and value:
                self.names.add(value)


def pages_of(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def shown(browser: Any, width: int, height: int, dark: bool = False) -> None:
    """Make the window a phone's or a desk's."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def until(browser: Any, condition: Callable[[Any], Any]) -> Any:
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(browser, WAIT).until(condition)


def elements(browser: Any, selector: str) -> list[Any]:
    found: list[Any] = browser.find_elements("css selector", selector)
    return found


def visible(browser: Any, selector: str) -> Any:
    return until(browser, lambda b: next((e for e in elements(b, selector) if e.is_displayed()), None))


@pytest.fixture
def desk(browser: Any, address: str) -> Iterator[Any]:
    """The landing page in a wide window; at the end, nothing may have been complained of."""
    shown(browser, *DESK)
    browser.get(f"{address}/index.html")
    yield browser
    assert complaints(browser) == []


def complaints(browser: Any) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def test_what_pages_refer_to_is_there(site: Path) -> None:
    pages = {path: References(path.read_text()) for path in pages_of(site)}
    missing = []
    for path, references in pages.items():
        for reference in references.addresses:
            parts = urllib.parse.urlsplit(reference)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            fragment = urllib.parse.unquote(parts.fragment)
            found = target.is_file() or (target / "index.html").is_file()
            if not found or (fragment and target in pages and fragment not in pages[target].names):
                missing.append(f"{path.relative_to(site)}: {reference}")
    assert not missing, "\n".join(missing)


def test_pictures_are_described(site: Path) -> None:
    """For those who do not see them: a text that is not a file name."""
    for path in pages_of(site):
        for picture in re.findall(r"<img [^>]*>", path.read_text()):
            text = re.search(r'alt="([^"]*)"', picture)
            assert text and text[1] and not text[1].endswith((".svg", ".png")), f"{path.relative_to(site)}: {picture}"


def test_pages_need_nothing_from_elsewhere(site: Path) -> None:
    """No script, style, font or picture comes from another place."""
    for path in pages_of(site):
        for tag in ("<script", "<link", "<img"):
            for part in path.read_text().split(tag)[1:]:
                assert "://" not in part.split(">")[0], f"{path.relative_to(site)}: {tag}{part.split('>')[0]}>"


def test_pages_do_not_name_the_machine(site: Path) -> None:
    for path in pages_of(site):
        text = path.read_text()
        assert "ipykernel" not in text and str(Path.home()) not in text and "/tmp/" not in text, path


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_pages_fit_and_are_complete(browser: Any, address: str, site: Path, size: tuple[int, int]) -> None:
    """No page is wider than the window, no picture is missing, and the console stays empty."""
    shown(browser, *size, dark=size == PHONE)
    problems = []
    for path in pages_of(site):
        name = path.relative_to(site).as_posix()
        browser.get(f"{address}/{name}")
        width = browser.execute_script("return document.documentElement.scrollWidth")
        if width > size[0]:
            problems.append(f"{name}: {width} pixels wide")
        lost = "return [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)"
        problems += [f"{name}: no picture {source}" for source in browser.execute_script(lost)]
        problems += [f"{name}: {message}" for message in complaints(browser)]
    assert not problems, "\n".join(problems)


LUMINANCE = """
const light = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const behind = e => {
    while (e && /rgba\\(.*, 0\\)|transparent/.test(getComputedStyle(e).backgroundColor)) e = e.parentElement;
    return e ? getComputedStyle(e).backgroundColor : 'rgb(255, 255, 255)';
};
return [...document.querySelectorAll('article p, article pre span, article code, article th')]
    .filter(e => e.textContent.trim()).slice(0, 400).map(e => {
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), e.textContent.slice(0, 30), light(behind(e))];
})
"""


@pytest.mark.parametrize("dark", [False, True], ids=["day", "night"])
def test_letters_stand_out(browser: Any, address: str, dark: bool) -> None:
    """A contrast of at least 4, and a dark page by night."""
    shown(browser, *PHONE, dark=dark)
    for name in (
        "index",
        "tutorial",
        "cheat-sheet",
        "sharp-edges",
        "worked-examples/expression-graphs",
        "reference/what-hoad-sees",
    ):
        browser.get(f"{address}/{name}.html")
        for contrast, text, background in browser.execute_script(LUMINANCE):
            assert contrast >= 4, f"{name}: {text!r} has a contrast of {contrast:.1f}"
            assert dark == (background < 0.2), f"{name}: {text!r}"


def test_navigation_on_a_desk(desk: Any) -> None:
    card = next(e for e in elements(desk, ".sd-card a") if e.get_attribute("href").endswith("tutorial.html"))
    desk.execute_script("arguments[0].click()", card)
    until(desk, lambda b: b.current_url.endswith("tutorial.html"))
    assert elements(desk, "h1")[0].text.startswith("Tutorial")
    visible(desk, ".sidebar-tree a[href$='by-hand.html']").click()
    until(desk, lambda b: b.current_url.endswith("by-hand.html"))
    desk.execute_script("arguments[0].click()", visible(desk, ".related-pages .next-page"))
    until(desk, lambda b: "worked-examples/index.html" in b.current_url)


def test_navigation_on_a_phone(browser: Any, address: str) -> None:
    shown(browser, *PHONE)
    browser.get(f"{address}/index.html")
    link = elements(browser, ".sidebar-tree a[href$='tutorial.html']")[0]
    assert browser.execute_script("return arguments[0].getBoundingClientRect().right", link) <= 0
    visible(browser, "label[for='__navigation']").click()
    until(browser, lambda b: b.execute_script("return arguments[0].getBoundingClientRect().left", link) >= 0)
    until(browser, lambda b: browser.execute_script("arguments[0].click(); return true", link))
    until(browser, lambda b: b.current_url.endswith("tutorial.html"))


def test_search(desk: Any) -> None:
    box = visible(desk, ".sidebar-search")
    box.send_keys("hessian")
    box.submit()
    until(desk, lambda b: "search.html" in b.current_url)
    until(desk, lambda b: any("hoad.hessian" in e.text for e in elements(b, "#search-results li")))
    until(desk, lambda b: elements(b, "#search-results li a[href*='tutorial.html']"))  # they come one after the other


# What a user would search for, and the page whose title, or one of whose headings, has the word.
ANSWERS = {
    "install": "install",
    "performance": "performance",
    "gpu": "faq",
    "sparse": "howto/sparse",
    "cite": "cite",
    "faq": "faq",
    "jit": "howto/jit",
    "pandas": "faq",
    "optimize": "howto/optimise",
    "hessian": "howto/dense",
    "nan": "howto/nan",
    "ode": "howto/ode",
}


@pytest.mark.parametrize("word", ANSWERS)
def test_search_finds_the_page_that_answers(site: Path, word: str) -> None:
    english = pytest.importorskip("sphinx.search.en").SearchEnglish({})
    text = (site / "searchindex.js").read_text()
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    found = index["titleterms"].get(english.stem(word), [])
    pages = [index["docnames"][k] for k in (found if isinstance(found, list) else [found])]
    assert ANSWERS[word] in pages


def test_cheat_sheet_fits_on_one_sheet(browser: Any, address: str) -> None:
    shown(browser, *DESK)
    browser.get(f"{address}/cheat-sheet.html")
    paper = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": False, "printBackground": False}
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1


def test_code_tabs(desk: Any, address: str) -> None:
    """A choice of library holds for all blocks of the page."""
    desk.get(f"{address}/howto/coming-from.html")
    labels = [e for e in elements(desk, ".sd-tab-label") if e.text == "JAX"]
    assert len(labels) == len(elements(desk, ".sd-tab-set")) == 4
    assert not [e for e in elements(desk, ".sd-tab-content") if "jax" in e.text]
    desk.execute_script("arguments[0].scrollIntoView({block: 'center'})", labels[0])
    labels[0].click()
    until(desk, lambda b: len([e for e in elements(b, ".sd-tab-content") if "jax" in e.text]) == 4)


def test_night_can_be_chosen(desk: Any) -> None:
    background = "return getComputedStyle(document.body).backgroundColor"
    before = desk.execute_script(background)
    for _ in range(3):
        visible(desk, ".theme-toggle").click()
        if desk.execute_script("return document.body.dataset.theme") == "dark":
            break
    until(desk, lambda b: b.execute_script(background) != before)
    desk.execute_script("localStorage.clear()")
