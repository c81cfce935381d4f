"""A scripted agent before an MCP server for a browser, and a scripted person who answers the guard's questions.

    python agent.py list TASKS
    python agent.py code SEED
    python agent.py guard|bare TASKS NAME ADDRESS FOLDER COMMAND [ARGUMENTS]

`list` prints a line for each task: name, program, policy, what is done, and where its login is. The other two do the task NAME once in the program at
ADDRESS, whose data are in FOLDER, with the server that COMMAND starts. The last line of the output is the outcome: `done`, `refused`
or `failed`, the reason, the number of questions, and seconds, with tabs between. Elements are looked up by role and name in the
text that the server last told of the page, as a model does. A step of a task is a list:

    plan KIND...              say what will be asked for (guard only)
    open PATH                 open an address of the program
    click|dismiss ROLE NAME   click an element; `dismiss` one that is not always there
    type ROLE NAME TEXT       type into a box
    select NAME OPTION        choose an option
    request BLOCK BOXES       ask the guard for values; without a guard, type the values of BOXES (role, name, value) as a model would
    see WORDS                 the page shows these words
    bare STEPS                steps for an agent without a guard alone

`code SEED` prints the one-time code of now.
"""

import base64
import hmac
import http.client
import json
import re
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from queue import Empty, Queue
from urllib.parse import urlsplit

LONGEST_SILENCE = 90
LATEST = 4
READS = 0.9  # A yes before the least time of reading does not count.


