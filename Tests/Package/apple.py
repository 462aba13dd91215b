#!/usr/bin/env python3
"""Type-checks the branches of RTMClient for Apple's platforms on Linux, against stubs of the modules that they
import (Tests/Package/Apple). RTMClient has to be built already: its modules and its compiler's arguments are used."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    """What the compiler was called with for RTMClient, without what it was to write."""
    manifest = (root / ".build/debug.yaml").read_text()
    command = manifest.split('"C.RTMClient-', 1)[1]
    words = json.loads(re.search(r"args: (\[.*\])", command).group(1))
    kept, skip = [], 0
    valued = {"-module-name", "-emit-module-path", "-output-file-map", "-index-store-path", "-num-threads"}
    dropped = {"-emit-dependencies", "-emit-module", "-incremental", "-c", "-enable-batch-mode",
               "-serialize-diagnostics", "-parseable-output", "-parse-as-library", "-emit-const-values"}
    for word in words:
        if skip:
            skip -= 1
        elif word in valued:
            skip = 1
        elif word not in dropped and not word.startswith("@"):
            kept.append(word)
    return kept


def main():
    compiler, *common = arguments()
    with tempfile.TemporaryDirectory() as folder:
        for name in ["Network", "NIOTransportServices"]:
            source = root / f"Tests/Package/Apple/{name}.swift"
            subprocess.run([compiler, *common, "-I", folder, "-module-name", name, "-parse-as-library", "-emit-module",
                            "-emit-module-path", f"{folder}/{name}.swiftmodule", str(source)], check=True)
        sources = sorted(map(str, (root / "Clients/RTMClient").rglob("*.swift")))
        subprocess.run([compiler, *common, "-I", folder, "-module-name", "RTMClient", "-parse-as-library", "-typecheck",
                        *sources], check=True)
    print(f"the branches for Apple's platforms type-check in {len(sources)} files")


if __name__ == "__main__":
    try:
        main()
    except (subprocess.CalledProcessError, IndexError) as error:
        sys.exit(f"apple.py: {error}")
