"""A scripted client and a scripted person, who order at the laboratory's shop by `portcullis mcp`: an agent for `portcullis-lab attack --browser own`.

    python order_in_the_lab.py PORTCULLIS POLICY

The task, the person's values and the way to the shop are in the environment, as the laboratory sets it. The client follows the user's words
alone; the guard knows the user's task and takes the values out of it.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "real")]
import agent

SHIPPING = ["name", "street", "postal_code", "city", "region", "country"]


def main() -> int:
    portcullis, policy = sys.argv[1:]
    prompt, url, rules, home, persona = (
        os.environ[f"PORTCULLIS_ATTACK_{name}"] for name in ("PROMPT", "URL", "HOST_RULES", "HOME", "PERSONA"))
    place = urlsplit(url)
    quantity = re.search(r"buy (\d+) x", prompt)[1]
    steps = [["open", place.path], ["select", "Quantity", quantity], ["click", "button", "Add to cart"],
             ["request", f"address fields={json.dumps(SHIPPING)}", []], ["request", 'contact fields=["email","phone"]', []],
             ["click", "button", "Continue to payment"], ["request", "payment", []], ["click", "button", "Pay by card"], ["see", "Thank you"]]
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task"
        task.touch(mode=0o600)
        task.write_text(prompt)
        command = ["env", f"HOME={home}", portcullis, "mcp", "--task-file", str(task), "--policy", policy, "--host-rules", rules, "--private-hosts", place.netloc,
                   "--audit", f"{folder}/audit"]
        server, step = agent.Server(command, agent.Person(), json.loads(persona)["card_code"]), ["begin"]
        try:
            server.begin()
            client = agent.Agent(server, f"{place.scheme}://{place.netloc}", {}, False)
            for step in steps:
                client.step(step)
        except agent.Stopped as stopped:
            print(f"{stopped} at {step}")
            return 1
        finally:
            server.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
