#!/usr/bin/env python3
"""Runs the stacks of `compose` in real containers (`make test-compose`), and says how long each step took.

    ENGINE=podman|docker   which engine; the first one that answers
    KEEP=1                 leaves the last stack running
    ONLY=single|scaled|postgres   one of the stacks
    BUILT=1                takes the programs that are in .build/image already
    CONFIGURATION=debug    takes the programs that the tests have run, as CI does
    COMPILE=1              compiles in a container, as `make images` does, with the toolchain of this machine mounted there

Where there is no registry of images, Debian's packages take the place of the official ones (base.sh).

It ends with 1 if something failed, and with 77 if nothing could be run, because there is no engine or because the engine that is
there can't start a container.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from engine import ROOT, Engine, Failure, Impossible, Stack, run, until  # noqa: E402
from load import Load  # noqa: E402

PORT = "7910"
os.environ["RTM_SERVER"] = f"127.0.0.1:{PORT}"
OUT = ROOT / ".build" / "image"
SHARDS = 4  # of compose/scaled.yaml, and of storage by default
READERS = 2  # of each shard of storage
PROMETHEUS = "9990"
NOTHING_RUN = 77


class Steps:
    """Names what is done, with the seconds that it took."""

    def __init__(self):
        self.begin = self.last = time.monotonic()

    def done(self, what):
        now = time.monotonic()
        print(f"test-compose: {now - self.last:5.1f} s  {what}", flush=True)
        self.last = now

    @property
    def seconds(self):
        return time.monotonic() - self.begin


def client():
    """The command line of this build, on this machine."""
    program = OUT / "root" / "usr" / "bin" / "rtm"
    return [str(program)]


def rtm(*arguments, **options):
    return run(*client(), *arguments, **options)


def sources(steps):
    """What the Containerfile's stage that compiles copies is the whole package. Nothing else looks at that here, where the
    programs are compiled outside."""
    lines = (ROOT / "Containerfile").read_text().splitlines()
    taken = (ROOT / ".dockerignore").read_text().split()
    end = next(number for number, line in enumerate(lines) if line.startswith("RUN RTM_COMMIT"))
    with tempfile.TemporaryDirectory() as folder:
        for name in (name for line in lines[:end] if line.startswith("COPY ") for name in line.split()[1:-1]):
            if f"!{name.rstrip('*')}" not in taken:
                raise Failure(f"the Containerfile copies {name}, and .dockerignore leaves it out")
            for path in ROOT.glob(name):
                place = pathlib.Path(folder) / path.relative_to(ROOT)
                place.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if path.is_dir() else shutil.copy)(path, place)
        run("swift", "package", "describe", cwd=folder)
    steps.done("the stage that compiles gets every folder of the package")


def images(engine, steps):
    """Our image of this commit, under two names, and the images that the official ones are replaced by."""
    replaced = {}
    if not os.environ.get("REGISTRY"):
        run(ROOT / "Tests/Compose/base.sh", env={**os.environ, "ENGINE": engine.name})
        tools = "localhost/heliograph-tools:latest"
        replaced = {"REDIS_IMAGE": tools, "HAPROXY_IMAGE": tools, "PROMETHEUS_IMAGE": "localhost/heliograph-prometheus:latest",
                    "POSTGRES_IMAGE": "localhost/heliograph-postgres:latest"}
        steps.done("base images")
        obstacle = engine.obstacle("localhost/heliograph-base:latest")
        if obstacle:
            raise Impossible(f"{engine.name} is there and can't start a container ({obstacle})")
    base = {} if os.environ.get("REGISTRY") else {"BASE_IMAGE": "localhost/heliograph-base:latest"}
    how = {"ENGINE": engine.name, "TAG": "test", **base}
    if not os.environ.get("COMPILE"):
        how |= {"PROGRAMS": "host", "OUT": str(OUT)}
    elif not os.environ.get("REGISTRY"):
        options = run(ROOT / "Tests/Compose/build-image.sh", env={**os.environ, "ENGINE": engine.name})
        how |= {"BUILD_IMAGE": "localhost/heliograph-build:latest", "BUILD_OPTIONS": options}
        steps.done("the image to compile in")
    run(ROOT / "compose/images.sh", env={**os.environ, **how})
    if os.environ.get("COMPILE"):
        taken = engine("create", "localhost/heliograph:test")
        client_program = OUT / "root/usr/bin/rtm"
        client_program.parent.mkdir(parents=True, exist_ok=True)
        engine("cp", f"{taken}:/usr/bin/rtm", client_program)
        engine("rm", taken)
    engine("tag", "localhost/heliograph:test", "localhost/heliograph:next")
    sizes = {name: int(engine("image", "inspect", "--format", "{{.Size}}", f"localhost/{name}")) / 1e6
             for name in ("heliograph-base", "heliograph:test") if base or name != "heliograph-base"}
    steps.done("the image: " + ", ".join(f"{name} {size:.0f} MB" for name, size in sizes.items()))
    return replaced


def single(engine, environment, steps):
    """compose.yaml: from `up` to the first message, the health checks, what a container may do, backup and restore."""
    services = ["edge", "messaging", "presence", "storage"]
    stack = Stack(engine, "compose.yaml", {**environment, "PROMETHEUS_PORT": PROMETHEUS}, "observe.yaml")
    stack.down()
    try:
        begin = time.monotonic()
        stack.up("redis", *services)
        up = time.monotonic() - begin
        until("the first message is taken", lambda: subprocess.run(
            [*client(), "publish", "lobby", "first", "--history",
             "--connect-timeout", "1s"], capture_output=True).returncode == 0, 30)
        first = time.monotonic() - begin
        steps.done(f"compose.yaml: `up` took {up:.1f} s, the first message was taken {first:.1f} s after its beginning")
        if first > 10:
            raise Failure(f"the first message came {first:.1f} s after the beginning of `up`")
        stack.ready(*services)
        for service in [*services, "redis"]:
            until(f"the health check of {service}", lambda: stack.health(stack.container(service)), 20)
        memory = {service: stack.resident_megabytes(stack.container(service)) for service in services}
        steps.done("healthy; resident memory: " + ", ".join(f"{name} {size:.0f} MB" for name, size in memory.items()))
        confined(stack)
        steps.done("no root, nothing to write to, no capabilities")
        backup(stack)
        steps.done("a backup, restored into an empty volume")
        observed(stack)
        steps.done("Prometheus sees every program, can say what the dashboards ask, and alerts when nobody leads")
        drained(stack)
        steps.done("SIGTERM drains: the edge ends with 0")
    except Failure:
        stack.logs()
        raise
    finally:
        if not os.environ.get("KEEP"):
            stack.down()
            steps.done("down")


def confined(stack):
    for service in ("edge", "storage"):
        container = stack.container(service)
        status = pathlib.Path(f"/proc/{stack.inspect(container, '{{.State.Pid}}')}/status").read_text()
        facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if facts["Uid"].split()[0] != "10001" or int(facts["CapEff"], 16) != 0 or facts["NoNewPrivs"] != "1":
            raise Failure(f"{service} has rights: uid {facts['Uid']}, capabilities {facts['CapEff']}")
        if stack.inspect(container, "{{.HostConfig.ReadonlyRootfs}}") != "true":
            raise Failure(f"{service} may write to its root")
    ports = stack.engine("port", stack.container("edge"))
    if any(not line.split(" -> ")[1].startswith("127.0.0.1:") for line in ports.splitlines()):
        raise Failure(f"the edge is open to other machines: {ports}")


def backup(stack):
    """The history of before is there after the volume was lost and the backup put in its place."""
    container = stack.container("storage")
    stack.engine("exec", container, "rtm-storage", "backup", "/var/lib/heliograph/backup.db")
    saved = ROOT / ".build" / "backup.db"
    stack.engine("cp", f"{container}:/var/lib/heliograph/backup.db", saved)
    stack.compose("stop", "storage")
    volume = next(name for name in stack.engine("volume", "ls", "--format", "{{.Name}}").split()
                  if name.startswith(stack.project) and name.endswith("storage"))
    stack.remove(container)
    stack.engine("volume", "rm", volume)
    stack.engine("volume", "create", volume)
    # What is copied belongs to root, so it is handed over, as the document says.
    stack.engine("run", "--rm", "-i", "--user", "0", "-v", f"{volume}:/to", "-v", f"{saved.parent}:/from:ro",
                 stack.environment["REDIS_IMAGE"] if "REDIS_IMAGE" in stack.environment else "debian:bookworm-slim",
                 "sh", "-c", "cp /from/backup.db /to/storage.db && chown -R 10001:10001 /to")
    saved.unlink()
    stack.up("storage")
    stack.ready("storage")
    until("the history is back", lambda: "first" in rtm("history", "lobby", check=False), 20)


def observed(stack):
    """Prometheus beside the stack, as observe.yaml has it; Grafana needs an image that Debian doesn't have."""
    stack.up("--no-recreate", "prometheus")

    def ask(path, **query):
        answer = json.loads(run(
            "curl", "-s", "-m", "30", f"http://127.0.0.1:{PROMETHEUS}/api/v1/{path}?{urllib.parse.urlencode(query)}"))
        if answer["status"] == "error":
            raise Failure(f"Prometheus can't say {query}: {answer['error']}")
        return answer["data"]

    def jobs_up():
        found = ask("query", query="sum by (job) (up)")
        return {each["metric"]["job"] for each in found["result"] if each["value"][1] != "0"}

    # It listens before it has read its log, and answers every question with a sentence that isn't JSON until then.
    until("Prometheus is ready", lambda: run(
        "curl", "-s", "-f", "-m", "5", f"http://127.0.0.1:{PROMETHEUS}/-/ready", check=False), 60)
    until("Prometheus sees every program", lambda: jobs_up() >= {"edge", "messaging", "presence", "storage"}, 60)
    questions = 0
    for file in sorted((ROOT / "compose/observe/dashboards").glob("*.json")):
        for panel in json.loads(file.read_text())["panels"]:
            for target in panel.get("targets", []):
                ask("query", query=target["expr"].replace("$job", ".*").replace("$instance", ".*"))
                questions += 1
    if questions < 50:
        raise Failure(f"the dashboards ask only {questions} questions")

    def firing():
        return {each["labels"]["alertname"] for each in ask("alerts")["alerts"] if each["state"] == "firing"}

    if firing():
        raise Failure(f"alerts without a cause: {firing()}")
    container = stack.container("messaging")
    stack.engine("stop", "-t", "0", container)
    until("the alert NoLeader", lambda: "NoLeader" in firing(), 60)
    stack.engine("start", container)
    stack.ready("messaging", "edge")
    until("the end of the alert NoLeader", lambda: "NoLeader" not in firing(), 60)


