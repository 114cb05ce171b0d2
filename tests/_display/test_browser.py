"""The page to explore a program in, in a real browser: what a click, a key and a search do."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _display.programs import HOSTILE, PROGRAMS, branching, by_hand, chain, rosenbrock

import hoad
from hoad._display import page as making
from hoad._program.program import Program

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,860"),
)
BOUND = 1.0  # seconds that a choice in a large page may take on a busy machine
READY = 30.0  # seconds that a page may take to be read

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window; where the site is tested too, it may not be missing."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (chromium and driver and importlib.util.find_spec("selenium")):
        (pytest.fail if os.environ.get("HOAD_SITE") else pytest.skip)("needs chromium, chromedriver and selenium")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driven = webdriver.Chrome(options=options, service=Service(driver))
    yield driven
    driven.quit()


class Page:
    """A page in the browser."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector)).strip()

    def click(self, selector: str) -> None:
        self.driver.find_element("css selector", selector).click()

    def click_row(self, number: str) -> None:
        self.run(
            "return [...document.querySelectorAll('.rows .row')]"
            ".find((row) => row.querySelector('.number').textContent === arguments[0])",
            number,
        ).click()

    def actions(self) -> Any:
        """What a mouse and keys do, at once: by default a pointer is moved for a quarter of a second."""
        from selenium.webdriver import ActionChains

        return ActionChains(self.driver, duration=0)

    def click_graph(self, number: str, times: int = 1) -> None:
        """In the graph, where the node or the fold of this number stands."""
        canvas = self.driver.find_element("id", "canvas")
        x, y = self.run("return tape.positionOf(arguments[0])", number)
        at = round(x - canvas.rect["width"] / 2), round(y - canvas.rect["height"] / 2)
        chain = self.actions().move_to_element_with_offset(canvas, *at)
        (chain.click() if times == 1 else chain.double_click()).perform()

    def rows(self, tape: int) -> list[str]:
        """The numbers of the rows that exist of a tape, from top to bottom."""
        return self.run(  # type: ignore[no-any-return]
            "return [...document.querySelectorAll('.tape')[arguments[0]].querySelectorAll('.rows .row')]"
            ".sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) => row.querySelector('.number').textContent)",
            tape - 1,
        )

    def numbers(self, selector: str) -> list[str]:
        """The numbers of rows, in one answer of the browser."""
        return self.run(  # type: ignore[no-any-return]
            "return [...document.querySelectorAll(arguments[0])].map((row) => row.querySelector('.number').innerText)",
            selector,
        )

    def opened(self) -> list[str]:
        return self.numbers('.fold[aria-expanded="true"]')

    def wait(self) -> None:
        """Until the page has been read."""
        end = time.perf_counter() + READY
        while not self.run("return Boolean(window.tape)"):
            assert time.perf_counter() < end, "the page is not read"
            time.sleep(0.01)

    def spent(self, script: str, *arguments: Any) -> float:
        """Milliseconds that a script takes, and the frame after it, as the page measures them."""
        return self.run(  # type: ignore[no-any-return]
            f"const begun = performance.now(); {script}; return new Promise((done) => requestAnimationFrame("
            "() => requestAnimationFrame(() => done(performance.now() - begun))))",
            *arguments,
        )

    def keys(self, *keys: str) -> None:
        self.actions().send_keys(*keys).perform()

    @property
    def chosen(self) -> str | None:
        return self.run("return tape.chosen")  # type: ignore[no-any-return]

    @property
    def relations(self) -> dict[str, set[str]]:
        """The numbers of the nodes that are marked, by what they are."""
        found: dict[str, set[str]] = {}
        for number, name in self.run("return tape.relations()").items():
            found.setdefault(name, set()).add(number)
        return found

    def rows_marked(self, name: str) -> set[str]:
        return set(self.numbers(f".rows .row.{name}"))

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


