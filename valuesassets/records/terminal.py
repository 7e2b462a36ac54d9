"""Makes texts from forms, models, servers and files safe to print on a terminal."""

JOINERS = "\u200c\u200d"
"""Invisible characters that several scripts need to join letters and signs."""


def is_utf8(name: str) -> bool:
    r"""Whether a name of the file system is UTF-8; Python keeps other bytes as halves of characters.

    >>> is_utf8("möglich"), is_utf8("m\udcf6glich")
    (True, False)
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def terminal_text(text: str) -> str:
    r"""A text with those characters escaped that command the terminal or change the direction of writing.

    >>> terminal_text("a red \x1b[31mword")
    'a red \\x1b[31mword'
    >>> terminal_text("in order \u202etxt.exe") == "in order \\u202etxt.exe"
    True
    """
    return "".join(
        each if each.isprintable() or each in JOINERS else each.encode("unicode_escape").decode() for each in text
    )
