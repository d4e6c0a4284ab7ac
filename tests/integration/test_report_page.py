"""The report in a browser: it opens offline, moves through bugs, is readable, and runs nobody's script."""

import json
import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from misstep.record.record import Record
from misstep.reports.html.page import make_page
from misstep.reports.report import Report
from tests.conftest import COURIER
from tests.integration.browser import CHROMIUM, MISSING, Browser
from tests.integration.cli import misstep

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
OPTIONS = ("--oracle", "planner:lazy:ff", "--quiet")
HOSTILE = {
    "depot": '"><script>window.hacked=1</script>',
    "mill": "<img/src=x/onerror=window.hacked=1>",
    "red": "'onload='window.hacked=1'",
    "book": "__proto__",
    "lamp": "constructor",
    "vase": "</script><script>window.hacked=1</script>",
    "market": "m" * 100_000,
    "harbour": "a\x1b[31mb&lt",
}
POLICY = """
def answer(state):
    return "(<img src=x onerror=window.hacked=1> </script><script>window.hacked=1</script>\\x1b[2J" + "y" * 100000 + ")"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def record(folder: Path) -> Path:
    """Of a policy that runs in loops."""
    ended = misstep("test", *COURIER, "--policy", "heuristic:ff", "--pool", 20, *OPTIONS, "--out", folder / "record",
                    timeout=300)  # fmt: skip
    assert ended.code == 1, ended.err
    assert misstep("report", folder / "record").code == 0
    return folder / "record"


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Browser]:
    with Browser(folder / "profile") as found:
        yield found


@pytest.fixture(autouse=True)
def quiet_page(browser: Browser) -> Iterator[None]:
    """No test leaves a message on the console, and no page asks for anything but itself."""
    browser.console.clear()
    browser.requests.clear()
    yield
    assert not browser.console
    assert all(url == "about:blank" or url.partition("#")[0].endswith(".html") for url in browser.requests)


def test_the_slider_moves_through_both_courses(browser: Browser, record: Path) -> None:
    (bug, *_) = [json.loads(path.read_text()) for path in (record / "bugs").glob("*.json")]
    browser.open(record / "report.html", part=f"#r0-bug-{bug['id']}")
    assert browser.run("document.querySelector('.bug-title').textContent").startswith(f"Bug {bug['id']}: ")
    first = "document.querySelector('.panel.policy .action').textContent"
    slider = "document.querySelector('.viewer input[type=range]')"
    move = f"(at => {{ {slider}.value = at; {slider}.dispatchEvent(new Event('input')); }})"
    browser.run(f"{move}(0)")
    assert "No step was made yet" in browser.run(first)
    for step, action in enumerate(bug["run"]["actions"], start=1):
        browser.run(f"{move}({step})")
        assert browser.run(first).startswith(f"step {step}: {action} costs ")
    browser.run(f"{move}(999)")
    assert "goal reached" in browser.run(
        "document.querySelector('.panel.better .remark').textContent.toLowerCase()"
    )
    assert browser.run("document.querySelectorAll('svg.scene').length") == 2
    assert bug["replay"] in browser.run("document.querySelector('.explained').textContent")


def test_the_keyboard_is_enough(browser: Browser, record: Path) -> None:
    browser.open(record / "report.html")
    at = "Number(document.querySelector('.viewer input[type=range]').value)"
    browser.run("document.querySelector('.viewer input[type=range]').focus()")
    browser.press("Home", 36)
    assert browser.run(at) == 0
    browser.press("ArrowRight", 39)
    assert browser.run(at) == 1
    browser.run("document.querySelector('.controls button').focus()")  # anywhere in the viewer
    browser.press("ArrowRight", 39)
    assert browser.run(at) == 2
    assert browser.run("document.querySelector('.step-label').textContent").startswith("after step 2 of ")


def test_links_and_the_filter(browser: Browser, record: Path) -> None:
    browser.open(record / "report.html")
    links = browser.run("[...document.querySelectorAll('#r0-bugs a')].map(link => link.textContent)")
    browser.run("document.querySelectorAll('#r0-bugs a')[2].click()")
    browser.run("new Promise(done => setTimeout(done, 50))")
    assert browser.run("document.querySelector('.bug-title').textContent").startswith(
        links[2].capitalize() + ":"
    )
    shown = "[...document.querySelectorAll('#r0-bugs tbody tr')].filter(row => !row.hidden).length"
    assert browser.run(shown) == len(links)
    browser.run(
        "(f => { f.value = 'no such word'; f.dispatchEvent(new Event('input')); })(document.querySelector('.filter'))"
    )
    assert browser.run(shown) == 0


# Rows of a table of which a part is hidden, by the box that they are scrolled in or by its head.
CUT = """(box => {
    const inner = box.getBoundingClientRect(), head = box.querySelector('thead').getBoundingClientRect().bottom;
    return [...box.querySelectorAll('tbody tr')].filter(row => !row.hidden).map(row => row.getBoundingClientRect())
        .filter(row => row.bottom > head + 1 && row.top < inner.bottom - 1)
        .filter(row => row.top < head - 1 || row.bottom > inner.bottom + 1).length;
})"""
SETTLED = "new Promise(done => setTimeout(done, 400))"


@pytest.mark.parametrize("width", [420, 1280])
def test_tables_cut_no_row(browser: Browser, record: Path, width: int) -> None:
    """The table of steps ended in the middle of a row, in which half the letters were to be seen."""
    browser.open(record / "report.html", width=width)
    longest = max(
        (json.loads(path.read_text()) for path in (record / "bugs").glob("*.json")),
        key=lambda bug: len(bug["run"]["actions"]) + len(bug["witness"]),
    )
    browser.open(record / "report.html", width=width, part=f"#r0-bug-{longest['id']}")
    steps = "document.querySelector('.steps')"
    assert browser.run(f"{steps}.scrollHeight > {steps}.clientHeight + 1"), (
        "no table is long enough to be cut"
    )
    slider = "document.querySelector('.viewer input[type=range]')"
    for at in range(browser.run(f"Number({slider}.max)") + 1):
        browser.run(f"{slider}.value = {at}; {slider}.dispatchEvent(new Event('input'))")
        assert browser.run(f"{CUT}({steps})") == 0, at
        now = f"{steps}.querySelector('[data-now]')"
        if browser.run(f"{now} !== null"):
            assert browser.run(
                f"{now}.getBoundingClientRect().bottom <= {steps}.getBoundingClientRect().bottom + 1"
            )
    for top in (0, 37, 100, 10_000):
        browser.run(f"{steps}.scrollTop = {top}; {SETTLED}")
        assert browser.run(f"{CUT}({steps})") == 0, top
    bugs = "document.querySelector('#r0-bugs').closest('.wide')"
    assert browser.run(f"{CUT}({bugs})") == 0


def test_an_unmet_goal_does_not_look_like_a_met_one(browser: Browser, record: Path) -> None:
    """In the drawing both were green, and in the list the two had no sign."""
    browser.open(record / "report.html")
    slider = "document.querySelector('.viewer input[type=range]')"
    browser.run(f"{slider}.value = 9999; {slider}.dispatchEvent(new Event('input'))")
    drawn = dict(
        browser.run(
            "[...document.querySelectorAll('.panel svg.scene text.goal, .panel svg.scene text.unmet')]"
            ".map(node => [node.textContent[0], getComputedStyle(node).fill])"
        )
    )
    assert set(drawn) == {"✓", "→"} and drawn["✓"] != drawn["→"]
    good = "getComputedStyle(document.documentElement).getPropertyValue('--good')"
    assert browser.run(good) == "#1b6e3c" and drawn["✓"] == "rgb(27, 110, 60)"
    chips = browser.run(
        "[...document.querySelectorAll('.goals code')].map(node => [node.textContent[0], node.title])"
    )
    assert {sign for sign, _ in chips} <= {"✓", "◐", "○"} and len(chips) == 3
    reached = {"✓": 1, "◐": 1, "○": 0}
    better = sum(reached[sign] for sign, words in chips if "policy alone" not in words)
    assert f"{better} by the better way" in browser.run("document.querySelector('.goals').textContent")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [420, 1280])
def test_it_fits_and_can_be_read(
    browser: Browser, record: Path, width: int, dark: bool, tmp_path: Path
) -> None:
    """Nothing is wider than the screen, and texts stand out from what is behind them (WCAG: 4.5 to 1)."""
    browser.open(record / "report.html", width=width, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") <= width
    for ink in ("--ink", "--quiet", "--link", "--bad", "--good", "--loop"):
        for paper in ("--paper", "--soft"):
            pair = browser.run(
                f"(style => ['{ink}', '{paper}'].map(name => style.getPropertyValue(name).trim()))"
                "(getComputedStyle(document.documentElement))"
            )
            assert contrast(*pair) >= 4.5, (ink, paper, pair)
    browser.photograph(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it, of two colours `#rrggbb`."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_map_is_small_and_no_place_lies_on_another(browser: Browser, record: Path) -> None:
    browser.open(record / "report.html")
    overlaps = """(places => {
        const sizes = [31, 87, 54, 70, 120, 40, 66, 95, 51, 88];
        const made = sizes.map((size, at) => ({ name: String(at), x: Math.cos(at * at), y: Math.sin(at * at),
            width: size + 40, height: size }));
        const drawer = Object.create(Drawer.prototype), large = drawer.largestScale(made);
        const across = Math.max(...made.map(a => a.x)) - Math.min(...made.map(a => a.x));
        drawer.map(made);
        const width = Math.max(...made.map(a => a.x + a.width));
        let count = 0;
        made.forEach((a, at) => made.slice(at + 1).forEach(b => {
            if (a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height) count++;
        }));
        return [count, width < 0.8 * across * large];
    })()"""
    assert browser.run(overlaps) == [0, True]


def test_headings_are_in_order(browser: Browser, record: Path) -> None:
    browser.open(record / "report.html")
    levels = browser.run(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5')].map(node => Number(node.tagName[1]))"
    )
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels)), levels
    unnamed = "document.querySelectorAll('button, input, svg')"
    assert browser.run(f"[...{unnamed}].every(node => node.ariaLabel || node.textContent.trim())")


def test_hostile_names_are_only_text(browser: Browser, tmp_path: Path) -> None:
    domain, problem = (path.read_text().replace("waiting", "w<b>aiting") for path in COURIER)
    for name, bad in HOSTILE.items():
        problem = bad.join(re.split(rf"\b{name}\b", problem))
    for name, text in {"domain.pddl": domain, "problem.pddl": problem, "policy.py": POLICY}.items():
        (tmp_path / name).write_text(text)
    for name, policy in {"one": "heuristic:ff", "two": "python:policy.py:answer"}.items():
        ended = misstep("test", "domain.pddl", "problem.pddl", "--policy", policy, "--pool", 4, *OPTIONS,
                        "--out", name, cwd=tmp_path, timeout=300)  # fmt: skip
        assert ended.code == 1, ended.err
    ended = misstep("report", "one", "two", "--out", "page.html", cwd=tmp_path)
    assert ended.code == 0 and (tmp_path / "page.html").stat().st_size < 500_000
    browser.open(tmp_path / "page.html", width=420)
    for number, bug in browser.run(
        "[...document.querySelectorAll('td a[href*=bug]')].map(a => a.hash.match(/r(\\d+)-bug-(.+)/).slice(1))"
    ):
        browser.run(f"location.hash = 'r{number}-bug-{bug}'; new Promise(done => setTimeout(done, 20))")
    assert browser.run("window.hacked") is None
    assert browser.run("document.images.length") == 0
    assert browser.run("document.scripts.length") == 3
    assert browser.run("document.documentElement.scrollWidth") <= 420
    drawn = browser.run("[...document.querySelectorAll('svg.scene text')].map(node => node.textContent)")
    assert {"__proto__", "constructor"} <= set(drawn)
    # Wide letters, too, fit into the box they stand in.
    assert (
        browser.run("""[...document.querySelectorAll('svg.scene g')].filter(group => {
        const box = group.querySelector(':scope > rect').width.baseVal.value;
        return [...group.querySelectorAll(':scope > text')].some(text => text.getBBox().width > box);
    }).map(group => group.textContent)""")
        == []
    )


def test_a_thousand_bugs_are_a_small_page(browser: Browser, record: Path, tmp_path: Path) -> None:
    """The bugs of a record, again and again under other numbers."""
    copy = tmp_path / "many"
    shutil.copytree(record, copy)
    lines = [json.loads(line) for line in (copy / "events.jsonl").read_text().splitlines()]
    bugs = [line for line in lines if line.get("verdict") == "bug"]
    made = []
    for number in range(1000):
        event = bugs[number % len(bugs)]
        certificate = json.loads((record / "bugs" / f"{event['id']}.json").read_text())
        made.append({**event, "id": 10_000 + number})
        (copy / "bugs" / f"{10_000 + number}.json").write_text(
            json.dumps({**certificate, "id": str(10_000 + number)})
        )
    ends = [line for line in lines if line["event"] == "finished"]
    others = [line for line in lines if line["event"] not in ("finished", "judged")]
    (copy / "events.jsonl").write_text("\n".join(map(json.dumps, [*others, *made, *ends])) + "\n")
    assert misstep("report", copy, "--out", tmp_path / "page.html", timeout=120).code == 0
    assert (tmp_path / "page.html").stat().st_size < 5_000_000
    browser.open(tmp_path / "page.html", part="#r0-bug-10999")
    assert browser.run("document.querySelector('.bug-title').textContent").startswith("Bug 10999: ")
    assert browser.run("document.querySelectorAll('#r0-bugs tbody tr').length") == 1000


def test_an_unsafe_run(browser: Browser, tmp_path: Path) -> None:
    model, out = tmp_path / "line.jani", tmp_path / "record"
    assert misstep("safety", "generate", "two_way_line", "--out", model).code == 0
    assert (
        misstep(
            "safety", "test", model, "--policy", "zoo:two_way_line", "--runs", 30, "--out", out, timeout=120
        ).code
        == 1
    )
    (tmp_path / "page.html").write_text(make_page([Report(Record.open(out))]))
    browser.open(tmp_path / "page.html")
    said = browser.run("document.querySelector('.viewer-body .action').textContent")
    assert "This is the misstep: after it nobody can avoid unsafe states." in said and "Safe would be" in said
    browser.run("document.querySelector('[aria-label=\"last state\"]').click()")
    assert (
        browser.run("document.querySelector('.viewer-body .action').textContent") == "This state is unsafe."
    )
    assert browser.run("document.querySelectorAll('svg.spark').length") >= 1
