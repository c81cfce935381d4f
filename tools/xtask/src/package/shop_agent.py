"""Runs the program `shop-agent` at a shop of this machine, with nobody at the terminal.

    python shop_agent.py PROGRAM CHROMIUM

It fails unless the program reads the shop's page, and its guard asks, and gives nothing where nobody agrees.
"""

import subprocess
import sys
import tempfile
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from address_shop import Shop

LONGEST = 120


def main() -> None:
    program, chromium = sys.argv[1:]
    shop = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{shop.server_port}/"
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([program, chromium, url], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST)
    said = run.stdout
    print("\n".join(line for line in said.splitlines() if line.startswith(("> ", "  ["))))
    if run.returncode != 0 or "a page of" not in said or ", 0 releases" not in said or Shop.orders:
        sys.exit(f"shop-agent ended with {run.returncode}:\n{said}\n{run.stderr}")


main()
