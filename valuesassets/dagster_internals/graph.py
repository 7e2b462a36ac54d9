"""The types of Dagster's asset graph, which public functions hand out."""

from collections.abc import Iterable

import dagster as dg
from dagster._core.asset_graph_view.asset_graph_view import AssetGraphView
from dagster._core.definitions.assets.graph.asset_graph import AssetGraph
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph

__all__ = ["AssetGraph", "AssetGraphView", "BaseAssetGraph", "graph_of"]


def graph_of(assets: Iterable[dg.AssetsDefinition]) -> AssetGraph:
    """The graph of assets before definitions are made of them, which need the jobs that it is asked for."""
    return AssetGraph.from_assets([*assets])
