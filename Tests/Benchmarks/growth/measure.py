"""measure.py RESULTS: measures how cost grows and appends it to RESULTS, one JSON object a line.

The server runs on core 0 and the load on core 1, one measurement at a time (the lock in BENCH_OUT). Each of these has a fresh
server:

subscribers   server CPU per delivery against the number of subscribers of one channel; with window 64, where a turn brings many
              entries and a socket is written once for them, and with window 1, where each delivery is a write of its own
channels      server CPU per publish against the number of channels; one session publishes to all channels in turn, 64 publishes
              at a time, and another one is subscribed to all
journal       the same with the most channels, four shards on two messaging nodes, and their journal in Redis
sessions      resident memory against the number of sessions, and how long each step takes; they log in, then each subscribes to
              a channel of its own, then all subscribe to one and the same channel
logins        sessions that connect, log in and subscribe with the load generator, 200 at a time
heartbeats    CPU per heartbeat of idle sessions

QUICK=1 has fewer points and short runs. SERVERS, PARTS and RUNS choose."""
import contextlib, fcntl, json, math, os, pathlib, resource, subprocess, sys, time

import servers
from client import Connection, Crowd, Trouble, SUBSCRIBED, PUBLISHED, PUBLICATION, publish, subscribe

QUICK = bool(os.environ.get("QUICK"))
RUNS = int(os.environ.get("RUNS") or (1 if QUICK else 3))
SUBSCRIBERS = {64: [10, 100, 1000] if QUICK else [10, 30, 100, 300, 1000, 3000, 10000],
               1: [1, 10, 100] if QUICK else [1, 10, 100, 1000, 10000]}
CHANNELS = [1, 100, 10000] if QUICK else [1, 10, 100, 1000, 10000, 100000]
# Each session is an open file here and one at the server, which needs some more.
SESSIONS_MAX = min(20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200)
SESSIONS = [500, 2000] if QUICK else [1000, 2000, 5000, 10000, SESSIONS_MAX]
LOGINS = [500, 2000] if QUICK else [1000, 3000, 10000, SESSIONS_MAX]
SECONDS = 1 if QUICK else 3
PUBLISHES_AT_ONCE, SUBSCRIBES_AT_ONCE, PAYLOAD = 64, 500, b"x" * 128
# The channels need more subscriptions than a session may have otherwise. An operator would configure it in the same way.
servers.LIMITS["subscriptions-max"] = 1_000_000


