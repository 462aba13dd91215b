#!/usr/bin/env python3
"""Type-checks the branches of RTMClient and RTMCryptography for Apple's platforms on Linux, against stubs of the modules
that they import (Tests/Package/Apple). Both have to be built already: their modules and the compiler's arguments are used."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]


def arguments(module):
    """What the compiler was called with for a module, without what it was to write."""
    manifest = (root / ".build/debug.yaml").read_text()
    command = manifest.split(f'"C.{module}-', 1)[1]
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


def check(module, sources, stubs):
    """A stub is seen by its module alone: there `canImport` is true of it."""
    compiler, *common = arguments(module)
    with tempfile.TemporaryDirectory() as folder:
        for name in stubs:
            subprocess.run([compiler, *common, "-I", folder, "-module-name", name, "-parse-as-library", "-emit-module",
                            "-emit-module-path", f"{folder}/{name}.swiftmodule", str(root / f"Tests/Package/Apple/{name}.swift")],
                           check=True)
        files = sorted(map(str, (root / sources).rglob("*.swift")))
        subprocess.run([compiler, *common, "-I", folder, "-module-name", module, "-parse-as-library", "-typecheck", *files],
                       check=True)
    print(f"the branches of {module} for Apple's platforms type-check in {len(files)} files")


def main():
    check("RTMCryptography", "Shared/Cryptography", ["CryptoKit", "Security"])
    check("RTMClient", "Clients/RTMClient", ["Network", "NIOTransportServices"])


if __name__ == "__main__":
    try:
        main()
    except (subprocess.CalledProcessError, IndexError) as error:
        sys.exit(f"apple.py: {error}")