def drained(stack):
    container = stack.container("edge")
    stack.engine("stop", "-t", "25", container)
    status = stack.inspect(container, "{{.State.ExitCode}}")
    if status != "0":
        raise Failure(f"the edge ended with {status} after SIGTERM")


def scaled(engine, environment, steps):
    """scaled.yaml: two users talk through the load balancer while containers of each kind are killed, come and go."""
    stack = Stack(engine, "scaled.yaml", environment)
    stack.down()
    try:
        stack.up()
        until("a user gets in", lambda: subprocess.run(
            [*client(), "publish", "lobby", "first", "--connect-timeout", "1s"],
            capture_output=True).returncode == 0, 60)
        stack.ready("edge", "messaging", "presence", "storage")
        steps.done("scaled.yaml is up: 2 edges, 2 messaging nodes, 2 presence nodes, storage, 6 Redis nodes, HAProxy")
        shared(stack)
        load = Load(client(), "talk")
        load.passes()
        known_addresses(stack, environment)
        steps.done("users talk through the load balancer, and the edges see where they are")
        for service in ("edge", "presence", "storage"):
            restarted(stack, service)
            load.passes()
            steps.done(f"{service} was killed and is back")
        gone = stack.container("messaging")
        # At once and without a word, and nobody starts it again.
        stack.engine("stop", "-t", "0", gone)
        until("the other messaging node leads all shards", lambda: leading(stack) == [SHARDS], 30)
        load.passes()
        stack.engine("start", gone)
        stack.ready("messaging")
        shared(stack)
        load.passes()
        steps.done("a messaging node was killed: the other one went on with its shards, and gave them back")
        master = "redis-1"
        restarted(stack, master)
        load.passes()
        steps.done(f"{master}, a master, was killed and is back")
        restarted(stack, "balancer")
        load.passes()
        steps.done("the load balancer was killed and is back")
        for count, word in ((3, "2 → 3"), (1, "3 → 1, drained"), (2, "1 → 2")):
            scale(stack, "messaging", "RTM_MESSAGINGS", count)
            shared(stack)
            load.passes()
            steps.done(f"messaging nodes: {word}")
        for count, word in ((3, "2 → 3"), (1, "3 → 1, drained")):
            scale(stack, "edge", "RTM_EDGES", count)
            load.passes()
            steps.done(f"edges: {word}")
        roll(stack, load)
        steps.done("every program was rolled to the next image")
        count, refused = load.end()
        steps.done(f"{count} messages arrived everywhere, each once and in order; {refused} were refused without a connection or an answer")
    except Failure:
        stack.logs()
        raise
    finally:
        if not os.environ.get("KEEP"):
            stack.down()
            steps.done("down")


