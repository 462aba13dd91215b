#!/usr/bin/env python3
"""usage: Clients/web/bundle.py [--plain] FOLDER

Makes classic scripts of the modules in src, for pages that load a client with a script tag and use its global:

  agora-rtm.js   the API of agora-rtm 2.x, as AgoraRTM
  heliograph.js  the client with all of its modules, as Heliograph

and of the first one agora-rtm.cjs, for programs that load it with `require`.

It needs nothing but Python, because every build of the gateway makes them. Where there is esbuild and no --plain, that makes
smaller ones. The modules are written in a few forms of import and export, and whatever else is met ends this with a sentence.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
source = here / "src"

# What stands behind the modules: what the page gets. A tag may name the servers, so that a page changes nothing but its tag.
ENTRIES = {
    "agora-rtm.js": (
        ["agora-rtm.js"],
        "const servers = globalThis.document?.currentScript?.dataset.server;\n"
        "if (servers) $agora_rtm.setServers(servers.split(/[\\s,]+/));\n"
        "globalThis.AgoraRTM = $agora_rtm.default;\n",
    ),
    "agora-rtm.cjs": (["agora-rtm.js"], "offer({ ...$agora_rtm });\n"),
    "heliograph.js": (
        ["index.js", "presence.js", "storage.js", "locks.js", "history.js", "pacing.js", "once.js", "streams.js", "encryption.js", "codes.js"],
        "globalThis.Heliograph = { {entries} };\n",
    ),
}

IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([\w-]+\.js)';\n", re.M)
EXPORT_LIST = re.compile(r"^export \{([^}]*)\};\n", re.M)
EXPORTED = re.compile(r"^export (?=(?:async )?(?:class|function\*?|const|let) (\w+))", re.M)
DEFAULT = re.compile(r"^export default ", re.M)
COMMENT = re.compile(r"^\s*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.M)


def name_of(file: str) -> str:
    return "$" + file.removesuffix(".js").replace("-", "_")


def renamed(names: str, separator: str) -> str:
    """`a, b as c` of an import or export, as members of an object."""
    pairs = [pair.split(" as ") for pair in re.split(r",\s*", names.strip().rstrip(",")) if pair]
    if separator == "export":
        return ", ".join(pair[0].strip() if len(pair) == 1 else f"{pair[1].strip()}: {pair[0].strip()}" for pair in pairs)
    return ", ".join(pair[0].strip() if len(pair) == 1 else f"{pair[0].strip()}: {pair[1].strip()}" for pair in pairs)


def read(file: str) -> tuple[list[str], str]:
    """What a module imports, and the module as an expression whose value has what it exports."""
    text = (source / file).read_text()
    needs = [found[2] for found in IMPORT.finditer(text)]
    text = IMPORT.sub(lambda found: f"const {{ {renamed(found[1], 'import')} }} = {name_of(found[2])};\n", text)
    members = [renamed(found[1], "export") for found in EXPORT_LIST.finditer(text)]
    members += [found[1] for found in EXPORTED.finditer(text)]
    text = EXPORTED.sub("", EXPORT_LIST.sub("", text))
    if DEFAULT.search(text):
        text = DEFAULT.sub("const byDefault = ", text)
        members.append("default: byDefault")
    if left := re.search(r"^(?:import|export)\b.*", text, re.M):
        sys.exit(f"{file}: this form is not understood: {left[0]}")
    text = re.sub(r"^[ \t]+", "", COMMENT.sub("", text), flags=re.M)
    return needs, f"const {name_of(file)} = (() => {{\n{text}return {{ {', '.join(members)} }};\n}})();\n"


def bundle(entries: list[str], end: str) -> str:
    done: dict[str, str] = {}

    def add(file: str, path: tuple[str, ...]) -> None:
        if file in path:
            sys.exit(f"modules import one another: {' → '.join((*path, file))}")
        if file in done:
            return
        needs, text = read(file)
        for need in needs:
            add(need, (*path, file))
        done[file] = text

    for entry in entries:
        add(entry, ())
    end = end.replace("{entries}", ", ".join(f"...{name_of(entry)}" for entry in entries))
    return f"(() => {{\n'use strict';\n{''.join(done.values())}{end}}})();\n"


def smaller(entries: list[str], end: str) -> str:
    """The same by esbuild, which puts all modules into one scope and shortens the names."""
    if not shutil.which("esbuild"):
        return bundle(entries, end)
    imports = "".join(f"import * as {name_of(entry)} from './src/{entry}';\n" for entry in entries)
    end = end.replace("{entries}", ", ".join(f"...{name_of(entry)}" for entry in entries))
    command = ["esbuild", "--bundle", "--minify", "--format=iife"]
    return subprocess.run(command, input=imports + end, capture_output=True, text=True, check=True, cwd=here).stdout


def scripts(make=smaller) -> dict[str, str]:
    """The scripts by name."""
    version = json.loads((here / "package.json").read_text())["version"]
    head = f"/* heliograph {version}, Apache-2.0, https://www.apache.org/licenses/LICENSE-2.0 */\n"
    # esbuild takes what names `module` itself for another kind of source.
    offers = {"agora-rtm.cjs": "const offer = (all) => { module.exports = all; };\n"}
    return {name: head + offers.get(name, "") + make(*entry) for name, entry in ENTRIES.items()}


if __name__ == "__main__":
    plain = sys.argv[1:2] == ["--plain"]
    if len(sys.argv) != 2 + plain:
        sys.exit(__doc__)
    folder = Path(sys.argv[-1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in scripts(bundle if plain else smaller).items():
        (folder / name).write_text(text)
