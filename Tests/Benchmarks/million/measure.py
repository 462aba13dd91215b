"""Measures the four services with so many sessions on one machine, and writes the table of docs/performance.md. run.sh says what
QUICK and SIZES mean.

Each session has a subscription of its own and sends a heartbeat each minute; a thousand of them are in one channel. Nothing is
pinned: the servers share the cores with as many load generators."""
import contextlib, dataclasses, json, os, pathlib, re, resource, select, shutil, signal, statistics, subprocess, sys, time
import urllib.request

from servers import LIMITS, LOAD, OUT, RELEASE, edge_limits, flags, listens

QUICK = bool(os.environ.get("QUICK"))
SIZES = [int(size) for size in os.environ.get("SIZES", "").split(",") if size] or \
    ([2_000, 10_000] if QUICK else [10_000, 100_000, 1_000_000])
HEARTBEAT_SECONDS = 20 if QUICK else 60
CROWD, MESSAGES_PER_SECOND, MESSAGE_SECONDS = 1_000, 20, 5
OTHERS, OTHERS_RATE = 500, 1_000
# What an edge has open besides its sessions.
SPARE_FILES = 1_000
PAGE = pathlib.Path("docs/performance.md")
BEGIN, END = "<!-- figures: make bench WHAT=million writes what is between here … -->", "<!-- … and here -->"
MESSAGING, PRESENCE, STORAGE, EDGES = 7700, 7710, 7720, 8000


class Broken(Exception):
    """The measurement can't go on, or something was lost."""


@dataclasses.dataclass
class Program:
    """A server process that listens on `port` and has its admin page on the next one."""
    name: str
    port: int
    arguments: list
    process: subprocess.Popen = None

    def start(self):
        folder = OUT / "run" / f"million-{self.name}-{self.port}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = [RELEASE / f"rtm-{self.name}", *flags(listen=f"127.0.0.1:{self.port}", admin=f"127.0.0.1:{self.port + 1}",
                                                      threads=1, log_level="error"), *self.arguments]
        self.process = subprocess.Popen(list(map(str, words)), cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=open(folder / "out.log", "w"), stderr=subprocess.STDOUT)

    def await_ready(self):
        for _ in range(600):
            if self.process.poll() is not None:
                raise Broken(f"{self.name} on port {self.port} has ended")
            with contextlib.suppress(OSError):
                if urllib.request.urlopen(f"http://127.0.0.1:{self.port + 1}/ready", timeout=1).status == 200:
                    return
            time.sleep(0.05)
        raise Broken(f"{self.name} on port {self.port} isn't ready")

    def end(self):
        self.process.kill()
        self.process.wait()

    @property
    def resident_kb(self):
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text()).group(1))

    @property
    def seconds(self):
        words = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Sessions:
    """A load generator whose sessions stay at one edge."""

    def __init__(self, port, count, first, crowd):
        self.count, self.crowd, self.rest = count, crowd, b""
        words = [LOAD, "--adapter", "heliograph", "--port", port, "--prefix", "million", "--workload", "stay", "--sessions", count,
                 "--first", first, "--at-once", 50, "--heartbeat", HEARTBEAT_SECONDS] + (["--crowd", crowd] if crowd else [])
        self.process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE)

    def line(self, timeout):
        """The next line that it prints."""
        deadline = time.monotonic() + timeout
        while b"\n" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Broken(f"sessions of {self.process.args[4]} aren't there after {timeout} s")
            if not (read := os.read(self.process.stdout.fileno(), 65536)):
                raise Broken("a load generator has ended")
            self.rest += read
        line, self.rest = self.rest.split(b"\n", 1)
        found = json.loads(line)
        if "failure" in found:
            raise Broken(found["failure"])
        return found

    def ask(self):
        """What has happened since the last line, in which no session may have been lost."""
        self.process.send_signal(signal.SIGUSR1)
        line = self.line(60)
        if not line["is_answer"] or line["lost_connections"]:
            raise Broken(f"sessions of {self.process.args[4]} were lost while nothing was killed")
        return line