def postgres(engine, environment, steps):
    """postgres.yaml on top of scaled.yaml: what users store is there after a storage node was killed, and the database's server."""
    stack = Stack(engine, "scaled.yaml", environment, "postgres.yaml")
    stack.down()
    try:
        stack.up()
        until("a message is stored", lambda: subprocess.run(
            [*client(), "publish", "lobby", "first", "--history", "--connect-timeout", "1s"],
            capture_output=True).returncode == 0, 90)
        stack.ready("edge", "messaging", "presence", "storage")
        shared(stack, "storage")
        acknowledged(stack, "1 synchronous standby has it on disk")
        steps.done("postgres.yaml is up: PostgreSQL with a standby, 2 storage nodes that share the shards, and the rest of scaled.yaml")
        # In several channels, because each lies in one of the shards.
        loads = [Load(client(), f"room-{number}", listeners=1, rate=10, stored=True) for number in range(6)]
        passes(loads)
        connections(stack)
        gone = stack.container("storage")
        stack.engine("stop", "-t", "0", gone)
        until("the other storage node leads all shards", lambda: leading(stack, "storage") == [SHARDS], 30)
        passes(loads)
        stack.engine("start", gone)
        stack.ready("storage")
        shared(stack, "storage")
        passes(loads)
        steps.done("a storage node was killed: the other one went on with its shards, and gave them back")
        for count, word in ((3, "2 → 3"), (1, "3 → 1, drained"), (2, "1 → 2")):
            scale(stack, "storage", "RTM_STORAGES", count)
            shared(stack, "storage")
            passes(loads)
            steps.done(f"storage nodes: {word}")
        primary, standby = stack.container("postgres"), stack.container("postgres-standby")
        stack.engine("stop", "-t", "0", primary)
        stack.engine("exec", standby, "psql", "-c", "SELECT pg_promote()")
        passes(loads)
        stack.ready("storage")
        acknowledged(stack, "no standby is waited for")
        steps.done("the primary was killed and its standby promoted")
        stack.engine("start", primary)
        until("the old primary refuses", lambda: "postgres-standby was promoted" in subprocess.run(
            [stack.engine.name, "logs", primary], capture_output=True, text=True).stderr, 30)
        stack.remove(primary)
        stack.engine("volume", "rm", f"{stack.project}_postgres")
        stack.up("--no-recreate", "postgres")
        stack.engine("exec", standby, "psql", "-c", "ALTER SYSTEM SET synchronous_standby_names = standby",
                     "-c", "SELECT pg_reload_conf()")
        acknowledged(stack, "1 synchronous standby has it on disk")
        passes(loads)
        steps.done("the old primary refused to start, and came back with an empty volume as the standby")
        outcomes = [load.end() for load in loads]
        count, refused = (sum(each) for each in zip(*outcomes))
        steps.done(f"{count} messages are stored and arrived, each once and in order; {refused} were refused without a connection, "
                   "an answer or a store")
    except Failure:
        stack.logs()
        raise
    finally:
        if not os.environ.get("KEEP"):
            stack.down()
            steps.done("down")


