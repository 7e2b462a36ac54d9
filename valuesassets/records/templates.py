"""Templates of pages: `<name>.html.jinja` in the package of the page."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jinja2


@cache
def template(package: str, name: str, **filters: Callable[..., Any]) -> jinja2.Template:
    """A template that escapes all values and fails on unknown names.

    Args:
        filters: functions that the template may call, by name.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= filters
    return environment.get_template(f"{name}.html.jinja")
