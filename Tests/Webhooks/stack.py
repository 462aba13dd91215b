"""An installation of separate processes, each of which can be killed and started again at its address: Redis
for the journal, messaging, presence, storage, an edge and a gateway. HELIOGRAPH_RELEASE is the folder of our
executables."""

import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import time

RELEASE = pathlib.Path(os.environ.get("HELIOGRAPH_RELEASE", ".build/release")).resolve()
APP = "dev"
TICKS = os.sysconf("SC_CLK_TCK")


class Failure(Exception):
    """What isn't as it should be, in a sentence."""


def until(what, condition, within=60.0):
    """Waits until the condition holds, and returns its value."""
    end = time.monotonic() + within
    while not (value := condition()):
        if time.monotonic() > end:
            raise Failure(f"not within {within:.0f} s: {what}")
        time.sleep(0.1)
    return value


def free_ports(count):
    """Ports below the range from which the system chooses: one of that range that is free now may be the
    source of somebody's connection when its process is started again."""
    ports = []
    for port in random.sample(range(10_000, 32_000), 2_000):
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind(("127.0.0.1", port))
            except OSError:
                continue
        ports.append(port)
        if len(ports) == count:
            return ports
    raise Failure("there are no free ports")


class Process:
    """One program with one command, at most one of it at a time. What it writes is in one file for all its
    lives."""

    def __init__(self, name, command, folder):
        self.name, self.command, self.log = name, [str(part) for part in command], folder / f"{name}.log"
        self.folder, self.process = folder, None

    def start(self):
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def kill(self):
        """SIGKILL, and it is gone when this returns."""
        if self.process.poll() is not None:
            raise Failure(f"{self.name} has ended by itself: {self.log.read_text()[-1000:]}")
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it if it runs."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill()

    @property
    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


class Service(Process):
    """A program of ours, whose admin port says whether it is ready."""

    def __init__(self, name, folder, ports, *arguments):
        self.port, self.admin = ports
        super().__init__(name, [
            RELEASE / f"rtm-{name}", "--config", folder / "rtm.yaml", "--listen", f"127.0.0.1:{self.port}",
            "--admin", f"127.0.0.1:{self.admin}", "--log-format", "text", *arguments], folder)

    def page(self, path):
        """A page of the admin port; None if it doesn't answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.admin, timeout=2)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    @property
    def is_ready(self):
        if self.process.poll() is not None:
            raise Failure(f"{self.name} has ended by itself: {self.log.read_text()[-1000:]}")
        return (self.page("/ready") or (0,))[0] == 200


def output(*command):
    """Of `rtm`."""
    done = subprocess.run([RELEASE / "rtm", *command], check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Stack:
    def __init__(self, folder, receiver_port):
        self.folder, self.receiver_port = folder, receiver_port
        made = json.loads(output("key", "create", f"{APP}/admin", "--json"))
        self.key, self.entry = made["key"], made["line"].split(":")
        self.secret = output("webhook", "secret")
        redis, *ports = free_ports(11)
        at = [ports[place:place + 2] for place in range(0, 10, 2)]
        behind = {name: pair[0] for name, pair in zip(("messaging", "presence", "storage"), at)}

        def to(*names):
            return [part for name in names for part in (f"--{name}", f"127.0.0.1:{behind[name]}")]

        self.redis = Process("redis", [
            "redis-server", "--port", redis, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
        ], folder)
        self.messaging = Service("messaging", folder, at[0], "--redis-endpoints", f"127.0.0.1:{redis}")
        self.presence = Service("presence", folder, at[1], *to("messaging"))
        self.storage = Service("storage", folder, at[2], *to("messaging"), "--data", folder / "data")
        self.edge = Service("edge", folder, at[3], *to("messaging", "presence", "storage"))
        self.gateway = Service("gateway", folder, at[4], *to("messaging", "presence", "storage"),
                               "--rates-key", 0, "--rates-app", 0)
        self.services = [self.messaging, self.presence, self.storage, self.edge, self.gateway]
        self.requests = {}

    def configure(self, webhook, **settings):
        """What the programs read when they start. A webhook of a new name begins with what happens next."""
        key = dict(zip(("id", "hash", "app", "scopes"), self.entry))
        (self.folder / "rtm.yaml").write_text(f"""\
apps: [{{id: {APP}, events: 24h}}]
gateway:
  keys: [{json.dumps(key)}]
  webhooks:
    lease: 3s
    privateAddresses: [127.0.0.1/32]
    endpoints:
      - app: {APP}
        name: {webhook}
        url: http://127.0.0.1:{self.receiver_port}/
        secret: {self.secret}
""" + "".join(f"        {name}: {value}\n" for name, value in settings.items()))
        self.webhook = webhook

    def start(self):
        self.redis.start()
        for service in self.services:
            service.start()
        self.becomes_ready()

    def becomes_ready(self):
        until("all services are ready", lambda: all(service.is_ready for service in self.services))

    def stop(self):
        for process in [*reversed(self.services), self.redis]:
            process.stop()

    def kill_gateway(self):
        """What it has counted would be gone with it."""
        self.count_requests()
        self.gateway.kill()

    def count_requests(self):
        """How often the webhook was tried in this life of the gateway, by outcome."""
        page = self.gateway.page("/metrics")
        for outcome, count in re.findall(
                r'rtm_gateway_webhook_requests_total\{outcome="(\w+)"\} (\d+)', page[1] if page else ""):
            self.requests[outcome] = self.requests.get(outcome, 0) + int(count)

    def call(self, method, path, body=None, headers={}, timeout=40, connection=None):
        """Status, headers and body; None if there is no connection, or no answer."""
        own = connection is None
        connection = connection or http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=timeout)
        try:
            connection.request(method, f"/v1/{APP}/{path}", None if body is None else json.dumps(body),
                               {"Authorization": f"Bearer {self.key}", **headers})
            answer = connection.getresponse()
            return answer.status, answer.headers, json.loads(answer.read() or "null")
        except (OSError, http.client.HTTPException, ValueError):
            connection.close()
            return None
        finally:
            if own:
                connection.close()

    @property
    def state(self):
        """The webhook as the gateway has it; None if it doesn't answer."""
        answer = self.call("GET", f"webhooks?name={self.webhook}")
        return answer[2]["webhooks"][0] if answer and answer[0] == 200 else None

    def delivers(self):
        until("a gateway delivers the webhook", lambda: (self.state or {}).get("owner"))
