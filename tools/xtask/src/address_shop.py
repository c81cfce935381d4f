"""A shop of this machine with a form for an address, and the person whose address goes into it."""

from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qsl

PASSPHRASE = "Vexillary ptarmigan 88 kettledrum"
VALUES = {"name": "Ada Quill", "street": "17 Quarry Road", "postal_code": "BS1 4DJ", "city": "Bristol"}
LABELS = {"name": ("Full name", "name"), "street": ("Street and number", "address-line1"),
          "postal_code": ("Postal code", "postal-code"), "city": ("City", "address-level2")}


class Shop(BaseHTTPRequestHandler):
    """A form for an address, and a page of thanks."""

    orders: list[dict] = []

    def do_GET(self) -> None:
        boxes = [f'<p><label>{label} <input name="{name}" autocomplete="{hint}"></label>'
                 for name, (label, hint) in LABELS.items()]
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
