#!/usr/bin/env python3
"""Wraps the prose of the documents at 110 columns: `docs/wrap.py` rewrites every document that git knows, and
`docs/wrap.py --check` only names the lines that are too long. Paths after that choose other documents.

Only a paragraph or list item with a line that is too long is wrapped again, so that a change stays small. Tables,
code, headings, images and definitions of links stay as they are, and so do code spans and short links within a
paragraph. A list item goes on below its own text."""

import pathlib
import re
import subprocess
import sys

COLUMNS = 110
ROOT = pathlib.Path(__file__).resolve().parents[1]
# Written by `make write` from Clients/Ledger.
GENERATED = {"docs/compatibility.md"}

MARKER = re.compile(r"(?P<indent> *)(?P<marker>[-*+]|\d+[.)]) +(?=\S)")
FENCE = re.compile(r" *(```|~~~)")
VERBATIM = re.compile(r" *(\||#|<|!\[|\[[^\]]+\]: |---|===|>)| {4,}\S")
# What a wrapped line may not begin with, because it would then be something else: a list item, a heading, a table,
# a quotation, an underline of a heading, or the title of a table of fields (Tests/Wire/ProtocolDocumentTests.swift).
BEGINS_BLOCK = re.compile(r"[-*+]$|1[.)]$|#|\||>|=+$|-+$|\*\*`")
# A code span, or a link, with what is attached to it.
TOKEN = re.compile(r"(?:[^\s`\[]|`[^`]*`|\[(?:[^\]`]|`[^`]*`)*\]\([^)\s]*\)|\[|`)+")


def words(text):
    """The pieces between which a line may end. A link that is long itself may be broken in its text."""
    found = []
    for match in TOKEN.finditer(text):
        piece = match.group()
        found += piece.split() if len(piece) > 70 and "](" in piece and "`" not in piece else [piece]
    kept = []
    for piece in found:
        if kept and BEGINS_BLOCK.match(piece):
            kept[-1] += " " + piece
        else:
            kept.append(piece)
    return kept


def fill(text, first, rest):
    lines, line = [], first
    for word in words(text):
        starts = line == (rest if lines else first)
        if starts or len(line) + 1 + len(word) <= COLUMNS:
            line += word if starts else " " + word
        else:
            lines.append(line)
            line = rest + word
    return lines + [line]


def blocks(lines):
    """Yields lists of lines, each with whether it is prose: one paragraph, or the first paragraph of a list item."""
    block, is_code = [], False
    for line in lines:
        if FENCE.match(line) or is_code:
            if block:
                yield block, True
                block = []
            if FENCE.match(line):
                is_code = not is_code
            yield [line], False
            continue
        marker = MARKER.match(line)
        if marker or not line.strip() or (VERBATIM.match(line) and not (block and line.startswith("    "))):
            if block:
                yield block, True
                block = []
            if marker:
                block = [line]
            else:
                yield [line], False
            continue
        block.append(line)
    if block:
        yield block, True


def wrapped(block):
    if all(len(line) <= COLUMNS for line in block):
        return block
    # A line that ends with two spaces or a backslash ends there on purpose.
    if any(line.endswith(("  ", "\\")) for line in block):
        return block
    marker = MARKER.match(block[0])
    first = marker.group() if marker else re.match(" *", block[0]).group()
    rest = " " * len(first)
    text = " ".join([block[0][len(first):]] + [line.strip() for line in block[1:]])
    return fill(text, first, rest)


def rewrite(text):
    return "\n".join(line for block, is_prose in blocks(text.split("\n"))
                     for line in (wrapped(block) if is_prose else block))


def main():
    arguments = sys.argv[1:]
    is_check = "--check" in arguments
    paths = [path for path in arguments if path != "--check"]
    if not paths:
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard",
                                 "*.md"], capture_output=True, text=True, check=True).stdout.split()
        paths = [path for path in listed if path not in GENERATED]
    status = 0
    for path in paths:
        file = ROOT / path
        if not file.exists():
            continue
        text = file.read_text()
        new = rewrite(text)
        if new == text:
            continue
        if is_check:
            status = 1
            number = next(index for index, (old, other) in enumerate(zip(text.split("\n"), new.split("\n")), 1)
                          if old != other)
            print(f"{path}:{number}: prose wraps at {COLUMNS} columns; docs/wrap.py does it")
        else:
            file.write_text(new)
    sys.exit(status)


if __name__ == "__main__":
    main()