def passes(loads):
    for load in loads:
        load.passes(10)


def acknowledged(stack, words):
    """Each storage node says what an acknowledgement means."""
    for container in stack.containers("storage"):
        until(f"/ready of {container} says: {words}", lambda: words in page(stack, container, 7741, "/ready"), 20)


def connections(stack):
    """Storage has no more connections at the database than docs/operations/sizing.md says. Those of readers begin when they read."""
    count = int(stack.engine("exec", stack.container("postgres"), "psql", "-A", "-t", "-c",
                             "SELECT count(*) FROM pg_stat_activity WHERE usename = 'heliograph'"))
    nodes = len(stack.containers("storage"))
    if not SHARDS + nodes <= count <= SHARDS * (1 + READERS) + nodes:
        raise Failure(f"storage has {count} connections at the database")


def scale(stack, service, variable, count):
    """Starts more containers of a service, or ends those that are too many."""
    stack.environment[variable] = str(count)
    stack.up("--no-recreate", service)
    # podman-compose lets containers be that are too many.
    for container in stack.containers(service)[count:]:
        stack.engine("stop", "-t", "25", container)
        stack.engine("rm", container)
    until(f"{count} of {service}", lambda: len(stack.containers(service)) == count, 20)
    stack.ready(service)


def restarted(stack, service):
    """Kills a container as a power cut would, and waits until it is back."""
    container = stack.container(service)
    before = stack.inspect(container, "{{.State.Pid}}")
    os.kill(int(before), 9)
    try:
        until(f"{container} is back",
              lambda: stack.inspect(container, "{{.State.Running}} {{.State.Pid}}") not in
              (f"true {before}", "false 0"), 5)
    except Failure:
        # An engine whose restarts need a service that doesn't run here.
        stack.engine("start", container)
    if not service.startswith(("redis", "balancer")):
        stack.ready(service)


