"""The official Python SDK of MCP (PyPI package `mcp`) with the guard as its server. No key, no account, no model.

It opens a page, reads its text, requests a value that is denied, and takes a screenshot.

    pip install mcp
    python examples/clients/python_sdk.py https://example.org/ target/debug/portcullis [ARGUMENTS OF portcullis mcp]
"""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(address: str, command: str, arguments: list[str]) -> None:
    # By default the SDK passes almost no environment variables; the guard needs them to find Chromium.
    guard = StdioServerParameters(command=command, args=["mcp", *arguments], env=dict(os.environ))
    async with stdio_client(guard) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        print("tools:", ", ".join(tool.name for tool in tools))
        for name, parameters in [
            ("portcullis_status", {}),
            ("browser_navigate", {"url": address}),
            ("browser_find", {"regex": "heading"}),
            ("portcullis_request", {"requests": [{"kind": "payment", "fields": ["card_number"]}]}),
            ("browser_take_screenshot", {}),
            ("portcullis_status", {}),
            ("browser_close", {}),
        ]:
            result = await session.call_tool(name, parameters)
            print(f"{name} {parameters}")
            for block in result.content:
                print("   ", getattr(block, "text", f"({block.type})").replace("\n", "\n    "))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
