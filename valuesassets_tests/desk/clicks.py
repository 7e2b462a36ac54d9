"""What a user clicks in the web UI to materialise an asset, as in `survey/readings`, and what has come of it."""

import re
from collections.abc import Container
from typing import Any
from urllib.parse import quote

from valuesassets_tests.desk.web_ui import graphql, shot
from valuesassets_tests.waiting import wait_until

Events = list[tuple[str, str]]
"""Partitions with the moments at which they were materialised."""


def materializations(page: Any, asset: str) -> Events:
    """What has been materialised of an asset, and when."""
    query = """query ($key: AssetKeyInput!) { assetOrError(assetKey: $key) { ... on Asset {
        assetMaterializations(limit: 1000) { partition timestamp } } } }"""
    found = graphql(page, query, key={"path": asset.split("/")})["assetOrError"]["assetMaterializations"]
    return sorted((event["partition"] or "", event["timestamp"]) for event in found)


def new_partitions(page: Any, asset: str, before: Container[tuple[str, str]]) -> list[str]:
    """The partitions that have been materialised since."""
    return sorted(partition for partition, moment in materializations(page, asset) if (partition, moment) not in before)


def materialize_dialog(page: Any, asset: str, partition: str | None = None) -> Any:
    """The dialog behind Materialize, one value of a dimension clicked before."""
    page.goto(f"/assets/{asset}?view=partitions")
    if partition:
        page.locator("span", has_text=partition).first.click()
    page.get_by_role("button", name="Materialize").first.click()
    page.get_by_text("Partition selection").wait_for()
    return page.get_by_role("dialog").first


def partition_dialog(page: Any, asset: str, partition: str) -> Any:
    """The dialog behind Materialize on the page of one partition, as `<model>|<part>` of a cell."""
    page.goto(f"/assets/{asset}?view=partitions&partition={quote(partition)}")
    page.get_by_text(partition.partition("|")[2] or partition).first.wait_for()
    page.get_by_role("button", name="Materialize").first.click()
    page.get_by_text("Partition selection").wait_for()
    return page.get_by_role("dialog").first


def launch(page: Any, dialog: Any) -> None:
    """Click until what the dialog asks for is launched, and leave: what then runs is not watched on the page.

    A page that shows what runs keeps itself and the server busy.
    """
    dialog.get_by_role("button", name=re.compile("^Launch")).click()
    dialog.wait_for(state="detached")
    page.goto("about:blank")


def materialise(page: Any, asset: str, partition: str, shown_as: str | None = None) -> list[str]:
    """Click until one partition is materialised; the partitions that were."""
    before = materializations(page, asset)
    dialog = materialize_dialog(page, asset, partition)
    if shown_as:
        shot(page, shown_as)
    launch(page, dialog)
    wait_until(lambda: new_partitions(page, asset, before), every=0.5)
    return new_partitions(page, asset, before)


def materialise_again(page: Any, asset: str, partition: str) -> list[str]:
    """Click until one partition is materialised, from its own page; the partitions that were."""
    before = materializations(page, asset)
    launch(page, partition_dialog(page, asset, partition))
    wait_until(lambda: new_partitions(page, asset, before), 240, every=0.5)
    return new_partitions(page, asset, before)


def materialise_all(page: Any, asset: str, count: int, shown_as: str | None = None) -> list[str]:
    """Click until every partition of an asset is asked for, and wait until so many are there; the partitions."""
    before = materializations(page, asset)
    dialog = materialize_dialog(page, asset)
    for every in dialog.get_by_role("button", name="All", exact=True).all():
        every.click()
    if shown_as:
        shot(page, shown_as)
    launch(page, dialog)
    wait_until(lambda: len(new_partitions(page, asset, before)) >= count, 240, every=0.5)
    return new_partitions(page, asset, before)
