"""Sends notices by mail, chat or webhook with Apprise, which is imported only if there is an address.

Addresses hold passwords and tokens. They are read only here, and neither they nor Apprise's messages are written
anywhere.
"""

import logging
import os
import threading
import time

VARIABLE = "VALUESASSETS_NOTIFY"
"""Environment variable with addresses in Apprise's notation, separated by spaces or commas."""
SECONDS = 20.0
"""Time limit for all notices together; a sensor has 60 seconds for its whole evaluation."""


def is_asked_for() -> bool:
    """Whether the user has given any address."""
    return bool(os.environ.get(VARIABLE, "").strip())


def send_notices(title: str, body: str, seconds: float = SECONDS) -> str:
    """Send a text to every address and return one line on the result, which names addresses by number and kind: `2 of 3
    notices sent; address 2 (json) was not reached`."""
    outcomes: dict[int, bool] = {}
    kinds: list[str] = []
    try:
        from apprise.utils.parse import parse_urls

        for name in ("apprise", "urllib3"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        addresses = parse_urls(os.environ[VARIABLE])
        kinds = [_kind(address) for address in addresses]
        threads = [
            threading.Thread(target=_send, args=(number, address, title, body, outcomes), daemon=True)
            for number, address in enumerate(addresses)
        ]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
    except Exception as error:  # the text of any error may hold an address
        return f"no notice was sent: {type(error).__name__} in Apprise"
    ended = dict(outcomes)
    sent = sum(ended.values())
    problem = {False: "was not reached", None: f"did not answer within {seconds:.0f} s"}
    problems = [
        f"address {number + 1} ({kind}) {problem[ended.get(number)]}"
        for number, kind in enumerate(kinds)
        if not ended.get(number)
    ]
    return "; ".join([f"{sent} of {len(kinds)} notices sent", *problems])


def _kind(address: str) -> str:
    """The part before `://`, if Apprise knows it; in a mistyped address, that part may be secret."""
    from apprise.manager_plugins import NotificationManager

    kind = address.partition("://")[0].casefold()
    return kind if kind in NotificationManager().schemas() else "unknown kind"


def _send(number: int, address: str, title: str, body: str, outcomes: dict[int, bool]) -> None:
    import apprise

    try:
        sender, text = apprise.Apprise(), apprise.NotifyFormat.TEXT
        is_sent = bool(sender.add(address) and sender.notify(body=body, title=title, body_format=text))
    except Exception:  # its text may hold the address
        is_sent = False
    outcomes[number] = is_sent
