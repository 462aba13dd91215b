"""How fast a receiver that takes 5 ms gets what has waited for it: with the settings that a webhook has by
itself, and with one event in each request."""

import time
import uuid

from stack import until
from verdict import Arrivals, requests

GOAL = 1_000
CHANNELS, OF_ONE_REQUEST = 200, 1_000
# The name of a webhook, its settings, and how many events wait for it.
PLANS = (
    ("default", {}, 40_000),
    ("single", {"batch": 1}, 15_000),
    ("single-16", {"batch": 1, "parallel": 16}, 15_000),
)
# A receiver that is back is found within a minute.
PAUSE_MAX = 60


def measure(stack, receiver, say):
    """What isn't fast enough, in sentences."""
    problems = []
    for name, settings, count in PLANS:
        stack.gateway.stop()
        stack.configure(name, **settings)
        stack.gateway.start()
        stack.becomes_ready()
        stack.delivers()
        receiver.kill()
        publish(stack, count)
        receiver.start()
        processes = {"gateway": stack.gateway, "storage": stack.storage, "receiver": receiver.process}
        before = {each: process.processor_seconds for each, process in processes.items()}
        until("the receiver has everything",
              lambda: (stack.state or {}).get("lag") == 0, PAUSE_MAX + count / 100)
        used = {each: process.processor_seconds - before[each] for each, process in processes.items()}
        taken = requests(receiver.files[-1:])
        seconds, events = taken[-1].at - taken[0].at, len(Arrivals(taken).times)
        say(f"{events / seconds:,.0f} events a second in {len(taken) / seconds:,.0f} requests ("
            + (", ".join(f"{key}: {value}" for key, value in settings.items()) or "batch: 100, parallel: 8")
            + f"), {events:,} in all; of a core " + ", ".join(
                f"{each} {share / seconds:.0%}" for each, share in used.items()))
        if events < count:
            problems.append(f"{name}: {count - events} of {count} events did not arrive")
        if name == "default" and events / seconds < GOAL:
            problems.append(f"{events / seconds:,.0f} events a second is less than {GOAL:,}")
    return problems


def publish(stack, count):
    """Messages that wait for the receiver, of many channels."""
    for first in range(0, count, OF_ONE_REQUEST):
        messages = [{"channel": f"rate-{number % CHANNELS}", "message": f"{number} " + "." * 100}
                    for number in range(first, first + OF_ONE_REQUEST)]
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        until("a batch is published",
              lambda: (stack.call("POST", "batch", {"messages": messages}, headers) or [0])[0] == 200)
