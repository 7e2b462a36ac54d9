"""The program that serves a graph's code, `dagster code-server start`, begun in this process."""

from dagster._cli.code_server import start_command

__all__ = ["start_command"]
