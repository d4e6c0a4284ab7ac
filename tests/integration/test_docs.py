"""Every page of the documentation is followed from top to bottom, and shows what really happens."""

import re
import shutil
from pathlib import Path

import pytest

from tests.integration.pages import DOCS, Block, Follower, blocks, matches

PAGES = {page.name: blocks(page.name, page.read_text()) for page in sorted(DOCS.glob("*.md"))}
LEFT_OUT = [block for page in PAGES.values() for block in page if block.left_out is not None]


@pytest.mark.parametrize("name", [name for name, found in PAGES.items() if found])
def test_the_page_can_be_followed(name: str, courier: tuple[Path, Path], tmp_path: Path) -> None:
    if any("pip install" in block.text for block in PAGES[name]):
        pytest.importorskip("setuptools", reason="pip needs setuptools to install the page's package offline")
    for source, target in zip(courier, ("domain.pddl", "problem.pddl"), strict=True):
        shutil.copy(source, tmp_path / target)
    with Follower(tmp_path) as follower:
        for block in PAGES[name]:
            if block.left_out is None:
                follower.follow(block)
        expected = [block.language for block in PAGES[name] if block.left_out is None]
        assert follower.done == expected


@pytest.mark.parametrize("block", LEFT_OUT, ids=lambda block: f"{block.page}:{block.line}")
def test_a_block_that_does_not_run_here_says_why(block: Block) -> None:
    assert block.left_out
    pytest.skip(f"docs/{block.page}:{block.line}: {block.left_out}")


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_commands_stand_in_blocks_that_run(page: Path) -> None:
    assert not re.findall(r"^    (?:\$ )?(?:misstep|python|pip) .*", page.read_text(), re.MULTILINE)
    assert not re.findall(r"^```(?:bash|sh|shell|py)$", page.read_text(), re.MULTILINE)


def test_blocks_are_found_with_their_marks() -> None:
    skipped = "<!-- test: not run, because of rain -->\n```console\n$ misstep\n```\n"
    page = f"# Title\n\n```python\n# a.py\nx = 1\n```\n{skipped}```text\nno\n```\n"
    file, shown = blocks("page.md", page)
    assert (file.file, file.line, file.left_out) == ("a.py", 3, None)
    assert (shown.language, shown.line, shown.left_out) == ("console", 7, "of rain")


def test_a_page_that_is_wrong_is_noticed(tmp_path: Path) -> None:
    assert matches("1 ... 3\n", "1 2 3") and not matches("1 ... 3", "1 2 4")
    with Follower(tmp_path) as follower:
        follower.follow(Block("p", 1, "python", "x = 2\nprint(x)\n"))
        follower.follow(Block("p", 2, "output", "2\n"))
        with pytest.raises(AssertionError, match="p:3"):
            follower.follow(Block("p", 3, "output", "3\n"))
        with pytest.raises(AssertionError, match="ZeroDivisionError"):
            follower.follow(Block("p", 4, "python", "x / 0\n"))
        with pytest.raises(AssertionError, match="parts"):
            follower.follow(Block("p", 5, "console", "$ misstep parts bias\nno such thing\n"))