class Running:
    """A server while it runs."""

    def __init__(self, server):
        self.server, self.port = server, server.port
        self.pids = {pid: pathlib.Path(f"/proc/{pid}/comm").read_text().strip() for pid in server.process_ids()}

    def cpu(self):
        """Returns the processor seconds of each program since its start, from the processor clock of each process, which counts
        nanoseconds."""
        spent = {}
        for pid, name in self.pids.items():
            spent[name] = spent.get(name, 0) + time.clock_gettime(~pid << 3 | 2)
        return spent

    def resident(self):
        """Returns the KB of each program."""
        memory = {}
        for pid, name in self.pids.items():
            line = next((line for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS:")), None)
            if line is None:
                raise Trouble(f"{name} has ended; its out.log is in the run folder")
            memory[name] = memory.get(name, 0) + int(line.split()[1])
        return memory

    def generate(self, *arguments):
        """One run of the load generator; whatever the delivery checks find is trouble."""
        done = self.server.generate(*arguments, timeout=300)
        try:
            result = json.loads(done.stdout)
        except ValueError:
            raise Trouble(f"the load generator said: {(done.stdout + done.stderr)[-300:]}")
        wrong = {key: result[key] for key in ("failure", "lost", "gaps", "repeats", "foreign", "ended") if result.get(key)}
        if wrong:
            raise Trouble(str(wrong))
        return result


@contextlib.contextmanager
def running(name):
    with open(servers.OUT / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = servers.SERVERS[name]
        try:
            server.start()
            yield Running(server)
        finally:
            server.stop()


def less(after, before):
    return {name: after[name] - before[name] for name in after}


def slab():
    """Returns the kernel's memory that grows with sockets, in KB. Both ends of each connection are in it."""
    return next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("Slab:"))


def subscribers(name):
    for window, counts in SUBSCRIBERS.items():
        for count in counts:
            with running(name) as server:
                result = server.generate("--workload", "closed", "--subscribers", count, "--window", window, "--warm-up", 1,
                                         "--seconds", SECONDS)
                yield {"window": window, "subscribers": count, "us_per_delivery": result["server_us_per_delivery"],
                       "deliveries_per_s": result["deliveries_per_s"], "others_cpu_s": result["others_cpu_s"]}


def channels(name):
    for count in CHANNELS:
        with running(name) as server:
            yield {"channels": count, **publishes(server, [f"growth-{number}" for number in range(count)])}


def journal(name):
    """Only where the services are processes of their own."""
    if name != "heliograph-4":
        return
    with running("heliograph-shards-2") as server:
        yield {"channels": CHANNELS[-1], **publishes(server, [f"growth-{number}" for number in range(CHANNELS[-1])])}


def publishes(server, names):
    before = server.resident()
    reader, writer = Connection(server.port, "reader"), Connection(server.port, "writer")
    for at in range(0, len(names), SUBSCRIBES_AT_ONCE):
        part = names[at:at + SUBSCRIBES_AT_ONCE]
        reader.send(b"".join(map(subscribe, part)))
        reader.await_bodies(SUBSCRIBED, len(part))
    memory = less(server.resident(), before)
    requests = [publish(name, PAYLOAD) for name in names]
    # The list is repeated until every round has the same number of publishes and every channel gets its turn.
    requests *= math.lcm(len(requests), PUBLISHES_AT_ONCE) // len(requests)
    rounds = [b"".join(requests[at:at + PUBLISHES_AT_ONCE]) for at in range(0, len(requests), PUBLISHES_AT_ONCE)]

    def play(one):
        writer.send(one)
        writer.await_bodies(PUBLISHED, PUBLISHES_AT_ONCE)
        reader.await_bodies(PUBLICATION, PUBLISHES_AT_ONCE)

    warm_up, number = time.monotonic() + 0.5, 0
    while number < len(rounds) or time.monotonic() < warm_up:
        play(rounds[number % len(rounds)])
        number += 1
    started, spent, played, received = time.monotonic(), server.cpu(), 0, reader.bytes_received
    while time.monotonic() - started < SECONDS:
        play(rounds[played % len(rounds)])
        played += 1
    published = played * PUBLISHES_AT_ONCE
    spent = less(server.cpu(), spent)
    result = {"us_per_publish": sum(spent.values()) / published * 1e6,
              "us_by_program": {name: seconds / published * 1e6 for name, seconds in spent.items()},
              "publishes_per_s": published / (time.monotonic() - started),
              "bytes_per_delivery": (reader.bytes_received - received) / published,
              "kb_per_channel": sum(memory.values()) / len(names)}
    reader.close()
    writer.close()
    return result


def sessions(name):
    with running(name) as server, contextlib.closing(Crowd(server.port, "growth")) as crowd:
        first, first_slab = server.resident(), slab()

        def line(step, stepped, seconds, spent):
            time.sleep(1)
            memory, spent = less(server.resident(), first), less(server.cpu(), spent)
            return {"step": step, "sessions": len(crowd.sockets), "kb": sum(memory.values()), "kb_by_program": memory,
                    "slab_kb": slab() - first_slab, "stepped": stepped, "seconds": seconds,
                    "cpu_s": sum(spent.values()), "cpu_by_program": spent}

        for count in SESSIONS:
            spent = server.cpu()
            more = count - len(crowd.sockets)
            yield line("log in", more, crowd.log_in(more), spent)
        everybody = range(len(crowd.sockets))
        for step, channel in ("own channel", lambda number: f"own-{number}"), ("same channel", lambda number: "same"):
            spent = server.cpu()
            yield line(step, len(everybody), crowd.subscribe(everybody, channel), spent)


def logins(name):
    for count in LOGINS:
        with running(name) as server:
            result = server.generate("--workload", "logins", "--sessions", count, "--at-once", 200)
            yield {"sessions": count, "seconds": result["seconds"], "cpu_s": result["server_cpu_s"]}


def heartbeats(name):
    count, seconds = (2000, 5) if QUICK else (10000, 20)
    with running(name) as server:
        result = server.generate("--workload", "idle", "--sessions", count, "--seconds", seconds, "--quiet", 2)
        yield {"sessions": count, "us_per_heartbeat": result["server_us_per_ping"], "every_s": seconds}


PARTS = {"subscribers": (subscribers, RUNS), "channels": (channels, RUNS), "journal": (journal, RUNS), "sessions": (sessions, 1), "logins": (logins, RUNS),
         "heartbeats": (heartbeats, 1)}


def main():
    os.sched_setaffinity(0, {1})
    names = (os.environ.get("SERVERS") or "heliograph,heliograph-4").split(",")
    parts = (os.environ.get("PARTS") or ",".join(PARTS)).split(",")
    with open(sys.argv[1], "a") as results:
        for part in parts:
            measure, runs = PARTS[part]
            for run in range(1, runs + 1):
                for name in names:
                    try:
                        for found in measure(name):
                            found = {"part": part, "server": name, "run": run, "quick": QUICK, **found}
                            results.write(json.dumps(found) + "\n")
                            results.flush()
                            print(time.strftime("%H:%M:%S"), json.dumps(found), flush=True)
                    except (Trouble, servers.ServerError, OSError, subprocess.TimeoutExpired) as trouble:
                        sys.exit(f"bench-growth: {part} of {name}: {trouble}")


main()
