"""A scripted client and a scripted person, who order at a shop of this machine by an installed `portcullis`.

    python order.py ROOT START

START is the command in the root file system ROOT. The last line of the output is `ordered` and the seconds to the first guarded page, with
a tab between, or why nothing was ordered.
"""

import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl

sys.path.insert(0, str(Path(__file__).parent.parent / "real"))
import agent

PASSPHRASE = "Vexillary ptarmigan 88 kettledrum"
VALUES = {"name": "Ada Quill", "street": "17 Quarry Road", "postal_code": "BS1 4DJ", "city": "Bristol"}
LABELS = {"name": ("Full name", "name"), "street": ("Street and number", "address-line1"),
          "postal_code": ("Postal code", "postal-code"), "city": ("City", "address-level2")}


class Shop(BaseHTTPRequestHandler):
    """A form for an address, and a page of thanks."""

    orders: list[dict] = []

    def do_GET(self) -> None:
        boxes = [f'<p><label>{label} <input name="{name}" autocomplete="{hint}"></label>' for name, (label, hint) in LABELS.items()]
        self.show(f'<h1>Kettles</h1><form method="post" action="/order">{"".join(boxes)}<p><button>Order</button></form>')

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Shop.orders.append(dict(parse_qsl(body.decode())))
        self.show("<h1>Thank you</h1><p>The kettle is on its way.")

    def show(self, page: str) -> None:
        content = f"<!doctype html><meta charset=utf-8><title>A shop</title>{page}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    root, start = sys.argv[1:]

    def inside(script: str) -> list[str]:
        path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        return ["chroot", root, "/usr/bin/env", "-i", "HOME=/root", path, "/bin/sh", "-ec", script]

    def vault(what: str, lines: list[str]) -> None:
        text = "".join(f"{line}\n" for line in [PASSPHRASE, *lines])
        subprocess.run(inside(f"{start} vault {what}"), input=text, text=True, check=True, stdout=subprocess.DEVNULL)

    vault("init /root/order-vault/vault", [])
    for field, value in VALUES.items():
        vault(f"add /root/order-vault/vault address:home {field}", [value])
    shop = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{shop.server_port}"
    phrase = Path(root) / "root/order-vault/passphrase"
    phrase.write_text(PASSPHRASE)
    phrase.chmod(0o600)
    command = inside(f"cd /tmp && exec {start} mcp --vault /root/order-vault/vault --audit /root/order-audit --passphrase-fd 3 "
                     f"--private-hosts 127.0.0.1:{shop.server_port} 3</root/order-vault/passphrase")
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
