"""Words of others on a terminal: forms, models, servers and files may hold anything."""

JOINERS = "\u200c\u200d"
"""Letters and signs of several scripts are written with them."""


def is_utf8(name: str) -> bool:
    r"""Whether what the machine calls something is text; Python keeps other bytes as halves of characters.

    >>> is_utf8("möglich"), is_utf8("m\udcf6glich")
    (True, False)
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def terminal_text(text: str) -> str:
    r"""A text in which nothing commands the terminal or turns the direction of writing: such characters are escaped.

    >>> terminal_text("a red \x1b[31mword")
    'a red \\x1b[31mword'
    >>> terminal_text("in order \u202etxt.exe") == "in order \\u202etxt.exe"
    True
    """
    return "".join(
        each if each.isprintable() or each in JOINERS else each.encode("unicode_escape").decode() for each in text
    )
