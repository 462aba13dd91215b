"""What happens in the app meanwhile: backends that publish and write metadata over HTTP, each change until it
is answered, and users who come and go with `rtm`. And a backend that reads the events by pull."""

import http.client
import random
import subprocess
import threading
import time
import uuid

from receiver import said
from stack import APP, RELEASE

AGAIN = (429, 503, 504)


class Backend(threading.Thread):
    """Does one thing after the other, so many a second. What was answered is in `done`: the type and the key
    of its event, what that says, and when the answer came. `problems` has what may not be, in sentences."""

    def __init__(self, stack, rate):
        super().__init__(daemon=True)
        self.stack, self.rate, self.done, self.problems = stack, rate, [], []
        self.attempts, self.replayed = 0, 0
        self.ends = threading.Event()
        self.connection = http.client.HTTPConnection("127.0.0.1", stack.gateway.port, timeout=10)

    def run(self):
        while not self.ends.is_set():
            next_at = time.monotonic() + random.expovariate(self.rate)
            try:
                self.act()
            except Exception as problem:  # A backend that ends silently would make the test pass.
                self.problems.append(f"{type(problem).__name__}: {problem}")
                return
            self.ends.wait(max(0, next_at - time.monotonic()))

    def answered(self, method, path, body=None, headers={}):
        """The status and the body, after as many attempts as it takes."""
        pause = 0.1
        while True:
            self.attempts += 1
            answer = self.stack.call(method, path, body, headers, connection=self.connection)
            if answer and answer[0] not in AGAIN:
                return answer[0], answer[2]
            asked = float(answer[1]["Retry-After"] or 0) if answer else 0
            time.sleep(max(asked, random.uniform(0.5, 1) * pause))
            pause = min(2, pause * 2)

    def end(self):
        self.ends.set()
        self.join(120)
        if self.is_alive():
            self.problems.append("a request wasn't answered within two minutes")


class Publisher(Backend):
    """Publishes to its channels in turn."""

    def __init__(self, stack, rate, channels):
        super().__init__(stack, rate)
        self.channels, self.count = channels, 0

    def act(self):
        channel = self.channels[self.count % len(self.channels)]
        text = f"{channel} {self.count}"
        self.count += 1
        status, body = self.answered(
            "POST", "publish", {"channel": channel, "message": text}, {"Idempotency-Key": str(uuid.uuid4())})
        if status != 200:
            self.problems.append(f"a publish was refused with {status}: {body}")
            return
        self.replayed += body.get("replayed", False)
        self.done.append(("message.published", f"message:{channel}", text, time.monotonic()))


class Writer(Backend):
    """Writes the metadata of its channels in turn. A write names the revision that it replaces, so one that
    is repeated is refused if it was done already."""

    def __init__(self, stack, rate, channels):
        super().__init__(stack, rate)
        self.channels, self.count, self.revisions = channels, 0, {}

    def act(self):
        channel = self.channels[self.count % len(self.channels)]
        self.count += 1
        before, value = self.revisions.get(channel, 0), str(self.count)
        write = {"items": [{"key": "count", "value": value}], "revision": before}
        status, body = self.answered("PUT", f"metadata?channel={channel}", write)
        if status == 409:
            self.replayed += 1
            status, body = self.answered("GET", f"metadata?channel={channel}")
            if status == 200 and [item["value"] for item in body["items"]] != [value]:
                self.problems.append(f"{channel} was not written and has another revision than {before}")
        if status != 200:
            self.problems.append(f"a write was refused with {status}: {body}")
            return
        self.revisions[channel] = body["revision"]
        self.done.append(("metadata.changed", f"message:{channel}", body["revision"], time.monotonic()))


class Visitor(threading.Thread):
    """A user who comes to a room and leaves it again, in good order or not, and stays away for longer than
    presence waits for a return (`presence.debounce`): each visit is a login."""

    def __init__(self, stack, user, room):
        super().__init__(daemon=True)
        self.user, self.visits, self.ends, self.visit = user, 0, threading.Event(), None
        self.command = [RELEASE / "rtm", "subscribe", room, "--user", user, "--json", "--app-id", APP,
                        "--server", f"127.0.0.1:{stack.edge.port}", "--connect-timeout", "60s"]

    def run(self):
        while not self.ends.is_set():
            self.visit = visit = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True)
            if '"subscribed"' in visit.stdout.readline():
                self.visits += 1
            threading.Thread(target=visit.stdout.read, daemon=True).start()
            self.ends.wait(random.uniform(5, 20))
            random.choice([visit.terminate, visit.kill])()
            visit.wait()
            self.ends.wait(random.uniform(3, 6))

    def end(self):
        self.ends.set()
        self.join(90)
        if self.visit and self.visit.poll() is None:
            self.visit.kill()


class Load:
    """Some 110 changes a second."""

    def __init__(self, stack):
        self.publishers = [
            Publisher(stack, 25, [f"orders-{number}-{place}" for place in range(15)]) for number in range(4)]
        self.writers = [
            Writer(stack, 5, [f"facts-{number}-{place}" for place in range(3)]) for number in range(2)]
        self.visitors = [Visitor(stack, f"visitor-{number}", f"room-{number % 2}") for number in range(4)]
        self.backends = [*self.publishers, *self.writers]
        for one in [*self.backends, *self.visitors]:
            one.start()

    def end(self):
        """Every request that was begun is answered when this returns."""
        for one in [*self.backends, *self.visitors]:
            one.ends.set()
        for one in [*self.backends, *self.visitors]:
            one.end()

    def abandon(self):
        for visitor in self.visitors:
            visitor.ends.set()
            if visitor.visit:
                visitor.visit.kill()

    @property
    def done(self):
        return [change for backend in self.backends for change in backend.done]

    @property
    def problems(self):
        return [problem for backend in self.backends for problem in backend.problems]


class Reader(threading.Thread):
    """Reads all events by pull, from the oldest on, and asks again with the same cursor if it gets no
    answer."""

    def __init__(self, stack):
        super().__init__(daemon=True)
        self.stack, self.events, self.problems, self.failures = stack, [], [], 0
        self.newest = time.monotonic()
        self.ends = threading.Event()

    def run(self):
        cursor, pause = None, 0.1
        while not self.ends.is_set():
            after = f"&after={cursor}" if cursor else ""
            answer = self.stack.call("GET", f"events?wait=5s&limit=1000{after}")
            if not answer or answer[0] in AGAIN:
                self.failures += 1
                time.sleep(pause)
                continue
            if answer[0] != 200:
                self.problems.append(f"a read was refused with {answer[0]}: {answer[2]}")
                return
            for event in answer[2]["events"]:
                self.events.append([event["id"], event["key"], event["number"], event["type"], said(event)])
                self.newest = time.monotonic()
            cursor = answer[2]["next"]

    def end(self):
        self.ends.set()
        self.join(60)
