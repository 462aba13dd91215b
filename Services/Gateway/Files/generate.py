#!/usr/bin/env python3
"""usage: Services/Gateway/Files/generate.py [--check]

Writes files.c, by which the compiler takes the files that the gateway serves into its binary. Run it when a file comes
or goes; what is in a file needs no run. With --check it only says whether files.c is right.
"""

import sys
from pathlib import Path

here = Path(__file__).resolve().parent
root = here.parents[2]
# Where the files lie, under which path they are served, and which of them.
FOLDERS = [
    ("Services/Gateway/Console", "console", (".html", ".js", ".css", ".svg")),
    ("Clients/web/src", "web/src", (".js",)),
    ("Clients/web/sample", "web/sample", (".html", ".js", ".css")),
]


def text() -> str:
    arrays, rows = [], []
    for folder, path, kinds in FOLDERS:
        for file in sorted(p for p in (root / folder).rglob("*") if p.suffix in kinds):
            name = file.relative_to(root / folder).as_posix()
            source = Path("../../..") / folder / name
            arrays.append(f'static const unsigned char file_{len(rows)}[] = {{\n#embed "{source.as_posix()}"\n}};')
            rows.append(f'    {{"{path}/{name}", file_{len(rows)}, sizeof file_{len(rows)}}},')
    return (
        "// Written by generate.py.\n\n#include \"gateway_files.h\"\n\n"
        "#pragma clang diagnostic ignored \"-Wc23-extensions\"\n\n"
        + "\n".join(arrays)
        + "\n\nstatic const struct gateway_file gateway_files[] = {\n"
        + "\n".join(rows)
        + "\n};\n\nconst size_t gateway_files_count = sizeof gateway_files / sizeof gateway_files[0];\n\n"
        + "const struct gateway_file *gateway_file_at(size_t index) { return &gateway_files[index]; }\n"
    )


target = here / "files.c"
if sys.argv[1:] == ["--check"]:
    sys.exit(0 if target.read_text() == text() else f"{target.name} is not what {Path(__file__).name} writes")
target.write_text(text())
