#!/usr/bin/env python3
"""Compares the public symbols of the modules that apps import with those of the last release, which
Tests/Package/api holds. What is gone or has another declaration breaks apps: then the next version needs a new first
number (while that is 0, a new second one). `api.py record` writes the files anew: that is part of a release.

The modules have to be built. Symbols that come from other modules don't count."""

import json
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
modules = ["RTMModel", "RTMClient", "AgoraRtmKit"]


def include_paths():
    """The folders of the C modules without which the others can't be read."""
    build = root / ".build"
    maps = [*build.glob("debug/*.build/module.modulemap"), *build.glob("checkouts/*/Sources/*/include/module.modulemap"),
            *root.glob("Shared/*/module.modulemap")]
    words = ["-I", str(build / "debug/Modules")]
    for module in maps:
        words += ["-Xcc", f"-fmodule-map-file={module}"]
    for folder in build.glob("checkouts/*/Sources/*/include"):
        words += ["-Xcc", "-I", "-Xcc", str(folder)]
    return words


def symbols(module):
    with tempfile.TemporaryDirectory() as folder:
        target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))["target"]["triple"]
        subprocess.run(["swift-symbolgraph-extract", "-module-name", module, "-target", target,
                        "-minimum-access-level", "public", "-skip-synthesized-members", "-skip-inherited-docs",
                        *include_paths(), "-output-dir", folder], check=True)
        lines = set()
        for path in pathlib.Path(folder).glob("*.symbols.json"):
            for symbol in json.loads(path.read_text())["symbols"]:
                declaration = "".join(part["spelling"] for part in symbol.get("declarationFragments", []))
                lines.add(f"{'.'.join(symbol['pathComponents'])}: {' '.join(declaration.split())}")
        return lines


def main():
    folder = root / "Tests/Package/api"
    broken = False
    for module in modules:
        path = folder / f"{module}.txt"
        now = symbols(module)
        if sys.argv[1:] == ["record"]:
            folder.mkdir(exist_ok=True)
            path.write_text("\n".join(sorted(now)) + "\n")
            print(f"{module}: {len(now)} symbols are recorded")
            continue
        then = set(path.read_text().splitlines())
        for line in sorted(then - now):
            print(f"{module} breaks: {line}")
        broken = broken or bool(then - now)
        print(f"{module}: {len(then - now)} symbols are gone or different, {len(now - then)} are new")
    if broken:
        sys.exit("apps that use these don't compile any more: keep them, or raise the first number of the version")


if __name__ == "__main__":
    main()
