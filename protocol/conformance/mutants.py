#!/usr/bin/env python3
"""Tests the suite: sample_client.py has to pass it, and each of the mutants below, which has one fault, has to fail in the
scenario that is about it.

    mutants.py [--only NAME]

It prints a line for each, and ends with status 0 if the suite finds every fault, and none where there is none.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = HERE / "sample_client.py"
MESSAGES = HERE.parent / "generated" / "python"
# The suite has a deadline for each step, so it ends by itself long before.
LIMIT = 180

# The name of each mutant, the scenario that has to find it, and what is different: text of sample_client.py, which has to be
# there once, and what stands in its place.
RECEIVERS = [
    ("beats, and does nothing else", "10-hello", ('self.send("subscribe", subscribe)', "pass")),
    ("sends requests without an id", "10-hello", ("request_id=self.last_id)", "request_id=0)")),
    (
        "subscribes before it is logged in", "10-hello",
        (
            'self.send("login", login)',
            'self.send("login", login); self.send("subscribe", channel_pb2.Subscribe(channel=self.channel, features=4))',
        ),
    ),
    (
        "drops the beginning of a frame", "11-pieces",
        ("if len(self.buffer) < 4 + size:", "if len(self.buffer) < 4 + size:\n                self.buffer = b''"),
    ),
    ("reads one frame of several", "11-pieces", ("yield frame_pb2", "self.buffer = b''\n            yield frame_pb2")),
    (
        "takes an unknown frame for a fault", "12-later",
        ('kind = frame.WhichOneof("body")', 'kind = frame.WhichOneof("body")\n        self.is_closing |= kind is None'),
    ),
    (
        "comes back after a refused login", "15-refused",
        ('elif request in ("login", "subscribe"):', 'elif request == "subscribe":'),
        ("3500 <= disconnect.code < 4000", "3506 <= disconnect.code < 4000"),
    ),
    ("sends no heartbeat", "16-heartbeat.json", ('self.send("heartbeat", session_pb2.Heartbeat())', "pass")),
    (
        "sends heartbeats only in silence", "16-heartbeat-busy",
        (
            'kind = frame.WhichOneof("body")',
            'self.heartbeat_at = now + self.heartbeat_interval\n        kind = frame.WhichOneof("body")',
        ),
    ),
    (
        "waits for ever for an answer to its heartbeats", "17-silence",
        ("if self.unanswered_since is not None and", "if False and"),
    ),
    (
        "comes back after another login", "18-disconnect-3507",
        ("3500 <= disconnect.code < 4000", "3508 <= disconnect.code < 4000"),
    ),
    (
        "comes back after an unknown code above 3500", "18-disconnect-3999",
        ("3500 <= disconnect.code < 4000", "3500 <= disconnect.code < 3509"),
    ),
    ("reads frames of any length", "19-frame-limit", ("FRAME_BYTES_MAX = 2**20", "FRAME_BYTES_MAX = 2**32")),
    ("reads frames of 64 KiB alone", "19-frame-limit", ("FRAME_BYTES_MAX = 2**20", "FRAME_BYTES_MAX = 2**16")),
    ("has no instance", "20-return", ("        login.instance = self.instance\n", "")),
    (
        "has a new instance on each connection", "20-return",
        ("login.instance = self.instance", "login.instance = secrets.randbelow(2**53 - 1) + 1"),
    ),
    ("doesn't count its attempts", "20-return", ("self.attempt += 1", "self.attempt = 1")),
    ("has no attempt", "20-return", ("        login.attempt = self.attempt\n", "")),
    (
        "comes back as if the app had asked", "20-return",
        ("login.attempt = self.attempt", "login.attempt, login.asked = self.attempt, True"),
    ),
    ("comes back from now on", "20-return", ("subscribe.after.CopyFrom(self.position)", "pass")),
    (
        "comes back one message too early", "20-return",
        ("position.offset = publication.offset", "position.offset = publication.offset - 1"),
    ),
    (
        "stays away when a server is shut down", "21-disconnect-3000",
        ("3500 <= disconnect.code < 4000", "3000 <= disconnect.code < 4000"),
    ),
    (
        "stays away after an unknown code below 3500", "21-disconnect-3499",
        ("3500 <= disconnect.code < 4000", "not 3000 <= disconnect.code < 3007"),
    ),
    (
        "keeps its position at Subscribed", "22-subscribed-gap",
        ("self.position = answer.position", "self.position = self.position or answer.position"),
    ),
    ("doesn't report the gap of Subscribed", "22-subscribed-gap", ("if answer.gap:", "if False:")),
    ("forgets a channel that is refused for now", "22-subscribe-later", ("self.subscribe_at = now + retry_after", "pass")),
    (
        "ignores retry_after_ms of a Subscribe", "22-subscribe-later",
        ("self.subscribe_at = now + retry_after", "self.subscribe_at = now"),
    ),
    ("keeps its position at a Gap", "23-gap", ("self.position = gap.position", "pass")),
    (
        "doesn't report a Gap", "23-gap",
        ("self.position = gap.position\n            self.report_gap(self.channel)", "self.position = gap.position"),
    ),
    ("has no position of its inbox", "24-inbox", ("login.inbox_after.CopyFrom(self.inbox)", "pass")),
    (
        "has positions of messages alone", "25-a-later",
        (
            "position.offset = publication.offset",
            'position.offset = publication.offset if publication.HasField("message") else position.offset',
        ),
    ),
    ("ends at a login that is refused for now", "26-login-later", ('if request == "login" and retry_after:', "if False:")),
    (
        "ignores retry_after_ms of a login", "26-login-later",
        ("self.retry_after = retry_after\n", "self.retry_after = 0.001\n"),
    ),
    ("shows its own messages", "27-own", ("is_own = publication", "is_own = False and publication")),
    (
        "hides its messages to itself", "27-own",
        ("is_own = publication.publisher == self.user and not is_inbox", "is_own = publication.publisher == self.user"),
    ),
    ("doesn't report the gap of LoggedIn", "28-inbox-gap", ("if answer.inbox_gap:", "if False:")),
    (
        "doesn't report a Gap of its inbox", "28-inbox-gap",
        ('self.inbox = gap.position\n            self.report_gap("the inbox")', "self.inbox = gap.position"),
    ),
    ("keeps its position at a Gap of its inbox", "28-inbox-gap", ("self.inbox = gap.position", "pass")),
    (
        "ignores retry_after_ms of a Disconnect", "29-disconnect-wait",
        ("self.retry_after = max(self.retry_after, disconnect.retry_after_ms / 1000)", "pass"),
    ),
    (
        "gives up where nobody listens", "29-nobody-listens",
        ("link.lost(time.monotonic(), is_refused=isinstance(error, ConnectionRefusedError))", "sys.exit(str(error))"),
    ),
    ("waits for ever for LoggedIn", "29-silent-login", ("if now > self.give_up_at:", "if False:")),
    ("doesn't pause between attempts", "29-turned-away", ("PAUSE, PAUSE_MAX = 1, 30", "PAUSE, PAUSE_MAX = 0, 30")),
    ("always pauses for a second", "29-turned-away", ("PAUSE * 2**self.failures", "PAUSE")),
]
PUBLISHERS = [
    (
        "publishes twice", "13-publish",
        ('self.send("publish", publish)', 'self.send("publish", publish); self.send("publish", publish)'),
    ),
    ("ends well although it was refused", "14-refused", ("self.status = 1", "self.status = 0")),
    ("publishes again what was refused", "14-refused", ('self.end(f"error {code}: {reason}")', "pass")),
    ("publishes without a number", "30-once", ("publish.sequence = self.sequence", "pass")),
    ("doesn't say that it publishes again", "30-once", ("publish.again = True", "pass")),
    (
        "publishes again with a new number", "30-once",
        ("publish.again = True", "publish.again = True\n            self.sequence += 1"),
    ),
    ("doesn't say how long ago it was", "30-once", ("publish.age_ms = max(1, round(1000 * (now - self.sent_at)))", "pass")),
    ("doesn't name the epoch", "30-once", ("publish.epoch = self.sent_epoch", "pass")),
    (
        "forgets what has no answer", "30-once",
        (
            "self.forget_connection()\n\n    def tick",
            "self.text = self.sent_at = None\n        self.forget_connection()\n\n    def tick",
        ),
    ),
    (
        "has another instance when it publishes again", "30-once",
        ("login.instance = self.instance", "login.instance = self.instance + self.attempt"),
    ),
    (
        "ignores retry_after_ms of -11024", "31-log-away",
        ("self.publish_at = now + retry_after", "self.publish_at = now + (code != -11024) * retry_after"),
    ),
    ("ends at -11024 with retry_after_ms", "31-log-away", ("or not retry_after:", "or retry_after:")),
    ("repeats -11024 without retry_after_ms", "32-nobody-knows", ("MESSAGE_FAILED or not retry_after:", "MESSAGE_FAILED:")),
    (
        "ignores retry_after_ms of -11025", "33-too-frequent",
        ("self.publish_at = now + retry_after", "self.publish_at = now + (code != -11025) * retry_after"),
    ),
    (
        "keeps the number after -11025", "33-too-frequent",
        ("self.sent_at = None  #", "self.sent_at, self.sequence = None, self.sequence - 1  #"),
    ),
    ("says again after -11025", "33-too-frequent", ("self.sent_at = None  #", "pass  #")),
]


def run(program, what, scenario):
    """The status and the output of the suite."""
    arguments = ["{server}", "{user}", "{channel}"] + (["{text}"] if what == "publish" else [])
    abilities = {"receive": "receive,return", "publish": "publish,ends,once"}[what]
    suite = [sys.executable, str(HERE / "run.py"), "client", "--can", abilities, "--only", scenario, "--"]
    finished = subprocess.run(
        suite + [sys.executable, str(program), what, *arguments], capture_output=True, text=True, timeout=LIMIT,
        env={**os.environ, "PYTHONPATH": str(MESSAGES)},
    )
    return finished.returncode, finished.stdout + finished.stderr


def right(what):
    status, output = run(SAMPLE, what, "")
    return None if status == 0 else f"the sample client has to pass: {output}"


def mutant(folder, number, what, scenario, changes):
    text = SAMPLE.read_text()
    for old, new in changes:
        if text.count(old) != 1:
            return f"{old!r} is {text.count(old)} times in {SAMPLE.name}"
        text = text.replace(old, new)
    program = pathlib.Path(folder) / f"mutant_{number}.py"
    program.write_text(text)
    try:
        status, output = run(program, what, scenario)
    except subprocess.TimeoutExpired:
        return f"the suite hangs in {scenario}"
    if "Traceback" in output:
        return f"it is no client any more: {output}"
    if status != 1 or f"FAILED  client/{scenario}" not in output:
        return f"the suite takes it for right: {output}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants with this in their name")
    only = parser.parse_args().only
    faults = [("receive", *each) for each in RECEIVERS] + [("publish", *each) for each in PUBLISHERS]
    chosen = [each for each in faults if only in each[1]]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(12) as pool:
        running = [(f"the sample client, {what}", pool.submit(right, what)) for what in ("receive", "publish")]
        for number, (what, name, scenario, *changes) in enumerate(chosen):
            running.append((f"{name} ({scenario})", pool.submit(mutant, folder, number, what, scenario, changes)))
        for name, outcome in running:
            problem = outcome.result()
            failed += problem is not None
            print(f"ok      {name}" if problem is None else f"FAILED  {name}: {problem}", flush=True)
    print(f"{len(running) - failed} of {len(running)} are judged as they should be")
    return bool(chosen) and not failed


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
