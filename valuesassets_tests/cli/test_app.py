"""How commands end."""

import pytest

from valuesassets.cli import app


def test_a_command_without_enough_memory_ends_in_one_line_that_says_what_to_do(monkeypatch, capsys):
    def fill(**_):
        bytearray(2**62)

    monkeypatch.setattr(app, "app", fill)
    with pytest.raises(SystemExit) as caught:
        app.main()
    assert caught.value.code == 1
    assert capsys.readouterr().err == (
        "there is too little memory; end other programs, or use a machine that has more\n"
    )
