"""A tool that is run by hand, without a request."""

import asyncio

from mcp.server.fastmcp.prompts.base import Prompt
from mcp.server.fastmcp.tools import Tool


def add(a: int, b: int = 1) -> int:
    return a + b


def ask(topic: str) -> str:
    return f"What of {topic}?"


async def main() -> None:
    print(await Tool.from_function(add).run({"a": 2}))
    messages = await Prompt.from_function(ask).render({"topic": "rain"})
    print(messages[0].content.text)


asyncio.run(main())
