#!/usr/bin/env python3
"""Events and webhooks of real processes while everything is killed (`make soak WHAT=webhooks`).

A receiver that takes 5 ms for its answer is away for MINUTES, while some 110 changes a second are made over
HTTP and users come and go. The gateway is killed five times a minute, at random moments: 60 % of the times
while the receiver is away, the others when it is back. Then every process is killed, one after the other and
all together. In the end the receiver must have every event, in the order of its key, and whoever reads by
pull the same ones without a hole. Redis, which has the journal in memory, is killed alone: the leading node
writes again what was lost, and nobody promises anything if both are lost together
(docs/operations/messaging.md). At last it measures how fast the receiver gets what has waited for it
(rates.py).

  MINUTES=10   how long the receiver is away
  SEED=7       the same plan again, though not the same run
  KEEP=1       leaves the folder with logs and records

It ends with 1 if a promise isn't kept."""

import itertools
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

from load import Load, Reader
from rates import measure
from stack import Failure, Process, Stack, free_ports, until
from verdict import Arrivals, judge_changes, judge_pull, judge_webhook, requests

MINUTES = float(os.environ.get("MINUTES", 10))
SEED = int(os.environ.get("SEED") or random.randrange(10_000))
KILLS_PER_MINUTE, SHARE_WHILE_AWAY = 5, 0.6
PAUSE_SECONDS = 0.005
BEGIN = time.monotonic()


def say(text):
    print(f"{(time.monotonic() - BEGIN) / 60:5.1f} min  {text}", flush=True)


class Receivers:
    """The receiver in all its lives, each with a file of its own."""

    def __init__(self, folder, port):
        self.folder, self.port, self.files, self.process = folder, port, [], None

    def start(self):
        program = pathlib.Path(__file__).parent / "receiver.py"
        self.files.append(self.folder / f"taken-{len(self.files) + 1:03}.jsonl")
        self.process = Process(
            "receiver", [sys.executable, program, self.port, self.files[-1], PAUSE_SECONDS], self.folder)
        self.process.start()

    def kill(self):
        self.process.kill()


