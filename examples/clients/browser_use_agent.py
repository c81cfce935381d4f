"""browser-use (PyPI package `browser-use`) with the guard as its only way to a browser.

browser-use's own actions are removed, and the guard's tools are registered as actions. Scripted steps replace the model and show
its calls and their results. It needs no key and no account.

    pip install browser-use
    python examples/clients/browser_use_agent.py target/debug/portcullis [ARGUMENTS OF portcullis mcp]

With a model, pass `tools` to `browser_use.Agent(task=..., llm=..., tools=tools)`.
"""

import asyncio
import os
import sys

os.environ.setdefault("ANONYMIZED_TELEMETRY", "false")
os.environ.setdefault("BROWSER_USE_LOGGING_LEVEL", "error")

from browser_use import Tools
from browser_use.mcp.client import MCPClient


async def guarded_tools(command: str, arguments: list[str]) -> tuple[Tools, MCPClient]:
    """Replaces browser-use's actions by those of the guard."""
    own = list(Tools().registry.registry.actions)
    # `done` ends a task and touches no page.
    tools = Tools(exclude_actions=[name for name in own if name != "done"])
    client = MCPClient(server_name="portcullis", command=command, args=["mcp", *arguments], env=dict(os.environ))
    await client.register_to_tools(tools)
    return tools, client


async def main() -> None:
    tools, client = await guarded_tools(sys.argv[1], sys.argv[2:])
    try:
        actions = tools.registry.registry.actions
        print("actions:", ", ".join(sorted(actions)))
        steps = [
            ("portcullis_status", {}),
            # No value can be requested before there is a page and a plan.
            ("portcullis_request", {"requests": [{"kind": "payment", "fields": ["card_number"]}]}),
            # The guard opens no service of this machine.
            ("browser_navigate", {"url": "https://127.0.0.1:9/"}),
            ("portcullis_status", {}),
            ("browser_type", {"target": "e1", "text": "hello"}),
            ("browser_close", {}),
        ]
        for name, parameters in steps:
            # browser-use's agent calls `registry.execute_action` with the choice of its model.
            model = actions[name].param_model
            result = await tools.registry.execute_action(name, model(**parameters).model_dump(exclude_unset=True))
            said = (result.extracted_content or result.error or "").strip()
            print(f"{name} {parameters}\n    {said}")
    finally:
        await client.disconnect()


if __name__ == "__main__":
    asyncio.run(main())