def code_of(seed: str) -> str:
    """The one-time code of now (RFC 6238)."""
    step = int(time.time() // 30).to_bytes(8, "big")
    digest = hmac.digest(base64.b32decode(seed), step, "sha1")
    at = digest[-1] & 15
    return f"{(int.from_bytes(digest[at:at + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06}"


def next_code(seed: str) -> str:
    """The next code: a site takes none twice, and this one may have been used by another task."""
    time.sleep(30 - time.time() % 30)
    return code_of(seed)


class Stopped(Exception):
    """A step that does not go on."""


class Missing(Exception):
    """What the page does not show, or not yet."""


class Person:
    """Answers each question of the consent page with a yes for once, and remembers what it asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def say(self, url, body: dict) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=30)
        origin = f"http://127.0.0.1:{url.port}"
        connection.request("POST", url.path + "say", json.dumps(body, separators=(",", ":")), {
            "Origin": origin, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "same-origin", "Sec-Fetch-Dest": "empty",
            "Content-Type": "application/json", "X-Portcullis": "consent"})
        return connection.getresponse().read().decode()

    def answer(self, address: str, code: str) -> None:
        url = urlsplit(address)
        shown = json.loads(self.say(url, {"show": url.fragment}))
        self.asked.append(json.dumps(shown))
        time.sleep(READS)
        asks_for_code = shown.get("code") is not None
        reply = {"nonce": url.fragment, "subject": shown["subject"]}
        reply |= {"code": code} if asks_for_code else {"answer": "once"}
        self.say(url, reply)


class Server:
    """The MCP server, line by line on its standard streams."""

    def __init__(self, command: list[str], person: Person, code: str) -> None:
        self.person, self.code, self.next, self.lines = person, code, 0, Queue()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def begin(self) -> None:
        client = {"name": "scripted agent", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"url": {}}},
                                "clientInfo": client})
        self._send({"method": "notifications/initialized"})

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def _send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict) -> dict:
        self.next += 1
        self._send({"id": self.next, "method": method, "params": params})
        while True:
            try:
                message = self.lines.get(timeout=LONGEST_SILENCE)
            except Empty:
                raise Stopped("the server says nothing") from None
            if message is None:
                raise Stopped("the server went away")
            if message.get("method") == "elicitation/create":
                self._send({"id": message["id"], "result": {"action": "accept"}})
                self.person.answer(message["params"]["url"], self.code)
            elif message.get("id") == self.next and "method" not in message:
                return message

    def call(self, tool: str, arguments: dict) -> str:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        content = result.get("result", {}).get("content", [])
        return "\n".join(part.get("text", "") for part in content) or json.dumps(result)

    def end(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Agent:
    """Carries out the steps of one task."""

    def __init__(self, server: Server, address: str, values: dict, bare: bool) -> None:
        self.server, self.address, self.values, self.bare, self.page = server, address, values, bare, ""

    def ref(self, role: str, name: str) -> str:
        """The first element of the page with this role whose name holds these words; else the first one after these words, as
        for a box in a table. `Email#2` is the second one that fits."""
        words, _, number = name.lower().partition("#")
        fits, after, beside = 0, False, None
        for line in self.page.splitlines():
            found = re.match(r"\s*- (\w+)\b(.*?)\[ref=(\w+)\]", line)
            if found and found[1] == role:
                fits += words in found[2].lower()
                if words in found[2].lower() and fits == int(number or 1):
                    return found[3]
                beside = beside or (found[3] if after else None)
            after = after or f'"{words}"' in line.lower() or line.lower().strip() == f"- text: {words}"
        if beside and not number:
            return beside
        raise Missing(f"the page shows no {role} {name!r}")

    def patiently(self, look):
        """Looks, and looks anew at what a page shows late."""
        until = time.monotonic() + LATEST
        while True:
            try:
                return look()
            except Missing as missing:
                if time.monotonic() > until:
                    raise Stopped(str(missing)) from None
            time.sleep(0.4)
            self.page = self.server.call("browser_snapshot", {})

    def shows(self, words: str) -> None:
        if words.lower() not in self.page.lower():
            raise Missing(f"the page does not show {words!r}")

    def find(self, role: str, name: str) -> str:
        return self.patiently(lambda: self.ref(role, name))

    def told(self, answer: str, step: list) -> None:
        """Writes an answer down, and stops at a denial, which is final, and at an error."""
        print(json.dumps(step), "->", answer.replace("\n", "\n    "))
        if "DENY." in answer:
            raise Stopped(re.search(r"DENY\.[^\n]*", answer)[0])
        if answer.startswith("### Error"):
            raise Stopped(answer[:160])

    def act(self, step: list, tool: str, arguments: dict) -> None:
        answer = self.server.call(tool, arguments)
        until = time.monotonic() + LATEST
        # What moves still, or is covered still, is tried again.
        while '"occluded"' in answer and time.monotonic() < until:
            time.sleep(0.5)
            answer = self.server.call(tool, arguments)
        self.told(answer, step)
        self.page = self.server.call("browser_snapshot", {})
        print("    " + self.page.replace("\n", "\n    "))

    def step(self, step: list) -> None:
        verb, rest = step[0], step[1:]
        if verb == "plan":
            if not self.bare:
                block = "".join(f"PLAN.{kind}\n" for kind in rest) + "PLAN.end" if rest else None
                given = {"origins": [self.address]} | ({"plan": block} if block else {})
                self.told(self.server.call("portcullis_plan", given), step)
        elif verb == "open":
            self.act(step, "browser_navigate", {"url": self.address + rest[0]})
        elif verb == "click":
            self.act(step, "browser_click", {"element": rest[1], "target": self.find(*rest)})
        elif verb == "dismiss":
            try:
                self.step(["click", *rest])
            except Stopped as not_there:
                print("not there:", not_there)
        elif verb == "type":
            self.act(step, "browser_type", {"element": rest[1], "target": self.find(rest[0], rest[1]), "text": rest[2]})
        elif verb == "select":
            self.act(step, "browser_select_option",
                     {"element": rest[0], "target": self.find("combobox", rest[0]), "values": [rest[1]]})
        elif verb == "request":
            if self.bare:
                for role, name, key in rest[1]:
                    self.step([("select" if role == "combobox" else "type"), *([name] if role == "combobox" else [role, name]),
                               next_code(self.values["seed"]) if key == "code" else self.values[key]])
            else:
                self.act(step, "portcullis_request", {"block": f"REQ.{rest[0]}\nREQ.end"})
        elif verb == "bare":
            for one in rest[0] if self.bare else []:
                self.step(one)
        elif verb == "see":
            self.patiently(lambda: self.shows(rest[0]))
        else:
            raise ValueError(verb)


def found(check: dict, folder: Path) -> str:
    """What the program itself has in its database or file."""
    if "file" in check:
        file = folder / check["file"]
        return file.read_text() if file.exists() else "(no such file)"
    if "sqlite" in check:
        with closing(sqlite3.connect(folder / check["sqlite"])) as database:
            rows = database.execute(check["select"]).fetchall()
        return "\n".join("|".join(str(value) for value in row) for row in rows)
    command = ["mariadb", "--no-defaults", f"--socket={folder / 'db.sock'}", "-u", "root", "-N", "wordpress", "-e", check["select"]]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    if sys.argv[1] == "code":
        print(code_of(sys.argv[2]))
        return
    with open(sys.argv[2]) as file:
        read = json.load(file)
    if sys.argv[1] == "list":
        for task in read["tasks"]:
            print(task["name"], task["program"], task.get("policy", "default"), task["what"], task.get("login", "vault"), sep="\t")
        return
    mode, _, name, address, folder = sys.argv[1:6]
    task = next(task for task in read["tasks"] if task["name"] == name)
    person, began, outcome, why = Person(), time.monotonic(), "done", ""
    server, step = Server(sys.argv[6:], person, read["values"]["card_code"]), ["begin"]
    try:
        server.begin()
        agent = Agent(server, address, read["values"], mode == "bare")
        for step in task["steps"]:
            agent.step(step)
    except Stopped as stopped:
        outcome = "refused" if str(stopped).startswith("DENY.") else "failed"
        at = " ".join(word for word in step[:3] if isinstance(word, str))
        why = f"{stopped} at `{at}`"
    seconds = time.monotonic() - began
    server.end()
    for question in person.asked:
        print("question:", question)
    if outcome == "done" and "check" in task:
        there = found(task["check"], Path(folder))
        if task["wants"] not in there:
            outcome, why = "failed", f"the program has {there.strip()!r}, and not {task['wants']!r}"
    print(outcome, why.replace("\t", " ").replace("\n", " "), len(person.asked), f"{seconds:.1f}", sep="\t")


if __name__ == "__main__":
    main()