class Installation:
    def __init__(self, size):
        self.size = size
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1] - SPARE_FILES
        self.edge_count = -(-size // most)
        connections = size // self.edge_count + SPARE_FILES
        LIMITS["connections-max"] = LIMITS["connections-per-address-max"] = connections
        messaging = flags(messaging=f"127.0.0.1:{MESSAGING}")
        more = flags(channels_max=3 * 10**6)
        behind = [Program("messaging", MESSAGING, [*more, *flags(channels_per_app_max=3 * 10**6)]),
                  Program("presence", PRESENCE, [*messaging, *more]),
                  Program("storage", STORAGE, [*messaging, *flags(data=OUT / "run" / "million-data")])]
        shutil.rmtree(OUT / "run" / "million-data", ignore_errors=True)
        # The last edge has sessions that talk, and is never killed.
        edge = [*edge_limits(""), *messaging, *flags(presence=f"127.0.0.1:{PRESENCE}", storage=f"127.0.0.1:{STORAGE}",
                                                     shutdown_timeout=f"{20 + connections // 10_000}s")]
        self.edges = [Program("edge", EDGES + 2 * number, edge) for number in range(self.edge_count + 1)]
        self.talking = self.edges.pop()
        self.behind = behind
        self.programs = [*behind, *self.edges, self.talking]
        self.sessions = []

    def start(self):
        for program in self.programs:
            if listens(program.port):
                raise Broken(f"somebody listens on port {program.port}")
        for program in self.behind:
            program.start()
        for program in [*self.edges, self.talking]:
            program.start()
        for program in self.programs:
            program.await_ready()

    def log_in(self):
        first = 1
        for number, edge in enumerate(self.edges):
            count = self.size // self.edge_count + (number < self.size % self.edge_count)
            crowd = CROWD // self.edge_count + (number < CROWD % self.edge_count)
            self.sessions.append(Sessions(edge.port, count, first, crowd))
            first += count

    def await_all(self, timeout):
        """When the last session was there, on the monotonic clock."""
        return max(sessions.line(timeout)["at_ns"] for sessions in self.sessions) / 1e9

    def ask(self):
        return [sessions.ask() for sessions in self.sessions]

    def stop(self):
        for sessions in self.sessions:
            sessions.process.kill()
            sessions.process.wait()
        for program in self.programs:
            if program.process:
                program.end()

    def memory(self, programs):
        return sum(program.resident_kb for program in programs)

    def seconds(self):
        return sum(program.seconds for program in self.programs)


def kernel_kb():
    """What the kernel holds for both ends of all connections: its objects and the bytes in sockets."""
    found = dict(re.findall(r"(Slab):\s+(\d+)", pathlib.Path("/proc/meminfo").read_text()))
    pages = int(re.search(r"TCP:.* mem (\d+)", pathlib.Path("/proc/net/sockstat").read_text()).group(1))
    return int(found["Slab"]) + pages * 4


def talk(port, **options):
    """Runs the generator's workload `open` against an edge."""
    words = [LOAD, "--adapter", "heliograph", "--port", port, "--workload", "open",
             *[word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]]
    return subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE)


def result(process):
    found = json.loads(process.communicate()[0])
    if "failure" in found or any(found[name] for name in ("lost", "gaps", "repeats", "foreign", "ended")):
        raise Broken(f"the sessions that talk: {found}")
    return found


def talk_of_others(port, number):
    return talk(port, channels=OTHERS, subscribers=1, publishers=1, rate=OTHERS_RATE, seconds=5, warm_up=0.5,
                prefix=f"others{number}")


def measure(size):
    it, row = Installation(size), {"sessions": size}
    try:
        it.start()
        row["edges"] = it.edge_count
        time.sleep(1)
        before, kernel_before, seconds_before, began = {
            "edges": it.memory(it.edges), "behind": it.memory(it.behind)}, kernel_kb(), it.seconds(), time.monotonic()
        it.log_in()
        ended = it.await_all(900)
        row["logins_per_s"] = size / (ended - began)
        row["login_us"] = (it.seconds() - seconds_before) * 1e6 / size
        print(f"{size}: {row['logins_per_s']:,.0f} logins/s, {row['login_us']:.0f} µs of the servers each", flush=True)
        time.sleep(5)
        row["edge_kb"] = (it.memory(it.edges) - before["edges"]) / size
        row["behind_kb"] = (it.memory(it.behind) - before["behind"]) / size
        row["kernel_kb"] = (kernel_kb() - kernel_before) / size
        print(f"{size}: KB a session: {row['edge_kb']:.2f} edge, {row['behind_kb']:.2f} behind, "
              f"{row['kernel_kb']:.2f} kernel", flush=True)
        heartbeats(it, row)
        message(it, row)
        come_back(it, row)
        return row
    finally:
        it.stop()


