#!/usr/bin/env python3
"""Writes what the web client knows of the schema, from protocol/schema/client:

    Clients/web/src/schema.js      the messages of the core, one a line, as src/wire.js reads them
    Clients/web/src/*-schema.js    those of each module, with the fields that it adds to frames, publications and errors
    Clients/web/src/codes.js       the error codes by name, for apps that compare them

A line has the name of a message and its fields: number (without one it is the next), name, type, and `*` if it is
repeated. A type is `u` (a number that isn't negative), `i` (any number), `b` (a truth value), `s` (a text), `y` (bytes),
or a message; without a type it is the message of the field's name. `--check` writes nothing and fails if the files would change."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "protocol/schema/client"
TARGET = ROOT / "Clients/web/src"
NUMBERS = {"uint32": "u", "uint64": "u", "int64": "i", "bool": "b", "string": "s", "bytes": "y"}
# The modules whose messages are in a schema of their own.
MODULES = {"presence": "presence", "storage": "storage", "lock": "locks", "history": "history"}
MESSAGES = {"ChannelEnded": "streams", "PublishRates": "pacing", "StateItem": "presence"}
HEAD = "// Written by protocol/generate_web.py from protocol/schema.\n"


def camel(name):
    first, *rest = name.lower().split("_")
    return first + "".join(word.capitalize() for word in rest)


def blocks(text, kind):
    for match in re.finditer(rf"^{kind} (\w+) \{{(|\n.*?\n)\}}$", text, re.MULTILINE | re.DOTALL):
        yield match.group(1), match.group(2)


def without_comments(path):
    return re.sub(r"[ \t]+$", "", re.sub(r"//[^\n]*", "", path.read_text()), flags=re.MULTILINE)


def tables(texts, enums):
    """By module, and by None for the core: the lines of its table. A field stands where its message does."""
    owners = {name: MODULES.get(file) for file, text in texts.items() for name, _ in blocks(text, "message")} | MESSAGES
    lines = {module: {} for module in [None, *MODULES.values(), *MESSAGES.values()]}
    for text in texts.values():
        for name, body in blocks(text, "message"):
            last = dict.fromkeys(lines, 0)
            for repeated, kind, field, number in re.findall(r"(repeated )?(\w+) (\w+) = (\d+);", body):
                module = owners.get(kind) if owners[name] is None else owners[name]
                kind = "i" if kind in enums else NUMBERS.get(kind, kind)
                key = camel(field)
                # Most bodies of frames have the names of their messages.
                kind = "" if kind == key[0].upper() + key[1:] else f":{kind}"
                lines[module].setdefault(name, []).append(
                    f"{'' if int(number) == last[module] + 1 else number}{key}{kind}{'*' if repeated else ''}"
                )
                last[module] = int(number)
    return lines


def main():
    texts = {path.stem: without_comments(path) for path in sorted(SCHEMA.glob("*.proto"))}
    enums = dict(pair for text in texts.values() for pair in blocks(text, "enum"))
    codes = re.findall(r"ERROR_(\w+) = (-\d+);", enums["ErrorCode"])
    written = {
        **{
            f"{module}-schema.js" if module else "schema.js": HEAD
            + "export const schema = `"
            + "\n".join(" ".join([name, *fields]) for name, fields in lines.items())
            + "`;\n"
            for module, lines in tables(texts, enums).items()
        },
        "codes.js": HEAD
        + "export const ErrorCode = Object.freeze({\n"
        + "".join(f"  {camel(name)}: {number},\n" for name, number in codes)
        + "});\n",
        "codes.d.ts": HEAD
        + "/** The codes that `RTMError.code` may have; protocol/errors.md says what each means. */\n"
        + "export declare const ErrorCode: {\n"
        + "".join(f"  readonly {camel(name)}: {number};\n" for name, number in codes)
        + "};\n",
    }
    stale = [name for name, content in written.items() if not same(TARGET / name, content)]
    if "--check" in sys.argv:
        sys.exit(f"protocol/generate_web.py would change {', '.join(stale)}" if stale else 0)
    for name in stale:
        (TARGET / name).write_text(written[name])


def same(path, content):
    return path.exists() and path.read_text() == content


if __name__ == "__main__":
    main()
