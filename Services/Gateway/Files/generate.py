#!/usr/bin/env python3
"""usage: Services/Gateway/Files/generate.py [--check | --scripts]

Writes files.c, by which the compiler takes the files that the gateway serves into its binary. Run it when a file comes
or goes; what is in a file needs no run. With --check it only says whether files.c is right.

With --scripts it makes the web client's classic scripts in .build/web, compresses them, and writes scripts.c, by which
the binary has them, too. They are not committed. make does it before every build; a gateway that was built without
them serves the modules alone.
"""

import gzip
import hashlib
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
root = here.parents[2]
SCRIPTS = root / ".build/web"
# Where the files lie, under which path they are served, and which of them.
FOLDERS = [
    ("Services/Gateway/Console", "console", (".html", ".js", ".css", ".svg")),
    ("Clients/web/src", "web/src", (".js",)),
    ("Clients/web/sample", "web/sample", (".html", ".js", ".css")),
    ("docs/http", "", (".yaml",)),
]


def text() -> str:
    arrays, rows = [], []
    for folder, path, kinds in FOLDERS:
        for file in sorted(p for p in (root / folder).rglob("*") if p.suffix in kinds):
            name = file.relative_to(root / folder).as_posix()
            source = Path("../../..") / folder / name
            arrays.append(f'static const unsigned char file_{len(rows)}[] = {{\n#embed "{source.as_posix()}"\n}};')
            served = f"{path}/{name}".removeprefix("/")
            rows.append(f'    {{"{served}", file_{len(rows)}, sizeof file_{len(rows)}}},')
    return (
        "// Written by generate.py.\n\n#include \"gateway_files.h\"\n\n"
        "#pragma clang diagnostic ignored \"-Wc23-extensions\"\n\n"
        + "\n".join(arrays)
        + "\n\nstatic const struct gateway_file gateway_files[] = {\n"
        + "\n".join(rows)
        + "\n};\n\nconst size_t gateway_files_count = sizeof gateway_files / sizeof gateway_files[0];\n\n"
        + "const struct gateway_file *gateway_file_at(size_t index) { return &gateway_files[index]; }\n\n"
        + "// Where scripts.c was made, it has them.\n"
        + "__attribute__((weak)) const struct gateway_file *gateway_scripts(size_t *count) {\n"
        + "    *count = 0;\n    return 0;\n}\n"
    )


def keep(path: Path, content: bytes) -> None:
    """A file that stays the same keeps its time, so that nothing is compiled again."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def scripts() -> None:
    sys.path.insert(0, str(root / "Clients/web"))
    # Nothing of Python's stays in the client's folder.
    sys.dont_write_bytecode = True
    from bundle import scripts as made

    arrays, rows = [], []
    for name, script in made().items():
        if not name.endswith(".js"):
            continue
        content = script.encode()
        keep(SCRIPTS / name, content)
        keep(SCRIPTS / f"{name}.gz", gzip.compress(content, 9, mtime=0))
        digest = hashlib.sha256(content).hexdigest()[:16]
        number = len(rows)
        for array, file in ((f"script_{number}", name), (f"gzipped_{number}", f"{name}.gz")):
            arrays.append(f'static const unsigned char {array}[] = {{\n#embed "../../../.build/web/{file}"\n}};')
        rows.append(
            f'    {{"web/{name}", script_{number}, sizeof script_{number}, "web/{name.removesuffix(".js")}.{digest}.js", '
            f"gzipped_{number}, sizeof gzipped_{number}}},")
    text = (
        "// Written by generate.py --scripts, and not committed.\n\n#include \"gateway_files.h\"\n\n"
        "#pragma clang diagnostic ignored \"-Wc23-extensions\"\n\n"
        "// Who removes .build has none until make makes them again.\n"
        '#if __has_embed("../../../.build/web/agora-rtm.js.gz")\n\n'
        + "\n".join(arrays)
        + "\n\nstatic const struct gateway_file scripts[] = {\n"
        + "\n".join(rows)
        + "\n};\n\nconst struct gateway_file *gateway_scripts(size_t *count) {\n"
        + "    *count = sizeof scripts / sizeof scripts[0];\n    return scripts;\n}\n\n#endif\n"
    )
    keep(here / "scripts.c", text.encode())


target = here / "files.c"
if sys.argv[1:] == ["--scripts"]:
    scripts()
    sys.exit()
if sys.argv[1:] == ["--check"]:
    sys.exit(0 if target.read_text() == text() else f"{target.name} is not what {Path(__file__).name} writes")
target.write_text(text())
