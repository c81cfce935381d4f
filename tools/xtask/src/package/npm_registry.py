"""A registry of npm's on this machine, with the packages of a folder and no other.

    python npm_registry.py FOLDER

It prints its address, and serves until its standard input ends.
"""

import base64
import hashlib
import json
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def read(file: Path) -> dict:
    """The `package.json` of a package."""
    with tarfile.open(file) as package:
        return json.load(package.extractfile("package/package.json"))


def main() -> None:
    files = {file.name: file for file in Path(sys.argv[1]).glob("*.tgz")}
    packages = {name: read(file) for name, file in files.items()}

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.path.strip("/").split("/")
            if wanted[-1] in files:
                return self.answer(200, "application/octet-stream", files[wanted[-1]].read_bytes())
            versions = {}
            for name, manifest in packages.items():
                if manifest["name"] == wanted[0]:
                    digest = base64.b64encode(hashlib.sha512(files[name].read_bytes()).digest()).decode()
                    address = f"http://127.0.0.1:{self.server.server_port}/{manifest['name']}/-/{name}"
                    versions[manifest["version"]] = manifest | {"dist": {"tarball": address, "integrity": f"sha512-{digest}"}}
            if not versions:
                return self.answer(404, "application/json", b"{}")
            listed = {"name": wanted[0], "versions": versions, "dist-tags": {"latest": list(versions)[-1]}}
            return self.answer(200, "application/json", json.dumps(listed).encode())

        def answer(self, status: int, kind: str, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()


main()
