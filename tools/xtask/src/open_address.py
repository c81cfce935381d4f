"""A hook of Claude Code for `Elicitation`: opens the address that the server gives in a browser, as a client with a display does.

    python open_address.py FILE CHROMIUM [OPTIONS OF CHROMIUM]

The browser's process is added to FILE.
"""

import json
import subprocess
import sys
from pathlib import Path

file, *command = sys.argv[1:]
nowhere = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
browser = subprocess.Popen([*command, f"--app={json.load(sys.stdin)['url']}"], start_new_session=True, **nowhere)
with Path(file).open("a") as processes:
    processes.write(f"{browser.pid}\n")
print(json.dumps({"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "accept"}}))
