"""measure.py: prints what Redis costs per publish, ours beside a broker of the other kind, and for how long nothing is
acknowledged when a leading messaging node goes.

The broker of the other kind is its script alone: XADD to a stream and PUBLISH to a channel for each message, sent by
redis-benchmark over 50 connections, 16 at a time. Whatever stands around such a script costs more."""
import json, os, re, signal, statistics, subprocess, time, urllib.request

from client import PUBLISHED, Connection, Trouble, publish
from servers import SERVERS, Server, journaled
from workloads import WORKLOADS

SECONDS = float(os.environ.get("SECONDS_EACH") or 4)
ROUNDS = int(os.environ.get("ROUNDS") or 5)
PAYLOAD = 128
SCRIPT = "redis.call('XADD', KEYS[1], 'MAXLEN', '~', 8192, '*', 'm', ARGV[1]) return redis.call('PUBLISH', KEYS[1], ARGV[1])"
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process_id):
    fields = open(f"/proc/{process_id}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def named(server, name):
    """The processes of the server that run this program."""
    return [pid for pid in server.process_ids() if open(f"/proc/{pid}/comm").read().strip() == name]


def other_kind():
    """Redis CPU in µs per publish, and publishes a second."""
    server = Server("other-kind", "redis", 7936, lambda folder: [
        "redis-server", "--port", 7936, "--save", "", "--appendonly", "no"])
    server.start()
    try:
        count = int(60_000 * SECONDS)
        before, start = cpu_seconds(server.process.pid), time.monotonic()
        subprocess.run(
            ["taskset", "-c", "1", "redis-benchmark", "-p", "7936", "-c", "50", "-P", "16", "-n", str(count), "-r", "500", "-q",
             "EVAL", SCRIPT, "1", "channel:__rand_int__", "x" * PAYLOAD], check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        return (cpu_seconds(server.process.pid) - before) * 1e6 / count, count / seconds
    finally:
        server.stop()


def ours(workload):
    """The same of ours."""
    server = SERVERS["heliograph-4-journal"]
    server.start()
    try:
        redis = named(server, "redis-server")[0]
        before, start = cpu_seconds(redis), time.monotonic()
        done = server.generate(
            "--prefix", "journal", *workload.arguments(SECONDS), timeout=60 + 4 * SECONDS)
        result = json.loads(done.stdout)
        # The warm-up publishes, too, and as fast.
        share = SECONDS / (SECONDS + 0.5)
        spent = (cpu_seconds(redis) - before) * 1e6 * share
        return spent / (result["publishes_per_s"] * result["seconds"]), result["publishes_per_s"]
    finally:
        server.stop()


# How long nothing is acknowledged

def leader(server):
    """The messaging node that leads."""
    for pid in named(server, "rtm-messaging"):
        arguments = open(f"/proc/{pid}/cmdline").read().split("\0")
        admin = arguments[arguments.index("--admin") + 1]
        with urllib.request.urlopen(f"http://{admin}/metrics", timeout=2) as answer:
            if re.search(r"^rtm_messaging_leading 1$", answer.read().decode(), re.M):
                return pid
    raise SystemExit("bench-journal: no node leads")


def published(connection):
    """Whether a publish was acknowledged."""
    try:
        connection.send(publish("takeover", b"x" * PAYLOAD))
        connection.await_bodies(PUBLISHED, 1)
        return True
    except Trouble:
        # The publish was refused. What came with the refusal is read.
        connection.rest = b""
        return False


def silence_ms(how):
    """Milliseconds from the signal to the next acknowledgement of a publish that was sent after it."""
    server = Server("takeover", "heliograph", 7960, lambda folder: journaled(folder, nodes=2), admin=7961, settle=3)
    server.start()
    try:
        connection = Connection(server.port, "witness")
        deadline = time.monotonic() + 20
        while not published(connection):
            if time.monotonic() > deadline:
                raise SystemExit("bench-journal: nothing can be published")
        os.kill(leader(server), how)
        start = time.monotonic()
        while not published(connection):
            time.sleep(0.002)
        return (time.monotonic() - start) * 1e3
    finally:
        server.stop()


def longest_ms(how):
    """The same, but the longest time without an acknowledgement in the two seconds after the signal: who is told to stop goes on
    acknowledging until it hands over."""
    server = Server("takeover", "heliograph", 7960, lambda folder: journaled(folder, nodes=2), admin=7961, settle=3)
    server.start()
    try:
        connection = Connection(server.port, "witness")
        while not published(connection):
            time.sleep(0.01)
        os.kill(leader(server), how)
        last = start = time.monotonic()
        longest = 0
        while last < start + 3:
            if published(connection):
                now = time.monotonic()
                longest, last = max(longest, now - last), now
            else:
                time.sleep(0.002)
        return longest * 1e3
    finally:
        server.stop()


def main():
    cost, rate = other_kind()
    print(f"a script with XADD and PUBLISH for each message: {cost:.2f} µs of Redis per publish, {rate:,.0f} publishes/s", flush=True)
    for workload in (found for found in WORKLOADS if found.name in ("pairs_500_w8", "fanout_100x1")):
        mine, rate = ours(workload)
        print(f"the journal, {workload.name}: {mine:.2f} µs of Redis per publish at {rate:,.0f} publishes/s: "
              f"{cost / mine:.1f} times as many publishes per core of Redis", flush=True)
    for name, measured in (
            ("the leading node is killed", [silence_ms(signal.SIGKILL) for _ in range(ROUNDS)]),
            ("the leading node is told to stop", [longest_ms(signal.SIGTERM) for _ in range(ROUNDS)])):
        print(f"{name}: {statistics.median(measured):.0f} ms without an acknowledgement (median of {ROUNDS}, "
              f"at most {max(measured):.0f})", flush=True)


if __name__ == "__main__":
    main()