def heartbeats(it, row):
    it.ask()
    seconds, began = it.seconds(), time.monotonic()
    time.sleep(HEARTBEAT_SECONDS)
    pongs = sum(line["pongs"] for line in it.ask())
    took, used = time.monotonic() - began, it.seconds() - seconds
    row["heartbeat_us"], row["heartbeat_cores"] = used * 1e6 / pongs, used / took
    expected = it.size * took / HEARTBEAT_SECONDS
    if abs(pongs - expected) > 0.05 * expected:
        raise Broken(f"{pongs} of {expected:.0f} heartbeats were answered")
    print(f"{it.size}: {row['heartbeat_cores']:.3f} of a core for heartbeats, {row['heartbeat_us']:.1f} µs each", flush=True)


def message(it, row):
    """A channel of a thousand sessions, spread over all edges."""
    it.ask()
    done = result(talk(it.edges[0].port, channels=1, subscribers=1, publishers=1, rate=MESSAGES_PER_SECOND,
                       seconds=MESSAGE_SECONDS, warm_up=0, prefix="million", first=2 * it.size))
    time.sleep(1)
    lines = [line for line, sessions in zip(it.ask(), it.sessions) if sessions.crowd]
    counts = {line["delivered"] / sessions.crowd for line, sessions in zip(lines, (s for s in it.sessions if s.crowd))}
    if len(counts) != 1 or min(counts) < done["deliveries"]:
        raise Broken(f"messages were lost: {done['deliveries']} were sent, and sessions got {sorted(counts)}")
    row["message_p50_us"] = statistics.median(line["arrival_us"]["p50"] for line in lines)
    row["message_p99_us"] = max(line["arrival_us"]["p99"] for line in lines)
    print(f"{it.size}: a message to {CROWD}: p50 {row['message_p50_us']:,.0f} µs, p99 {row['message_p99_us']:,.0f} µs",
          flush=True)


def come_back(it, row):
    """All edges but that of the others are killed and started again."""
    row["others_p99_us"] = result(talk_of_others(it.talking.port, 0))["arrival_us"]["p99"]
    began = time.monotonic()
    for edge in it.edges:
        edge.end()
    for edge in it.edges:
        edge.start()
    meanwhile, number = [], 0
    pending = list(it.sessions)
    while pending and time.monotonic() - began < 900:
        number += 1
        meanwhile.append(result(talk_of_others(it.talking.port, number))["arrival_us"]["p99"])
        pending = [sessions for sessions in pending if not select.select([sessions.process.stdout], [], [], 0)[0]]
    ended = it.await_all(1)
    row["back_s"] = ended - began
    row["others_p99_meanwhile_us"] = statistics.median(meanwhile)
    print(f"{it.size}: all are back after {row['back_s']:.1f} s; others' p99 {row['others_p99_us']:,.0f} µs before and "
          f"{row['others_p99_meanwhile_us']:,.0f} µs meanwhile", flush=True)


def table(rows):
    lines = [("sessions", "sessions", "{:,}"), ("edges (one has no more than it may have files)", "edges", "{}"),
             ("logins a second, with a subscription each", "logins_per_s", "{:,.0f}"),
             ("µs of the servers for each", "login_us", "{:.0f}"),
             ("KB a session: edges", "edge_kb", "{:.2f}"), ("… messaging, presence and storage", "behind_kb", "{:.2f}"),
             ("… the kernel, both ends", "kernel_kb", "{:.2f}"),
             (f"heartbeats each {HEARTBEAT_SECONDS} s: cores", "heartbeat_cores", "{:.3f}"),
             ("… µs each", "heartbeat_us", "{:.1f}"),
             ("a message to 1,000 of them: p50, µs", "message_p50_us", "{:,.0f}"), ("… p99, µs", "message_p99_us", "{:,.0f}"),
             ("all edges killed and started: s until all are back", "back_s", "{:.1f}"),
             ("p99 of 500 others who talk, µs: before", "others_p99_us", "{:,.0f}"),
             ("… meanwhile", "others_p99_meanwhile_us", "{:,.0f}")]
    made = [[label] + [form.format(row[name]) for row in rows] for label, name, form in lines]
    return "\n".join(["| " + " | ".join(made[0]) + " |", "|---" * len(made[0]) + "|"]
                     + ["| " + " | ".join(each) + " |" for each in made[1:]])


def main():
    try:
        rows = [measure(size) for size in SIZES]
    except Broken as broken:
        sys.exit(f"bench-million: {broken}")
    text = table(rows)
    print(text)
    if QUICK or os.environ.get("SIZES"):
        return
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    PAGE.write_text(head + BEGIN + "\n\n" + text + "\n\n" + rest[rest.index(END):])
    subprocess.run(["docs/wrap.py", str(PAGE)], check=True)


main()