class Soak:
    def __init__(self, folder):
        self.plan = random.Random(SEED)
        (port,) = free_ports(1)
        self.stack, self.receiver = Stack(folder, port), Receivers(folder, port)
        self.load = None
        os.environ["WEBHOOK_SECRET"] = self.stack.secret

    def run(self):
        stack, receiver, plan = self.stack, self.receiver, self.plan
        stack.configure("soak")
        receiver.start()
        stack.start()
        stack.delivers()
        self.load, reader = Load(stack), Reader(stack)
        load = self.load
        reader.start()
        quiet = time.monotonic() + 2
        time.sleep(min(20, 10 * MINUTES))

        away = time.monotonic()
        receiver.kill()
        kills = round(KILLS_PER_MINUTE * MINUTES)
        while_away = round(SHARE_WHILE_AWAY * kills)
        say(f"the receiver is away for {MINUTES:g} minutes, and the gateway is killed {while_away} times")
        for moment in sorted(plan.uniform(0, 60 * MINUTES) for _ in range(while_away)):
            time.sleep(max(0, away + moment - time.monotonic()))
            self.kill_gateway()
        time.sleep(max(0, away + 60 * MINUTES - time.monotonic()))
        receiver.start()
        back = time.monotonic()
        say(f"the receiver is back, {len(reader.events):,} events have happened, "
            f"and the gateway is killed {kills - while_away} times more")
        for _ in range(kills - while_away):
            time.sleep(plan.uniform(0.5, 8))
            self.kill_gateway()
        self.settles("the receiver has everything")

        say("every process is killed, one after the other")
        one_by_one = time.monotonic()
        names = ["messaging", "presence", "storage", "edge", "gateway", "receiver"]
        plan.shuffle(names)
        for name in names:
            self.kill_and_return(name)
        say("all but Redis are killed together")
        self.kill_and_return(*names)
        say("Redis is killed and loses the journal; then messaging is, which had written it again")
        self.kill_and_return("redis")
        time.sleep(10)
        self.kill_and_return("messaging")
        load.end()
        self.settles("the receiver has everything")
        end = time.monotonic()
        # A channel is vacated and a user offline five seconds after the last has left.
        until("nothing happens any more", lambda: time.monotonic() - reader.newest > 12, 120)
        self.settles("the receiver has everything")
        stack.count_requests()
        state = stack.state
        reader.end()
        problems = self.judge(load, reader, state)
        self.report(load, reader, kills, quiet, away, back, one_by_one, end)
        return problems

    def end(self):
        """Ends every process, however far it came."""
        if self.load:
            self.load.abandon()
        if self.receiver.process:
            self.receiver.process.stop()
        self.stack.stop()

    def kill_gateway(self):
        self.stack.kill_gateway()
        time.sleep(self.plan.uniform(0, 1))
        self.stack.gateway.start()

    def kill_and_return(self, *names):
        """All at once, and each is away for a while of its own."""
        stack = self.stack
        processes = [self.receiver if name == "receiver" else getattr(stack, name) for name in names]
        if "gateway" in names:
            stack.count_requests()
        for process in processes:
            process.kill()
        self.plan.shuffle(processes)
        for process in processes:
            time.sleep(self.plan.uniform(0.2, 2))
            process.start()
        stack.becomes_ready()
        time.sleep(self.plan.uniform(2, 4))

    @property
    def newest(self):
        """The place of the newest event; None while the gateway doesn't know it."""
        answer = self.stack.call("GET", "events?after=latest")
        return place(answer[2]["next"]) if answer and answer[0] == 200 else None

    def settles(self, what):
        """What happened until now is delivered, whatever happens meanwhile."""
        goal = until("the gateway answers", lambda: self.newest, 60)
        until(what, lambda: place((self.stack.state or {}).get("position", "0-0")) >= goal, 180)

    def judge(self, load, reader, state):
        self.taken = requests(self.receiver.files)
        visits = {visitor.user: visitor.visits for visitor in load.visitors}
        problems = [
            *load.problems, *reader.problems, *judge_pull(reader.events),
            *judge_changes(load.done, visits, reader.events), *judge_webhook(self.taken, reader.events)]
        if state["deadLetters"] or state["isEnded"]:
            problems.append(f"the webhook has {state['deadLetters']} dead letters, or has ended")
        return problems

    def report(self, load, reader, kills, quiet, away, back, one_by_one, end):
        taken, events, done = self.taken, reader.events, load.done
        arrivals = Arrivals(taken)
        calls = sum(backend.attempts for backend in load.backends)
        replays = sum(backend.replayed for backend in load.backends)
        visits = sum(visitor.visits for visitor in load.visitors)
        say(f"{len(done):,} changes were acknowledged, in {calls:,} requests, "
            f"{replays} of them done already; {visits} visits")
        say(f"{len(events):,} events of {len({event[1] for event in events})} keys; "
            f"{reader.failures} reads by pull were not answered")
        say(f"{len(taken):,} requests reached the receiver with {arrivals.deliveries:,} events, "
            f"{arrivals.deliveries - len(arrivals.times):,} of them repetitions; the gateways counted "
            + ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(self.stack.requests.items())))
        first, last, count = arrivals.catch_up(done, back)
        say(f"the receiver that was away for {back - away:.0f} s had the first event after {first:.1f} s "
            f"and all that it had missed after {last:.1f} s, "
            f"{count / max(last - first, 0.001):,.0f} events a second; the gateway was killed {kills} times")
        for name, begin, finish in (("before anything was killed", quiet, away - 2),
                                    ("while every process was killed", one_by_one, end)):
            delays = arrivals.delays(done, begin, finish)
            if delays:
                say(f"from the answer to the receiver, {name}: half within {delays[len(delays) // 2]:.2f} s, "
                    f"the last after {delays[-1]:.1f} s")


def place(cursor):
    """Of a cursor that isn't from before a backup: the number behind the epoch grows."""
    return int(cursor.rsplit("-", 1)[1])


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="soak-webhooks-"))
    say(f"SEED={SEED}, {folder}")
    soak = Soak(folder)
    try:
        problems = soak.run()
        problems += measure(soak.stack, soak.receiver, say)
    except Failure as failure:
        problems = [str(failure)]
    finally:
        soak.end()
    for problem in itertools.islice(problems, 20):
        say(f"WRONG: {problem}")
    if problems:
        say(f"{len(problems)} promises were not kept; logs and records are in {folder}")
    elif not os.environ.get("KEEP"):
        shutil.rmtree(folder)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
