"""Damaged PDDL gives an error of ours with a place, or reads as something else; never another exception."""

import random
import re
from pathlib import Path

import pytest

from misstep.errors import InputError
from misstep.formats.sexp import Source
from misstep.pddl import parse_domain, parse_problem, without_costs

WORDS = [
    "(",
    ")",
    "-",
    "?x",
    "and",
    "not",
    "or",
    "forall",
    "exists",
    "increase",
    "=",
    "either",
    "object",
    ":init",
]
PLACE = re.compile(r"^[dp]\.pddl:\d+:\d+: ")


def damage(text: str, rng: random.Random) -> str:
    tokens = re.findall(r"[()]|[^\s()]+|\s+", re.sub(r";.*", "", text))
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(tokens))
        match rng.randrange(4):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, f" {rng.choice(WORDS)} ")
            case 2:
                tokens[at] = rng.choice(WORDS)
            case 3:
                other = rng.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files(courier: tuple[Path, Path], seed: int) -> None:
    rng = random.Random(seed)
    domain_text, problem_text = (path.read_text() for path in courier)
    errors = 0
    for _ in range(300):
        which = rng.randrange(2)
        texts = [
            damage(text, rng) if at == which else text for at, text in enumerate((domain_text, problem_text))
        ]
        try:
            domain = parse_domain(Source(texts[0], "d.pddl"))
            without_costs(domain.form, parse_problem(Source(texts[1], "p.pddl"), domain).form)
        except InputError as error:
            errors += 1
            assert PLACE.match(str(error)), error
    assert errors > 200
