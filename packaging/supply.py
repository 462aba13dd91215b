#!/usr/bin/env python3
"""supply.py COMMAND: which packages of others are in the programs, and that they are the ones that were tested.

  lock      writes packages.lock.json from Package.resolved and .build/checkouts, after a change of a version
  pin       writes Package.resolved with the versions of the lock, unless it has them already
  check     compares what was fetched with the lock, file by file; exits with 1 and says what differs
  notices   writes THIRD-PARTY-NOTICES, with the texts of all licences; with --check it compares instead
  sbom      prints a CycloneDX document: --version of the programs, --commit, and with --root FOLDER the system libraries in it,
            whose licences go to --copyrights FOLDER

Package.resolved names commits, and those of a mirror aren't those of the originals. So the lock has of each package its
version, the id of its git tree, which every copy of the same files has (`git rev-parse VERSION^{tree}`), and a SHA-256 over
the files that are compiled, which needs no trust in git."""
import argparse, hashlib, json, os, pathlib, shutil, subprocess, sys, uuid

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
LOCK = HERE / "packages.lock.json"
NOTICES = ROOT / "THIRD-PARTY-NOTICES"
RESOLVED = ROOT / "Package.resolved"
CHECKOUTS = ROOT / ".build" / "checkouts"
# Folders whose files are in no program.
UNUSED = {"tests", "benchmarks", "benchmark", "integrationtests", "docs", "examples", "samples", "snippets", "protobuf"}


def git(folder, *arguments):
    return subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def pins():
    """Name, URL, version and commit of each package, as the package manager has chosen them."""
    if not RESOLVED.exists():
        sys.exit("supply: there is no Package.resolved: run packaging/supply.py pin, and swift package resolve")
    found = json.loads(RESOLVED.read_text())["pins"]
    return sorted((pin["identity"], pin["location"], pin["state"].get("version"), pin["state"]["revision"]) for pin in found)


def checkout(url):
    return CHECKOUTS / pathlib.PurePosixPath(url).name.removesuffix(".git")


