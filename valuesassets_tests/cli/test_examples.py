"""Each command's help ends with two examples that the command line understands."""

import re
import shlex

import pytest

from valuesassets.cli.command_table import EARLIER_GROUPS
from valuesassets_tests.cli.test_plain_help import ALL

LEAVES = {
    path: command
    for path, command in ALL.items()
    if path and not getattr(command, "commands", None) and not (len(path) == 1 and command.hidden)
}


def examples(command):
    """The lines of a command's examples, as words."""
    _, _, end = (command.epilog or "").partition("Examples:\n")
    return [shlex.split(line) for line in end.splitlines()]


@pytest.mark.parametrize("path", [path for path in LEAVES if path[0] not in EARLIER_GROUPS], ids=" ".join)
def test_a_command_has_two_examples_and_each_is_read_without_a_fault(path):
    (first, second) = examples(LEAVES[path])
    assert first != second
    for program, *words in (first, second):
        assert program == "valuesassets"
        words = words[: words.index(">")] if ">" in words else words
        depth = next(depth for depth in range(len(words), 0, -1) if tuple(words[:depth]) in LEAVES)
        LEAVES[tuple(words[:depth])].make_context(path[-1], words[depth:])
    own = path[1:] if path[0] == "survey" else path  # its commands are there without its name as well
    assert any(tuple(words[1 : 1 + len(own)]) == own for words in (first, second))


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_a_help_is_a_sentence_and_every_option_has_one(path):
    command = LEAVES[path]
    assert re.match(r"[A-Z].*[.]$", command.help.partition("\n\n")[0].replace("\n", " ")), command.help
    for option in command.params:
        if option.name != "help" and not getattr(option, "hidden", False):
            assert option.help, option.name
            assert option.help[0].isupper() or option.help.startswith("<study>"), option.help