Show = Callable[..., Page]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Opens the page of a program; at the end no error may have been logged."""
    browser.set_window_size(1280, 860)
    page = Page(browser)
    page.errors()

    def opened(program: Program, address: str = "", **options: Any) -> Page:
        file = tmp_path / f"tape{len(list(tmp_path.iterdir()))}.html"
        program.explore(file, **options)
        browser.get(file.as_uri() + address)
        page.wait()
        return page

    yield opened
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert page.errors() == []


def hand() -> Program:
    return hoad.gradient(hoad.record(by_hand, 2.0, 3.0), simplify=False)


def test_choosing_a_node_marks_all_that_belongs_to_it(show: Show) -> None:
    page = show(hand())
    page.click_row("@2")
    assert page.chosen == "@2"
    assert page.relations == {
        "chosen": {"@2"},
        "user": {"@4", "@5", "@19"},
        "adjoint": {"@21"},
        "contribution": {"@18", "@20"},
    }
    for name, numbers in page.relations.items():
        assert page.rows_marked(name) == numbers, "the tables show it, of both tapes"
    details = page.text("#details")
    for said in (
        "@2 = y",
        "Used by (3)",
        "∇@2 = ∇¹@2 + ∇²@2",
        "∇¹@2 = ∇@5 * 4",
        "∇²@2 = ∇@4 * @3",
        "28.2525",
        "input",
    ):
        assert said in details
    (chosen,) = page.all('.row[aria-selected="true"]')
    assert page.all(f'[aria-activedescendant="{chosen.get_attribute("id")}"]')


def test_a_node_shows_its_value_and_the_users_line(show: Show) -> None:
    page = show(hand())
    page.click_row("@6")
    details = page.text("#details")
    assert repr(float(np.sin(12.0))) in details and "b = np.sin(4 * y)" in details and "programs.py:" in details
    page.click_row("@17")
    assert page.relations["target"] == {"@5"} and page.relations["operand"] == {"@13", "@16"}
    assert "adjoint of what" in page.text("#details") and "Emitted by the sweep over" in page.text("#details")


def test_a_click_in_the_graph(show: Show) -> None:
    page = show(hand())
    for number in ("@8", "@21"):
        page.click_graph(number)
        assert page.chosen == number and number in page.rows_marked("chosen")
    canvas = page.driver.find_element("id", "canvas")
    corner = round(3 - canvas.rect["width"] / 2), round(3 - canvas.rect["height"] / 2)
    page.actions().move_to_element_with_offset(canvas, *corner).click().perform()
    assert page.chosen is None and not page.relations


def test_dragging_and_zooming_move_the_graph(show: Show) -> None:
    page = show(hand())
    canvas = page.driver.find_element("id", "canvas")
    where = "return tape.positionOf('@8').concat(tape.positionOf('@21'))"
    before = page.run(where)
    page.actions().move_to_element_with_offset(canvas, 0, 120).click_and_hold().move_by_offset(
        40, 20
    ).release().perform()
    after = page.run(where)
    np.testing.assert_allclose(np.subtract(after, before), [40, 20, 40, 20], atol=1.5)
    assert page.chosen is None, "a drag chooses nothing"
    page.driver.find_element("id", "closer").click()
    closer = page.run(where)
    assert np.hypot(closer[2] - closer[0], closer[3] - closer[1]) > 1.2 * np.hypot(
        after[2] - after[0], after[3] - after[1]
    )
    page.keys("0")
    np.testing.assert_allclose(page.run(where), before, atol=1.5)


def test_keys(show: Show) -> None:
    from selenium.webdriver.common.keys import Keys

    page = show(hand())
    page.keys(Keys.ARROW_DOWN)
    assert page.chosen == "@1"
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert page.chosen == "@3"
    page.keys(Keys.ARROW_UP)
    assert page.chosen == "@2"
    page.keys("a")
    assert page.chosen == "@21"
    page.keys("a")
    assert page.chosen == "@2"
    page.keys(Keys.END)
    assert page.chosen == "@9"
    page.keys(Keys.ARROW_LEFT)
    assert page.chosen == "@4"
    page.keys(Keys.ARROW_RIGHT)
    assert page.chosen == "@9"
    page.keys(Keys.HOME)
    assert page.chosen == "@1"
    page.keys(Keys.ESCAPE)
    assert page.chosen is None
    page.keys("?")
    assert page.all("dialog[open]")
    page.keys(Keys.ESCAPE)
    assert not page.all("dialog[open]")


def test_search(show: Show) -> None:
    from selenium.webdriver.common.keys import Keys

    page = show(hand())
    page.keys("/", "np.sin")
    assert page.run("return document.activeElement.id") == "search"
    assert page.text("#found") == "5 nodes", "by the line, in both tapes"
    assert page.rows_marked("found") >= {"@5", "@6"}
    page.keys(Keys.ENTER)
    assert page.chosen == "@5" and page.text("#found") == "1 of 5"
    page.actions().key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
    assert page.text("#found") == "5 of 5"
    page.keys(Keys.ESCAPE)
    assert page.text("#found") == "" and page.run("return document.activeElement.id") != "search"
    page.keys("/", "@2")
    assert page.text("#found") == "1 node", "a number finds its node alone"
    page.keys(Keys.ENTER)
    assert page.chosen == "@2"
    page.keys(Keys.ESCAPE, "/", "nowhere")
    assert page.text("#found") == "none found"


def test_search_finds_first_what_is_called_so(show: Show) -> None:
    """An input, an output, an operation, an adjoint or a number; then what holds the text somewhere."""
    from selenium.webdriver.common.keys import Keys

    page = show(hand())
    hits = "return tape.model.hits.map((k) => tape.model.label(k))"
    for text, exact, least in (
        ("y", ["@2"], 3),  # in lines too
        ("∇y", ["@21"], 1),
        ("output", ["@9"], 3),
        ("SIN", ["@6"], 5),
        ("multiply", [f"@{k}" for k in (3, 4, 5, 7, 8, 13, 14, 15, 17, 18, 19, 20, 22)], 13),
        ("∇@4", ["@11"], 3),
        ("12", ["@12"], 4),
    ):
        page.keys(Keys.ESCAPE, "/", text)
        found = page.run(hits)
        assert found[: len(exact)] == exact and len(found) >= least and len(set(found)) == len(found), text
        said = f"{len(found)} nodes, {len(exact)} exact" if len(found) > len(exact) else f"{len(found)} node"
        assert page.text("#found").startswith(said)
    page.keys(Keys.ESCAPE, "/", "y", Keys.ENTER)
    assert page.chosen == "@2"


def test_an_address_names_a_node(show: Show) -> None:
    page = show(hand(), "#@18")
    assert page.chosen == "@18"
    page.click_row("@13")
    assert page.driver.current_url.endswith("#%4013")


def test_names_are_text(show: Show) -> None:
    page = show(PROGRAMS["hostile"](), title=HOSTILE)
    page.click_row("@2")
    assert HOSTILE in page.text("#details") and page.text("h1") == HOSTILE and page.driver.title == HOSTILE
    assert not page.all("body b") and not page.all("[onclick]")


def test_branches(show: Show) -> None:
    page = show(hoad.record(branching, 2.0))
    page.click_row("@2")
    assert "The function branched on this: it was True at" in page.text("#details")
    page = show(hoad.gradient(hoad.record(branching, 2.0)))
    page.click_row("@2")
    assert "adjoint" not in page.text("#details"), "a boolean has none"


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_opens(name: str, show: Show) -> None:
    """And every node can be chosen."""
    page = show(PROGRAMS[name]())
    said = page.run(
        """
        const size = tape.model.count, details = document.getElementById("details");
        const chosen = size ? [0, Math.floor(size / 3), Math.floor(size / 2), size - 1] : [];
        const said = chosen.map((k) => (tape.choose(k, "test"), details.innerText.trim()));
        return new Promise((done) => requestAnimationFrame(() => done(said)));
        """
    )
    assert all(said), said


def test_without_tapes(show: Show) -> None:
    assert "No nodes" in show(Program()).text("#details")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(scheme: str, show: Show) -> None:
    page = show(hand())
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )

    def brightness() -> float:
        colour = page.run("return getComputedStyle(document.body).backgroundColor")
        return float(np.mean([int(part) for part in colour.strip("rgb()").split(",")]))

    assert (brightness() > 128) is (scheme == "light")
    page.driver.find_element("id", "theme").click()
    assert (brightness() > 128) is (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(scheme: str, show: Show) -> None:
    """Text on every ground it stands on, by WCAG 2: at least 4.5 to 1."""
    page = show(hand())
    page.run("document.documentElement.dataset.theme = arguments[0]", scheme)

    def luminance(name: str) -> float:
        text = page.run("return getComputedStyle(document.documentElement).getPropertyValue(arguments[0])", f"--{name}")
        parts = np.array([int(text.strip().lstrip("#")[k : k + 2], 16) for k in (0, 2, 4)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    pairs = [("text", ground) for ground in ("back", "panel", "hover", "chosen", "box", "input", "output")]
    pairs += [("quiet", "panel"), ("quiet", "back"), ("panel", "focus"), ("user", "frame"), ("quiet", "frame")]
    for name in ("operand", "user", "adjoint", "contribution", "target"):
        pairs += [(name, f"{name}-back"), ("text", f"{name}-back"), ("quiet", f"{name}-back")]
    low = {}
    for one, other in pairs:
        high, deep = sorted((luminance(one), luminance(other)), reverse=True)
        ratio = (high + 0.05) / (deep + 0.05)
        if ratio < 4.5:
            low[one, other] = round(ratio, 2)
    assert not low


def test_on_a_phone(show: Show) -> None:
    page = show(hand())
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    )
    page.driver.refresh()
    page.wait()
    assert page.run("return document.documentElement.scrollWidth") <= 390
    page.click_row("@4")
    shown = page.run("const b = document.getElementById('details').getBoundingClientRect(); return [b.top, b.bottom]")
    assert 0 < shown[0] < shown[1] <= 844
    page.driver.find_element("css selector", "button[data-view=graph]").click()
    assert page.run("return document.getElementById('canvas').clientWidth") == 390
    for node in (20, 4, 9):
        page.run("tape.choose(arguments[0], 'keys'); return new Promise(requestAnimationFrame)", node)
        x, y = page.run("return tape.positionOf(tape.chosen)")
        assert 0 < x < 390 and 0 < y < page.run("return document.getElementById('canvas').clientHeight"), "in sight"
    assert not page.driver.find_element("id", "tables").is_displayed()


def test_edges_of_a_node_with_many_users_are_drawn_on_demand(show: Show) -> None:
    page = show(hoad.record(lambda x, y: sum(x * k for k in range(2, 20)) * y, 1.5, 2.0))
    assert page.run("return tape.drawn()") == {"edges": 37, "fans": {"@1": 18}}
    page.click_row("@1")
    page.run("return new Promise(requestAnimationFrame)")
    assert page.run("return tape.drawn().edges") == 37 + 18
    page.click_row("@3")
    page.run("return new Promise(requestAnimationFrame)")
    assert page.run("return tape.drawn().edges") == 37 + 1


def test_nothing_chosen(show: Show) -> None:
    """The panel says what can be done, and leads to the inputs and outputs."""
    page = show(hand())
    said = page.text("#details")
    assert "Choose a row of a table, or a box of the graph" in said and "/ searches" in said
    assert "Tape 1 (primal): inputs (2)" in said and "@21 ∇y" in said
    page.all("#details li button")[1].click()
    assert page.chosen == "@2"


def test_tangents_are_joined_as_adjoints_are(show: Show) -> None:
    page = show(PROGRAMS["tangent"]())
    page.click_row("@6")
    (number,) = page.relations["adjoint"]
    assert "contribution" not in page.relations and page.rows_marked("adjoint") == {number}
    assert "tangent" in page.driver.find_element("css selector", ".row.adjoint").text
    assert "Its tangent" in page.text("#details") and "adjoint" not in page.text("#details")
    page.keys("a")
    assert page.chosen == number and page.relations["target"] == {"@6"}
    assert "tangent of what" in page.text("#details") and "tangent of" in page.text(".row.target")
    assert page.text(".tape:nth-child(2) .titles").split()[2] == "tangent"


def test_every_step_to_a_tangent_has_a_line(show: Show) -> None:
    page = show(PROGRAMS["tangent"]())
    lines = page.run("return [...Array(tape.model.size).keys()].map((k) => tape.model.place(k)[0])")
    assert all(lines[12:]), "but the seeds"


def test_three_tapes_stand_beside_each_other(show: Show) -> None:
    page = show(hoad.gradient(hoad.gradient(hoad.record(by_hand, 2.0, 3.0)), seed="symbolic"))
    assert page.run("const t = document.getElementById('tables'); return t.scrollWidth <= t.clientWidth")
    assert len({round(tape.rect["y"]) for tape in page.all(".tape")}) == 1
    long = show(hoad.gradient(hoad.gradient(hoad.record(chain, 0.5)), seed="symbolic"))
    for number, heading in enumerate(long.all(".tape h2"), 1):
        assert heading.text.startswith(f"Tape {number} (") and heading.rect["height"] > 20
    assert page.run("return document.documentElement.scrollWidth") <= 1280


def test_the_frame_of_a_notebook(show: Show, tmp_path: Path) -> None:
    page = show(hand())
    frame = hand().explore()
    assert frame is not None
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html>{frame._repr_html_()}", encoding="utf-8")
    page.driver.get((tmp_path / "notebook.html").as_uri())
    page.driver.switch_to.frame(0)
    try:
        page.wait()
        page.click_row("@2")
        assert page.chosen == "@2" and "@2 = y" in page.text("#details")
    finally:
        page.driver.switch_to.default_content()


def test_views(show: Show) -> None:
    page = show(hand())
    for view, tables, graph in (("tables", True, False), ("graph", False, True), ("both", True, True)):
        page.driver.find_element("css selector", f"button[data-view={view}]").click()
        shown = [page.driver.find_element("id", name).is_displayed() for name in ("tables", "graph")]
        assert shown == [tables, graph]
        assert [button.text for button in page.all("button[aria-pressed=true]")] == [view.capitalize()]


def test_a_page_of_five_thousand_nodes(show: Show) -> None:
    program = hoad.gradient(hoad.record(chain, 0.5, length=710))
    size = sum(tape.size for tape in program)
    assert 4900 <= size <= 5000
    begun = time.perf_counter()
    page = show(program)
    page.run("return new Promise(requestAnimationFrame)")
    assert time.perf_counter() - begun < 10
    assert len(page.all(".rows .row")) < 200, "only rows in sight exist"
    spent = []
    for k in np.linspace(0, size - 1, 12).astype(int).tolist():
        spent.append(page.spent("tape.choose(arguments[0], 'test')", k))
        assert page.chosen == f"@{k + 1}" and f"@{k + 1}" in page.rows_marked("chosen")
    assert np.median(spent) < 1000 * BOUND
    begun = time.perf_counter()
    page.keys("/", "cos")
    assert "nodes" in page.text("#found")
    assert time.perf_counter() - begun < 5 * BOUND


def test_a_wide_page(show: Show) -> None:
    """Thousands of nodes in one layer."""
    page = show(hoad.gradient(hoad.record(lambda x: sum(x[k] * x[k] for k in range(900)), np.linspace(0, 1, 900))))
    begun = time.perf_counter()
    page.run("return new Promise(requestAnimationFrame)")
    page.keys("0")
    page.run("return new Promise(requestAnimationFrame)")
    assert time.perf_counter() - begun < 5 * BOUND


# ---- folds ----------------------------------------------------------------------------------------------------------


def folded(length: int = 2000, simplify: bool = True) -> Program:
    """Rows: its input; s = np.sin(x); x = s * x. And of the adjoint: one for each of the two lines."""
    return hoad.gradient(hoad.record(chain, 0.5, length=length), simplify=simplify)


def test_a_fold_opens_and_closes_by_click(show: Show) -> None:
    page = show(folded())
    assert "more than the 5000" in page.text("#note") and "Open a row" in page.text("#note")
    assert page.rows(1) == ["@1", "@2 … @4000", "@3 … @4001"] and len(page.rows(2)) == 2
    assert "s = np.sin(x)" in page.all(".fold")[1].text
    page.click_row("@2 … @4000")
    assert page.chosen == "@2 … @4000" and page.opened() == ["@2 … @4000"]
    assert page.rows(1)[:6] == ["@1", "@2 … @4000", "@2", "@4", "@6", "@8"]
    assert len(page.all(".rows .row")) < 200, "only rows in sight exist"
    details = page.text("#details")
    assert "2000 sin" in details and "s = np.sin(x)" in details and "Adjoints of its nodes" in details
    page.click_row("@4")
    assert page.chosen == "@4" and repr(float(page.run("return tape.model.fullValue(3)"))) in page.text("#details")
    page.run("document.querySelector('.grid').scrollTop = 0")
    page.run("return new Promise(requestAnimationFrame)")
    page.click_row("@2 … @4000")
    assert page.rows(1) == ["@1", "@2 … @4000", "@3 … @4001"] and page.opened() == []
    assert page.chosen == "@2 … @4000", "the node is hidden, so its fold is chosen"


def test_a_fold_opens_and_closes_by_keyboard(show: Show) -> None:
    from selenium.webdriver.common.keys import Keys

    page = show(folded())
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert page.chosen == "@2 … @4000"
    page.keys(Keys.ENTER)
    assert page.opened() == ["@2 … @4000"]
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert page.chosen == "@4", "from row to row, as they are shown"
    page.keys(Keys.END)
    assert page.chosen == "@3 … @4001"
    page.keys(Keys.ARROW_UP)
    assert page.chosen == "@4000"
    page.keys(Keys.HOME, Keys.ARROW_DOWN, Keys.ENTER)
    assert page.opened() == [] and page.chosen == "@2 … @4000"


def test_the_panel_opens_a_fold(show: Show) -> None:
    page = show(folded())
    page.run("tape.choose(tape.model.size + 1, 'test')")
    page.click("#details button.action")
    assert page.opened() == ["@2 … @4000"] and "Close (Enter)" in page.text("#details")
    page.click("#details button.action")
    assert page.opened() == []


def test_what_belongs_to_a_node_in_a_closed_fold_is_marked_at_the_fold(show: Show) -> None:
    page = show(folded(10, simplify=False), limit=10)
    page.click_row("@2 … @20")
    page.click_row("@4")
    (row,) = [row for row in page.all(".fold") if row.text.startswith("@3 … @21")]
    assert page.relations["operand"] == {"@3", "@3 … @21"} and "operand" in row.text
    page.keys("a")
    assert page.relations["target"] == {"@4"} and len(page.opened()) >= 1
    assert page.chosen is not None and page.chosen in page.rows(2), "its adjoint stands in a fold that was opened"


def test_search_finds_nodes_inside_folds_and_opens_them(show: Show) -> None:
    from selenium.webdriver.common.keys import Keys

    page = show(folded())
    page.keys("/", "@2345")
    assert page.text("#found") == "1 node" and "1 found" in page.all(".fold")[2].text
    assert page.opened() == [], "only once it is gone to"
    page.keys(Keys.ENTER)
    assert page.chosen == "@2345" and "@2345" in page.rows(1)
    page.keys(Keys.ESCAPE, "/", "np.sin(x)")
    assert page.text("#found") == "2 nodes", "a line is found at its folds"
    page.keys(Keys.ESCAPE, "/", "sin(@")
    assert page.text("#found") == "2000 nodes"
    page.keys(Keys.ENTER, Keys.ENTER)
    assert page.chosen == "@4" and page.text("#found") == "2 of 2000"


def test_folds_in_the_graph(show: Show) -> None:
    """A double click opens; few nodes are drawn one by one, of many those that belong to the chosen one."""
    page = show(folded(1200), limit=1000)
    units = "return [...Array(tape.model.count).keys()].filter((k) => tape.isDrawn(k)).map((k) => tape.model.label(k))"
    assert len(page.run(units)) == 5
    page.run("tape.choose(tape.model.size + 1, 'test')")
    page.click_graph("@2 … @2400", times=2)
    assert page.opened() == ["@2 … @2400"]
    assert len(page.run(units)) == 5 - 1 + 1200, "its nodes in place of its box"
    page.click_graph("@2")
    assert page.chosen == "@2"
    page.run("tape.choose(tape.model.itemOf(1001), 'test')")
    drawn = page.run(units)
    beside = {"@999", "@1001", "@1003"}  # of the other line: it, its operand, what uses it
    assert len(drawn) == 4 + 1200 + 3 and {"@3 … @2401", *beside} <= set(drawn), "no room for another 1200"
    page.click_graph("@1001")
    assert page.chosen == "@1001" and page.relations["operand"] >= {"@1000", "@999"}


@pytest.mark.parametrize("length", [2860, pytest.param(28_600, marks=pytest.mark.slow)])
def test_a_page_of_two_hundred_thousand_nodes(length: int, show: Show, tmp_path: Path) -> None:
    """Bounded, read quickly, and every step fluent; and of a tenth of them."""
    program = folded(length)
    size = sum(tape.size for tape in program)
    assert size > 7 * length - 10
    begun = time.perf_counter()
    page = show(program)
    assert time.perf_counter() - begun < 60
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size < 8e6
    steps = [f"tape.toggle(tape.model.size + {k})" for k in (1, 2, 3, 1, 2, 1)]
    steps += [f"tape.choose(tape.model.itemOf({k}), 'test')" for k in (2, length + 1, 2 * length, size // 2, size)]
    spent = [page.spent(step) for step in steps]
    assert np.median(spent) < 1000 * BOUND
    assert page.chosen == f"@{size}" and len(page.all(".rows .row")) < 200
    begun = time.perf_counter()
    page.keys("/", "cos")
    assert f"{length} nodes" in page.text("#found")
    assert time.perf_counter() - begun < 5 * BOUND


def test_a_page_that_carries_a_part(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "CARRIED", 1000)
    page = show(folded(), limit=500)
    assert "of them are in this page; explore(..., limit=" in page.text("#note")
    page.click_row("@3 … @4001")
    assert re.search(r"The first \d+ of its nodes are in this page", page.text("#details"))
    page.run("tape.choose(tape.model.itemOf(4), 'test')")
    assert page.relations["operand"] == {"@3"} and page.relations["user"] >= {"@5"}
    page.keys("/", "@3999")
    assert page.text("#found") == "none found"


# ---- programs that are called ---------------------------------------------------------------------------------------


def test_a_call_opens_the_program_that_it_runs(show: Show) -> None:
    from selenium.webdriver.common.keys import Keys

    page = show(PROGRAMS["calls of calls"]())
    page.click_row("@4")
    assert "call(@3" in page.text("#details") and not page.driver.find_element("id", "path").is_displayed()
    page.click("#details button.action")
    assert page.text("#steps").split("\n") == ["doubly", "@4 runs Program"]
    assert "at the operands of this call" in page.text("#path")
    assert page.run("return tape.model.value(0)") == "1.5", "as in this call"
    page.click_row("@3")
    page.keys(Keys.ENTER)
    assert page.text("#steps").split("\n") == ["doubly", "@4 runs Program", "@3 runs by_hand"]
    assert page.run("return [0, 1].map((k) => tape.model.value(k))") == ["1.5", "3"]
    page.click_row("@6")
    assert "b = np.sin(4 * y)" in page.text("#details") and repr(float(np.sin(12.0))) in page.text("#details")
    assert page.driver.current_url.endswith("#%404%2F%403%2F%406")
    page.keys(Keys.BACKSPACE)
    assert page.chosen == "@3", "what was chosen there"
    page.click("#steps button")
    assert page.chosen == "@4" and len(page.rows(1)) == 5
    page.keys(Keys.BACKSPACE)
    assert page.chosen == "@4", "there is nothing to go back to"
    page.click_graph("@2", times=2)
    assert page.run("return tape.model.value(0)") == "0.5"


def test_an_address_names_a_node_of_a_program_that_is_called(show: Show) -> None:
    page = show(PROGRAMS["calls of calls"](), "#@4/@3/@6")
    assert page.chosen == "@6" and "@3 runs by_hand" in page.text("#steps")
    assert show(PROGRAMS["hand"](), "#@4/@3").chosen is None, "no call"


def test_adjoints_of_calls_open_too(show: Show) -> None:
    program = PROGRAMS["calls"]()
    number = next(node.number for node in program[1].nodes if node.operation == "call")
    page = show(program, f"#@{number}/")
    assert [heading.text.split(" (")[0] for heading in page.all(".tape h2")] == ["Tape 1", "Tape 2"]
    page.click_row("@6")
    assert page.relations["adjoint"], "adjoints are marked there as anywhere"


def test_a_call_whose_program_is_not_in_the_page(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "CARRIED", 5)
    page = show(PROGRAMS["calls of calls"](), limit=5)
    page.click_row("@4")
    assert "program.inner(4) is it" in page.text("#details") and not page.all("#details > button")


def test_guards_are_marked(show: Show) -> None:
    page = show(hoad.record(branching, 2.0))
    (row,) = [row for row in page.all(".rows .row") if "@1 > 1" in row.text]
    assert "guard: was True" in row.text
    page.keys("/", "guard")
    assert page.text("#found") == "1 node"


# ---- several tapes --------------------------------------------------------------------------------------------------


def test_several_adjoint_tapes(show: Show) -> None:
    program = hoad.gradient(hoad.gradient(hoad.record(rosenbrock, np.linspace(0, 1, 4))), seed="symbolic")
    page = show(program)
    page.click_row("@1")
    assert "(tape 2)" in page.text("#details") and "(tape 3)" in page.text("#details")
    assert [heading.text.split(" (")[0] for heading in page.all(".tape h2")] == ["Tape 1", "Tape 2", "Tape 3"]
