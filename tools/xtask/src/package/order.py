"""A scripted client and a scripted person, who order at a shop of this machine by an installed `portcullis`.

    python order.py ROOT START INSIDE...

START is the command in the root file system ROOT, and INSIDE are the words by which a shell of that root is called with a script. The last line
of the output is `ordered` and the seconds to the first guarded page, with a tab between, or why nothing was ordered.
"""

import subprocess
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from pathlib import Path

SOURCES = Path(__file__).parent.parent
sys.path[:0] = [str(SOURCES), str(SOURCES / "real")]
import agent
from address_shop import PASSPHRASE, VALUES, Shop


def main() -> None:
    root, start, *shell = sys.argv[1:]

    def inside(script: str) -> list[str]:
        return [*shell, script]

    def called(words: str) -> str:
        """The program called with these words. A command that ends with `-c` takes them as one word for a shell."""
        return f"{start} 'portcullis {words}'" if start.endswith(" -c") else f"{start} {words}"

    def vault(what: str, lines: list[str]) -> None:
        text = "".join(f"{line}\n" for line in [PASSPHRASE, *lines])
        subprocess.run(inside(called(f"vault {what}")), input=text, text=True, check=True, stdout=subprocess.DEVNULL)

    vault("init /root/order-vault/vault", [])
    for field, value in VALUES.items():
        vault(f"add /root/order-vault/vault address:home {field}", [value])
    shop = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{shop.server_port}"
    phrase = Path(root) / "root/order-vault/passphrase"
    phrase.write_text(PASSPHRASE)
    phrase.chmod(0o600)
    mcp = called("mcp --vault /root/order-vault/vault --audit /root/order-audit --passphrase-fd 3 "
                 f"--private-hosts 127.0.0.1:{shop.server_port} 3</root/order-vault/passphrase")
    command = inside(f"cd /tmp && exec {mcp}")
    person, began, first = agent.Person(), time.monotonic(), 0.0
    server, step = agent.Server(command, person, ""), ["begin"]
    try:
        server.begin()
        client = agent.Agent(server, address, {}, False)
        for step in (["plan", "address"], ["open", "/"],
                     ["request", 'address fields=["name","street","postal_code","city"]', []], ["click", "button", "Order"], ["see", "Thank you"]):
            client.step(step)
            if step[0] == "open":
                first = time.monotonic() - began
    except agent.Stopped as stopped:
        print(f"{stopped} at {step}")
        return
    finally:
        server.end()
    if Shop.orders != [VALUES]:
        print("the shop has another order than the one in the vault")
        return
    print(f"ordered\t{first:.1f}")


if __name__ == "__main__":
    main()
