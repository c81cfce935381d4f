"""A registry of Cargo's in a folder, of packages that were not published.

    cargo metadata --no-deps --format-version 1 | python registry.py CRATES FOLDER

CRATES has the `.crate` files. FOLDER gets the index, as a repository of Git's; the address of the registry is printed.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

CRATES_IO = "https://github.com/rust-lang/crates.io-index"


def place(name: str) -> Path:
    """Where the index has a package."""
    if len(name) < 4:
        return Path(str(len(name)), *([name[0]] if len(name) == 3 else []), name)
    return Path(name[:2], name[2:4], name)


def dependency(own: dict) -> dict:
    """A dependency, as the index writes it. One of ours is in the same registry."""
    line = {"name": own["rename"] or own["name"], "req": own["req"], "features": own["features"], "optional": own["optional"],
            "default_features": own["uses_default_features"], "target": own["target"], "kind": own["kind"] or "normal",
            "registry": None if own.get("path") else CRATES_IO}
    if own["rename"]:
        line["package"] = own["name"]
    return line


def main() -> None:
    crates, folder = Path(sys.argv[1]), Path(sys.argv[2])
    index = folder / "index"
    index.mkdir(parents=True)
    for package in json.load(sys.stdin)["packages"]:
        file = crates / f"{package['name']}-{package['version']}.crate"
        if package["publish"] == []:
            continue
        # Who depends on a package does not build what it develops with.
        dependencies = [dependency(own) for own in package["dependencies"] if own["kind"] != "dev"]
        line = {"name": package["name"], "vers": package["version"], "deps": dependencies,
                "cksum": hashlib.sha256(file.read_bytes()).hexdigest(), "features": {}, "features2": package["features"],
                "yanked": False, "v": 2}
        entry = index / place(package["name"])
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text(json.dumps(line) + "\n")
    download = f"{crates.resolve().as_uri()}/{{crate}}-{{version}}.crate"
    (index / "config.json").write_text(json.dumps({"dl": download}))
    author = ["-c", "user.name=portcullis", "-c", "user.email=portcullis@localhost", "-c", "commit.gpgsign=false"]
    for words in [["init", "--quiet"], ["add", "--all"], [*author, "commit", "--quiet", "--message", "index"]]:
        subprocess.run(["git", *words], cwd=index, check=True, stdout=subprocess.DEVNULL)
    print(index.resolve().as_uri())


main()