def leading(stack, service="messaging"):
    """How many shards the nodes of a service lead that run and answer, in falling order."""
    port = {"messaging": 7721, "storage": 7741}[service]
    pages = [page(stack, container, port, "/metrics") for container in stack.containers(service)]
    found = [re.search(rf"^rtm_{service}_leading (\d+)$", text, re.M) for text in pages]
    return sorted((int(each[1]) for each in found if each), reverse=True)


def shared(stack, service="messaging"):
    """Waits until no node of a service leads more shards than its share."""
    nodes = len(stack.containers(service))
    shares = sorted((SHARDS * (node + 1) // nodes - SHARDS * node // nodes for node in range(nodes)), reverse=True)
    until(f"{nodes} nodes of {service} lead {shares} shards", lambda: leading(stack, service) == shares, 60)


def page(stack, container, port, path):
    address = stack.inspect(container, "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}")
    return run("curl", "-s", "-m", "3", f"http://{address}:{port}{path}", check=False)


def known_addresses(stack, environment):
    """What an edge logs isn't the balancer's address."""
    lines = [line for container in stack.containers("edge")
             for line in subprocess.run([stack.engine.name, "logs", container], capture_output=True, text=True)
             .stderr.splitlines() if '"logged in"' in line]
    balancer = environment.get("RTM_SUBNET", "10.77.15") + ".10"
    if not lines or any(f'"address":"{balancer}"' in line for line in lines):
        raise Failure(f"the edges don't see the clients' addresses: {lines[:2]}")


def roll(stack, load):
    """One container after the other is replaced by one of the next image."""
    stack.environment["HELIOGRAPH_IMAGE"] = "localhost/heliograph:next"
    for service in ("messaging", "presence", "storage", "edge"):
        for container in stack.containers(service):
            stack.engine("stop", "-t", "25", container)
            stack.remove(container)
            stack.up("--no-recreate", service)
            stack.ready(service)
            if service == "messaging":
                shared(stack)
        load.passes()


def main():
    steps = Steps()
    environment = {
        "HELIOGRAPH_IMAGE": "localhost/heliograph:test", "RTM_PORT": PORT, "RTM_BIND": "127.0.0.1"}
    try:
        engine = Engine()
        run(ROOT / "compose/secrets.sh")
        sources(steps)
        environment.update(images(engine, steps))
        if os.environ.get("ONLY", "single") == "single":
            single(engine, environment, steps)
        if os.environ.get("ONLY", "scaled") == "scaled":
            scaled(engine, environment, steps)
        if os.environ.get("ONLY", "postgres") == "postgres":
            postgres(engine, environment, steps)
    except Impossible as reason:
        print(f"test-compose: NOTHING WAS RUN: {reason}", file=sys.stderr)
        return NOTHING_RUN
    except Failure as failure:
        print(f"test-compose: FAILED: {failure}", file=sys.stderr)
        return 1
    print(f"test-compose: all of that took {steps.seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
