"""The engine that runs containers, and a stack of containers."""

import json
import os
import pathlib
import shutil
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Impossible(Exception):
    """Why no container can be run here, in a sentence."""


class Failure(Exception):
    """A promise of the stack that isn't kept, in a sentence."""


def run(*command, check=True, **options):
    """The standard output of a command."""
    outcome = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if check and outcome.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {outcome.returncode}: "
                      f"{outcome.stdout[-1500:]}{outcome.stderr[-1500:]}")
    return outcome.stdout.strip()


def until(what, condition, within=60.0):
    """Waits until the condition holds, and returns its value."""
    end = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"not within {within:.0f} s: {what}")
        time.sleep(0.1)


class Engine:
    """`docker` or `podman`, with its compose."""

    def __init__(self):
        # What `.ci/setup containers` has installed.
        os.environ["PATH"] += f":{ROOT}/.build/compose/bin"
        if not os.path.isdir("/run/systemd/system"):
            os.environ.setdefault("CONTAINERS_CONF", str(ROOT / "Tests/Compose/containers.conf"))
        self.name, self.compose = self.find()

    @staticmethod
    def find():
        """Of those that are there, each says why it can't be used."""
        chosen = os.environ.get("ENGINE")
        reasons = []
        for name in [chosen] if chosen else ["docker", "podman"]:
            if not shutil.which(name):
                reasons.append(f"{name} is not installed")
                continue
            answer = subprocess.run([name, "info"], capture_output=True, text=True)
            if answer.returncode != 0:
                reasons.append(f"{name} doesn't answer ({answer.stderr.strip()[-200:]})")
                continue
            for compose in ([name, "compose"], ["podman-compose"]):
                if compose[0] == "podman-compose" and name != "podman":
                    continue
                if shutil.which(compose[0]) and subprocess.run(
                        [*compose, "version"], capture_output=True).returncode == 0:
                    return name, compose
            reasons.append(f"{name} has no compose")
        raise Impossible("; ".join(reasons) + ". `.ci/setup containers` installs what is missing")

    def obstacle(self, image):
        """Why no container can be started here, as in most sandboxes; None where one can."""
        outcome = subprocess.run([self.name, "run", "--rm", image, "true"], capture_output=True, text=True)
        return None if outcome.returncode == 0 else outcome.stderr.strip()[-300:]

    def __call__(self, *arguments, **options):
        return run(self.name, *arguments, **options)


class Stack:
    """A project of compose, with ports and names of its own."""

    def __init__(self, engine, file, environment, *more):
        self.engine, self.project = engine, f"heliograph-test-{pathlib.Path(file).stem}"
        self.files = [part for name in (file, *more) for part in ("-f", str(ROOT / "compose" / name))]
        self.environment = {**os.environ, **environment}

    def compose(self, *arguments, **options):
        return run(*self.engine.compose, "-p", self.project, *self.files, *arguments,
                   env=self.environment, cwd=ROOT / "compose", **options)

    def up(self, *arguments):
        # podman 4 can't list containers while an exec session of one of them is being removed, such as that of a probe.
        for attempt in range(3):
            try:
                return self.compose("up", "-d", *arguments)
            except Failure as failure:
                if attempt == 2 or "podman ps" not in str(failure):
                    raise

    def down(self):
        self.compose("down", "-v", "-t", "1", check=False)
        # A volume that a test has made anew isn't one of the project for podman-compose.
        for name in self.engine("volume", "ls", "--format", "{{.Name}}").split():
            if name.startswith((self.project + "_", self.project + "-")):
                self.engine("volume", "rm", "-f", name)

    def remove(self, container):
        # A container that refuses to run is started again and again, and can't be removed while it is on its way.
        def removed():
            self.engine("rm", "-f", "-t", "0", container, check=False)
            return not self.engine("inspect", "--format", "{{.Id}}", container, check=False)
        until(f"{container} is removed", removed, 20)

    def containers(self, service, *, everything=False):
        """The names of a service's containers, in the order in which they were made."""
        found = []
        for name in self.engine("ps", "--all" if everything else "--no-trunc", "--format", "{{.Names}}").split():
            place = name.removeprefix(self.project + "_").removeprefix(self.project + "-")
            kind, _, number = place.replace("-", "_").rpartition("_")
            if name != place and kind == service.replace("-", "_") and number.isdigit():
                found.append((int(number), name))
        return [name for _, name in sorted(found)]

    def container(self, service):
        return until(f"{service} has a container", lambda: self.containers(service), 10)[0]

    def inspect(self, container, expression):
        return self.engine("inspect", "--format", expression, container)

    def probe(self, service, container=None):
        """What the health check of a container says, and whether it is content."""
        program = f"rtm-{service}"
        outcome = subprocess.run(
            [self.engine.name, "exec", container or self.container(service), program, "--probe"],
            capture_output=True, text=True)
        return outcome.returncode == 0, (outcome.stdout + outcome.stderr).strip()

    def ready(self, *services, within=60.0):
        for service in services:
            for container in self.containers(service):
                until(f"{container} is ready: {self.probe(service, container)[1]}",
                      lambda: self.probe(service, container)[0], within)

    def resident_megabytes(self, container):
        pid = self.inspect(container, "{{.State.Pid}}")
        line = next(line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                    if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1000

    def logs(self):
        for name in self.engine("ps", "--all", "--format", "{{.Names}}").split():
            if name.startswith(self.project):
                outcome = subprocess.run([self.engine.name, "logs", "--tail", "15", name],
                                         capture_output=True, text=True)
                print(f"--- {name}\n{outcome.stdout}{outcome.stderr}")

    def health(self, container):
        """The container's own health check, run once."""
        if self.engine.name == "podman":
            return subprocess.run(["podman", "healthcheck", "run", container], capture_output=True).returncode == 0
        state = json.loads(self.engine("inspect", container))[0]["State"]
        return state.get("Health", {}).get("Status") == "healthy"
