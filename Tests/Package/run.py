#!/usr/bin/env python3
"""Makes an app of nothing but the README's example, as a stranger would: it depends on this repository by URL and
version, on a machine that of the servers' system libraries has libcrypto alone. The app is resolved, built in Swift 6 and Swift 5 mode and
run against a real server, and what was fetched and compiled is compared with what docs/packages.md promises. In the end it
names this repository by its folder, and gets no more.

QUICK=1 builds it in Swift 6 mode alone, and names the repository by URL alone, as CI does. MEASURE=1 also builds it
optimized, and an empty program beside it, and prints what RTMClient adds."""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parents[2]
version = re.search(r'version = "(.*)"', (root / "Shared/Model/Release.swift").read_text()).group(1)
packages = {"swift-atomics", "swift-collections", "swift-log", "swift-nio", "swift-nio-ssl",
            "swift-nio-transport-services", "swift-protobuf", "swift-system"}
# Of our own rooms an app compiles these alone.
rooms = {"RTMClient", "RTMCryptography", "RTMModel", "RTMProtocol"}


def fail(sentence):
    sys.exit(f"test-package: {sentence}")


def section(title):
    """The first Swift example below a title of the README."""
    readme = (root / "README.md").read_text()
    return re.search(r"```swift\n(.*?)```", readme.split(f"\n{title}\n", 1)[1], re.S).group(1)


def publish_repository(folder):
    """A repository with what is in the work tree, as a server of packages has it."""
    git = ["git", "-C", str(root)]
    commit = subprocess.check_output([*git, "stash", "create"], text=True).strip() or "HEAD"
    subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], check=True)
    subprocess.run([*git, "push", "--quiet", str(folder), f"{commit}:refs/tags/{version}"], check=True)


def by_version(repository):
    return f'.package(url: "file://{repository}", from: "{version}")'


def write_app(folder, dependency, tools):
    (folder / "Sources/App").mkdir(parents=True, exist_ok=True)
    (folder / "Package.swift").write_text(f"""// swift-tools-version: {tools}
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.macOS(.v13), .iOS(.v16)],
    dependencies: [{dependency}],
    targets: [
        .executableTarget(name: "App", dependencies: [.product(name: "RTMClient", package: "heliograph")])
    ]
)
""")
    (folder / "Sources/App/main.swift").write_text(section("## A message in Swift"))


def install_libcrypto(folder):
    """Where pkg-config finds libcrypto, and nothing else."""
    place = subprocess.check_output(["pkg-config", "--variable=pcfiledir", "libcrypto"], text=True).strip()
    folder.mkdir()
    shutil.copy(f"{place}/libcrypto.pc", folder)


def swift(*words, folder):
    environment = {**os.environ, "PKG_CONFIG_LIBDIR": str(folder.parent / "libraries"), "PKG_CONFIG_PATH": ""}
    result = subprocess.run(["swift", *words], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    if result.returncode != 0:
        fail(f"swift {' '.join(words)} failed:\n{result.stdout[-4000:]}")
    return result.stdout


def build(folder, *words):
    """Returns the processor seconds. No line may be a warning."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = swift("build", *words, folder=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if warnings := [line for line in output.splitlines() if "warning:" in line]:
        fail("the build warns:\n" + "\n".join(warnings[:20]))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_packages(folder, packages):
    pins = json.loads((folder / "Package.resolved").read_text())["pins"]
    found = {pin["identity"] for pin in pins}
    if found != packages:
        fail(f"these packages are fetched only now: {sorted(found - packages)}, and these no more: "
             f"{sorted(packages - found)}; docs/packages.md lists them")
    return len(found)


def modules(folder):
    """What was compiled, by module, and of our own nothing but what a client needs."""
    built = {path.name.removesuffix(".build") for path in (folder / ".build/debug").glob("*.build")
             if any(path.rglob("*.o"))}
    ours = {name for name in built if name.startswith(("RTM", "rtm")) or name == "AgoraRtmKit"}
    if ours != rooms:
        fail(f"of our own {sorted(ours)} was compiled, not {sorted(rooms)}")
    return len(built), len(list((folder / ".build/debug").rglob("*.o")))


def receive(folder):
    """Starts the server, the app, and somebody who says something."""
    programs = root / ".build/debug"
    with tempfile.TemporaryDirectory() as data:
        server = subprocess.Popen([programs / "rtm-standalone", "--data", data], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        app = None
        try:
            said = subprocess.DEVNULL
            publish = [programs / "rtm", "publish", "lobby", "from outside"]
            deadline = time.monotonic() + 30
            log = folder / "app.log"
            while "from outside" not in (log.read_text() if log.exists() else ""):
                if time.monotonic() > deadline:
                    fail("the app received no message" + (": " + log.read_text() if log.exists() else ""))
                if subprocess.run(publish, stdout=said, stderr=said).returncode == 0 and app is None:
                    # Through a terminal's eyes: what is printed is in the file at once.
                    app = subprocess.Popen(["stdbuf", "-oL", folder / ".build/debug/App"], stdout=log.open("w"),
                                           stderr=subprocess.STDOUT)
                time.sleep(0.2)
        finally:
            for process in filter(None, [app, server]):
                process.terminate()
                process.wait()


def stripped(program):
    copy = program.with_suffix(".stripped")
    subprocess.run(["strip", "-o", copy, program], check=True)
    return copy.stat().st_size


def measure(folder):
    seconds = build(folder, "-c", "release")
    whole = stripped(folder / ".build/release/App")
    (folder / "Sources/App/main.swift").write_text('print("hi")\n')
    (folder / "Package.swift").write_text("""// swift-tools-version: 6.0
import PackageDescription
let package = Package(name: "App", targets: [.executableTarget(name: "App")])
""")
    build(folder, "-c", "release", "--scratch-path", ".build-empty")
    empty = stripped(folder / ".build-empty/release/App")
    print(f"optimized: {seconds:.0f} CPU s; RTMClient adds {(whole - empty) / 1e6:.1f} MB to a stripped program")


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="test-package-"))
    try:
        repository, app = folder / "heliograph", folder / "App"
        install_libcrypto(folder / "libraries")
        publish_repository(repository)
        began = time.monotonic()
        write_app(app, by_version(repository), "6.0")
        swift("package", "resolve", folder=app)
        fetched = check_packages(app, packages | {"heliograph"}) - 1
        seconds = build(app)
        compiled, objects = modules(app)
        receive(app)
        minutes = (time.monotonic() - began) / 60
        if not os.environ.get("QUICK"):
            write_app(app, by_version(repository), "5.10")
            build(app)
        print(f"the README's app received a message {minutes:.1f} minutes after it was begun: {fetched} packages of others fetched, {compiled} modules and "
              f"{objects} objects compiled, {seconds:.0f} CPU s")
        if os.environ.get("MEASURE"):
            measure(app)
        if os.environ.get("QUICK"):
            return
        neighbour = folder / "neighbour" / "heliograph"
        subprocess.run(["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--branch", version, str(repository),
                        str(neighbour)], check=True)
        (app / "Package.resolved").unlink()
        write_app(app, f'.package(path: "{neighbour}")', "6.0")
        swift("package", "resolve", folder=app)
        check_packages(app, packages)
        build(app)
        modules(app)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
