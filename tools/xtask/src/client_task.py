"""One task by a coding agent as the guard's client, with a scripted model and a user who answers the guard's question.

    python client_task.py claude|codex window|client yes|no FOLDER CERTUTIL GUARD COMMAND [ARGUMENTS]

COMMAND starts the client. The task: look at a shop of this machine, have the user agree to it, have the user's address put into its
form, and order. The question opens on a screen of its own, in the guard's window or in a browser that the client opens at the address of
the question; the user sees it and answers. FOLDER is the home of all of them. No account is used: the client has a key that nobody
issued, and its model is at an address of this machine.
"""

import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import client_page
import scripted_model
from address_shop import PASSPHRASE, VALUES, Shop

LONGEST = 240
LONGEST_GLANCE = 5


class Screen:
    """A screen of its own, with a number that is free. Its picture is in a file."""

    def __init__(self, folder: Path) -> None:
        from_it, to_us = os.pipe()
        command = ["Xvfb", "-displayfd", str(to_us), "-nolisten", "tcp", "-fbdir", str(folder), "-screen", "0", "1280x1024x24"]
        self.process = subprocess.Popen(command, pass_fds=[to_us], stderr=subprocess.DEVNULL)
        os.close(to_us)
        with os.fdopen(from_it) as numbers:
            self.name, self.picture = f":{numbers.readline().strip()}", folder / "Xvfb_screen0"

    def find(self, red: int, green: int, blue: int, length: int) -> tuple[int, int] | None:
        """The place of the first line of this colour and length. The file's form is that of `xwd`, with four bytes for a pixel."""
        picture = self.picture.read_bytes()
        header = struct.unpack(">25I", picture[:100])
        begin, row = header[0] + 12 * header[19], header[12]
        # Nothing says what the fourth byte is.
        found = max(picture.find(bytes((blue, green, red, rest)) * length, begin) for rest in (0x00, 0xFF))
        return None if found < 0 else ((found - begin) % row // 4, (found - begin) // row)


class User:
    """Waits until a question can be answered with yes, and answers: with the mouse for yes, with the key of the focused button for no."""

    # The border of a button for yes, which is grey while a yes does not count yet.
    YES = (0x17, 0x5C, 0x2E, 40)

    def __init__(self, screen: Screen, answer: str) -> None:
        self.screen, self.answer, self.answered = screen, answer, 0
        threading.Thread(target=self.watch, daemon=True).start()

    def xdotool(self, *words: object) -> str:
        environment = {**os.environ, "DISPLAY": self.screen.name}
        return subprocess.run(["xdotool", *map(str, words)], env=environment, capture_output=True, text=True).stdout

    def watch(self) -> None:
        # The picture is gone with the screen.
        with suppress(FileNotFoundError):
            while True:
                time.sleep(0.2)
                if button := self.screen.find(*self.YES):
                    self.respond(*button)

    def respond(self, x: int, y: int) -> None:
        if self.answer == "yes":
            self.xdotool("mousemove", x + 20, y + 15, "click", 1)
        else:
            self.xdotool("key", "space")
        # The guard closes its own window, and a browser shows that the answer was taken. It may have been too early.
        until = time.monotonic() + LONGEST_GLANCE
        while (waits := self.screen.find(*self.YES)) and time.monotonic() < until:
            time.sleep(0.2)
        self.answered += not waits


def vault(guard: str, folder: Path) -> list[str]:
    """Makes the vault, and returns the guard's command with it. No keyring is needed: a shell opens the passphrase's file."""
    passphrase, kept = folder / "passphrase", folder / "private" / "vault"
    passphrase.write_text(PASSPHRASE)
    subprocess.run([guard, "vault", "init", kept], input=f"{PASSPHRASE}\n", text=True, check=True, stdout=subprocess.DEVNULL)
    for field, value in VALUES.items():
        command = [guard, "vault", "add", kept, "address:home", field]
        subprocess.run(command, input=f"{PASSPHRASE}\n{value}\n", text=True, check=True, stdout=subprocess.DEVNULL)
    script = f'exec "$@" --passphrase-fd 3 3<"{passphrase}"'
    return ["sh", "-c", script, "sh", guard, "mcp", "--vault", str(kept), "--audit", str(folder / "audit")]


def claude(folder: Path, model: str, guard: list[str], environment: dict) -> tuple[list[str], dict]:
    """The arguments and the environment of Claude Code, with a hook that opens the address of a question where the guard gives one."""
    unusable = os.geteuid() == 0 or "PORTCULLIS_NO_SANDBOX" in os.environ
    hook = [sys.executable, Path(__file__).with_name("open_address.py"), folder / "opened", os.environ["PORTCULLIS_CHROMIUM"],
            f"--user-data-dir={folder / 'browser'}", "--no-first-run", *(["--no-sandbox"] if unusable else [])]
    opens = {"hooks": [{"type": "command", "command": shlex.join(map(str, hook))}]}
    settings, servers = folder / "settings.json", folder / "mcp.json"
    settings.write_text(json.dumps({"hooks": {"Elicitation": [opens]}}))
    servers.write_text(json.dumps({"mcpServers": {"browser": {"command": guard[0], "args": guard[1:], "env": environment}}}))
    arguments = ["--print", "Order a kettle", "--model", scripted_model.NAME, "--settings", str(settings), "--mcp-config", str(servers),
                 "--strict-mcp-config", "--allowedTools", "mcp__browser"]
    own = {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "no-key", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    # It tries protocol 2026-07-28 first, in which no server asks, and takes the one before if the answer is late.
    return arguments, own | ({"MCP_PROTOCOL_NEGOTIATION": "legacy"} if guard[-1] == "client" else {})


def codex(folder: Path, model: str, guard: list[str], environment: dict) -> tuple[list[str], dict]:
    """The arguments and the environment of Codex. It begins without the tools of a server that is not `required`."""
    home = folder / "codex"
    home.mkdir()
    # Strings, lists of strings and numbers are the same in JSON and in TOML.
    (home / "config.toml").write_text("\n".join([
        'model = "scripted"', 'model_provider = "scripted"', 'approval_policy = "never"',
        "check_for_update_on_startup = false", "[analytics]", "enabled = false", "[model_providers.scripted]",
        'name = "scripted"', f'base_url = "{model}/v1"', 'wire_api = "responses"', 'env_key = "SCRIPTED_KEY"',
        "[mcp_servers.browser]", f"command = {json.dumps(guard[0])}", "required = true",
        f"args = {json.dumps(guard[1:])}", 'default_tools_approval_mode = "approve"',
        "[mcp_servers.browser.env]", *(f"{name} = {json.dumps(value)}" for name, value in environment.items())]))
    return ["exec", "--skip-git-repo-check", "Order a kettle"], {"CODEX_HOME": str(home), "SCRIPTED_KEY": "no-key"}


def main() -> None:
    client, consent, answer, folder, certutil, guard, *command = sys.argv[1:]
    folder = Path(folder)
    host = client_page.serve(certutil, folder, Shop)
    address = {"url": f"https://{host}/"}
    script = scripted_model.Script([
        ("browser_navigate", address),
        ("portcullis_plan", {"origins": [f"https://{host}"], "kinds": ["address"]}),
        ("browser_navigate", address),
        ("portcullis_request", {"requests": [{"kind": "address", "fields": list(VALUES)}]}),
        ("browser_click", {"target": 'role=button[name="Order"]'}),
        ("browser_close", {}),
    ], "browser", "The kettle is ordered.")
    served = [*vault(guard, folder), "--private-hosts", host, "--consent", consent]
    screen = Screen(folder)
    user = User(screen, answer)
    # A client passes few variables on to its servers, and gets none that belongs to an account or to a proxy.
    names = [name for name in os.environ if name.startswith(("PORTCULLIS_", "PLAYWRIGHT_")) or name == "PATH"]
    environment = {name: os.environ[name] for name in names} | {"HOME": str(folder), "DISPLAY": screen.name}
    prepare = {"claude": claude, "codex": codex}[client]
    arguments, own = prepare(folder, scripted_model.serve(script), served, environment)
    work = folder / "work"
    work.mkdir()
    opened = []
    try:
        ran = subprocess.run([*command, *arguments], env=environment | own, cwd=work, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, text=True, timeout=LONGEST)
    finally:
        if (folder / "opened").exists():
            opened = (folder / "opened").read_text().split()
        for process in opened:
            with suppress(ProcessLookupError):
                os.killpg(int(process), signal.SIGTERM)
        screen.process.terminate()
    print(f"{client}, asks in: {consent}")
    for (tool, arguments), result in zip(script.steps, script.results):
        print(f"{tool} {json.dumps(arguments)}\n    {indented(result)}")
    print(f"{client} says: {indented(ran.stdout)}")
    print(f"questions answered: {user.answered}, at addresses that the client opened: {len(opened)}")
    print(f"orders at the shop: {len(Shop.orders)}, with the user's address: {Shop.orders.count(VALUES)}")
    told = sum(value.encode() in body for body in script.received for value in VALUES.values())
    print(f"requests to the model: {len(script.received)}, values of the user's in them: {told}")
    record = [guard, "audit", "show", "--event", "consent_answered", str(folder / "audit")]
    print(f"record: {indented(subprocess.run(record, stdout=subprocess.PIPE, text=True).stdout)}")
    sys.exit(ran.returncode)


def indented(text: str) -> str:
    return text.strip().replace("\n", "\n    ")


main()