def content_hash(folder):
    """A SHA-256 over the names, the modes and the contents of all files."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if ".git" not in path.relative_to(folder).parts):
        if path.is_symlink():
            kind, content = "link", os.readlink(path).encode()
        elif path.is_file():
            kind, content = "program" if os.access(path, os.X_OK) else "file", path.read_bytes()
        else:
            continue
        total.update(f"{kind} {hashlib.sha256(content).hexdigest()} {path.relative_to(folder)}\n".encode())
    return total.hexdigest()


def license_files(folder):
    names = ("license", "notice", "copying")
    found = [
        path.relative_to(folder) for path in folder.rglob("*")
        if path.is_file() and path.name.lower().startswith(names) and path.suffix.lower() in ("", ".txt", ".md")
    ]
    return sorted(path for path in found if not UNUSED & {part.lower() for part in path.parts[:-1]})


def license_id(folder):
    text = "".join((folder / path).read_text() for path in license_files(folder) if len(path.parts) == 1)
    if "Apache License" in text:
        return "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
    if "Permission is hereby granted, free of charge" in text:
        return "MIT"
    sys.exit(f"supply: the licence of {folder.name} isn't known to packaging/supply.py")


def described(url, version):
    folder = checkout(url)
    if not folder.is_dir():
        sys.exit(f"supply: {folder} isn't there: run swift package resolve")
    return {
        "version": version, "url": url, "license": license_id(folder), "tree": git(folder, "rev-parse", "HEAD^{tree}"),
        "sha256": content_hash(folder)
    }


def locked(path=LOCK):
    return json.loads(path.read_text())


# MARK: Commands

def lock(_):
    packages = {name: described(url, version) for name, url, version, _ in pins()}
    LOCK.write_text(json.dumps(packages, indent=2) + "\n")


def pin(_):
    packages = locked()
    if RESOLVED.exists() and {name: version for name, _, version, _ in pins()} == {
            name: package["version"] for name, package in packages.items()}:
        return
    found = []
    for name, package in packages.items():
        tag = f"refs/tags/{package['version']}"
        lines = git(ROOT, "ls-remote", package["url"], tag, tag + "^{}").splitlines()
        if not lines:
            sys.exit(f"supply: {package['url']} has no version {package['version']}")
        # Of a tag with a message the commit is on the second line.
        found.append({
            "identity": name, "kind": "remoteSourceControl", "location": package["url"],
            "state": {"revision": lines[-1].split()[0], "version": package["version"]}
        })
    RESOLVED.write_text(json.dumps({"pins": found, "version": 3}, indent=2) + "\n")


def check(options):
    packages = locked(options.lock)
    wrong = []
    chosen = {name: (url, version) for name, url, version, _ in pins()}
    for name in sorted(packages.keys() - chosen.keys()):
        wrong.append(f"{name} is in the lock, and isn't used")
    for name, (url, version) in chosen.items():
        expected = packages.get(name)
        if expected is None:
            wrong.append(f"{name} isn't in the lock")
            continue
        found = described(url, version)
        wrong += [f"{name} has the {key} {found[key]}, the lock {expected[key]}" for key in found if found[key] != expected[key]]
    if wrong:
        sys.exit("\n".join(
            ["supply: these are not the packages that were tested:"] + wrong
            + ["packaging/supply.py pin chooses the versions of the lock; packaging/supply.py lock takes these into it"]))
    print(f"supply: {len(packages)} packages are those of the lock", file=sys.stderr)


def notices(options):
    """Each text once, with the packages that come under it."""
    packages = locked()
    texts = {}
    for name, package in packages.items():
        folder = checkout(package["url"])
        for path in license_files(folder):
            text = (folder / path).read_text().replace("\r\n", "\n").strip("\n")
            part = "" if len(path.parts) == 1 else f" ({path.parent})"
            users = texts.setdefault(text, [])
            if (user := f"{name} {package['version']}{part}") not in users:
                users.append(user)
    line = "=" * 80
    parts = [
        "Heliograph contains the packages below, and the runtime of Swift, which is under the licence of\n"
        "swift-collections. packaging/supply.py makes this file from packaging/packages.lock.json.\n\n"
        + "\n".join(f"{name} {package['version']}: {package['license']}, {package['url']}" for name, package in packages.items())
    ]
    parts += [f"{line}\n" + "\n".join(users) + f"\n{line}\n\n{text}" for text, users in texts.items()]
    made = "\n\n".join(parts) + "\n"
    if not options.check:
        NOTICES.write_text(made)
    elif NOTICES.read_text() != made:
        sys.exit("supply: THIRD-PARTY-NOTICES is out of date: run packaging/supply.py notices")


def system_libraries(root):
    """The Debian packages of the shared libraries below a folder, which lie there where they lay."""
    found = set()
    for path in root.rglob("*.so*"):
        place = "/" + str(path.relative_to(root))
        # A package may name a file as it was before /lib became /usr/lib.
        answer = subprocess.run(["dpkg-query", "--search", place, place.removeprefix("/usr")], capture_output=True, text=True)
        found.update(line.split(": ")[0].split(":")[0] for line in answer.stdout.splitlines())
    shown = "${Package}\t${Version}\t${Architecture}\n"
    lines = [] if not found else subprocess.run(
        ["dpkg-query", "--show", "--showformat", shown, *sorted(found)], check=True, capture_output=True,
        text=True).stdout.splitlines()
    return sorted(set(tuple(line.split("\t")) for line in lines))


def swift_version():
    words = subprocess.run(["swift", "--version"], check=True, capture_output=True, text=True).stdout.split()
    return words[words.index("version") + 1]


def sbom(options):
    components = []
    for name, package in locked().items():
        place = package["url"].removeprefix("https://").removesuffix(".git")
        reference = f"pkg:swift/{place}@{package['version']}"
        components.append({
            "type": "library", "bom-ref": reference, "name": name, "version": package["version"], "purl": reference,
            "licenses": [{"expression": package["license"]}],
            "externalReferences": [{"type": "vcs", "url": package["url"]}],
            "properties": [
                {"name": "heliograph:git-tree", "value": package["tree"]},
                {"name": "heliograph:files-sha256", "value": package["sha256"]},
            ],
        })
    swift = swift_version()
    components.append({
        "type": "platform", "bom-ref": f"pkg:generic/swift@{swift}", "name": "Swift runtime and Foundation", "version": swift,
        "purl": f"pkg:generic/swift@{swift}", "licenses": [{"expression": "Apache-2.0 WITH Swift-exception"}]
    })
    for name, version, architecture in system_libraries(options.root) if options.root else []:
        reference = f"pkg:deb/debian/{name}@{version}?arch={architecture}"
        components.append({"type": "library", "bom-ref": reference, "name": name, "version": version, "purl": reference})
        if options.copyrights:
            options.copyrights.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(f"/usr/share/doc/{name}/copyright", options.copyrights / name)
    product = f"pkg:generic/heliograph@{options.version}"
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": product, "name": "heliograph", "version": options.version, "purl": product,
            "licenses": [{"expression": "Apache-2.0"}],
            "properties": [{"name": "heliograph:commit", "value": options.commit}],
        }},
        "components": components,
        "dependencies": [{"ref": product, "dependsOn": [component["bom-ref"] for component in components]}],
    }
    # The same programs have the same document.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    print(json.dumps({"serialNumber": f"urn:uuid:{number}", **document}, indent=2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lock").set_defaults(run=lock)
    commands.add_parser("pin").set_defaults(run=pin)
    one = commands.add_parser("check")
    one.add_argument("--lock", type=pathlib.Path, default=LOCK)
    one.set_defaults(run=check)
    one = commands.add_parser("notices")
    one.add_argument("--check", action="store_true")
    one.set_defaults(run=notices)
    one = commands.add_parser("sbom")
    one.add_argument("--version", default="unknown")
    one.add_argument("--commit", default="unknown")
    one.add_argument("--root", type=pathlib.Path)
    one.add_argument("--copyrights", type=pathlib.Path)
    one.set_defaults(run=sbom)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
