"""report.py RESULTS FOLDER: writes growth.md and growth.png from the lines that measure.py wrote: tables of medians, a plot, and
the sum for a million sessions and for ten. Every figure of the page comes from RESULTS or from the assumptions that stand here.
In docs it also writes the figures of operations/sizing.md (sizing.py)."""
import collections, json, math, pathlib, statistics, sys

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plot

import sizing
from sizing import BUSY, SEGMENT_BYTES, TAIL_SECONDS

NAMES = {"heliograph": "one process", "heliograph-4": "four processes"}
DEPLOYED = "heliograph-4"

# What the sessions of the paper do, and what they run on.
SESSIONS, CHANNELS_EACH, SESSIONS_PER_CHANNEL, PER_SECOND = [1_000_000, 10_000_000], 5, 100, 1
SHARDS_PER_NODE = 2
HEARTBEAT_SECONDS = [5, 30]
CORES, MEMORY_GB = 8, 32

lines = [json.loads(line) for line in open(sys.argv[1])]
folder = pathlib.Path(sys.argv[2])
servers = list(dict.fromkeys(line["server"] for line in lines))


def name(server):
    return NAMES.get(server, server)


def of(part, server, **where):
    return [line for line in lines if line["part"] == part and line["server"] == server
            and all(line.get(key) == value for key, value in where.items())]


def median(key, part, server, **where):
    found = [line[key] for line in of(part, server, **where)]
    return statistics.median(found) if found else None


def axis(part, key, **where):
    return sorted({line[key] for server in servers for line in of(part, server, **where)})


def show(value, digits=2):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}f}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + [
        "| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def growth_of(part, key, along, **where):
    """Says in words by what factor the cost grows from the first to the last point."""
    said = []
    for server in servers:
        points = [point for point in axis(part, along, **where) if median(key, part, server, **where, **{along: point}) is not None]
        if len(points) > 1:
            first, last = (median(key, part, server, **where, **{along: point}) for point in (points[0], points[-1]))
            said.append(f"{name(server)} × {last / first:.2f}")
    return ", ".join(said)


# Tables

def subscribers_table(window):
    rows = []
    for count in axis("subscribers", "subscribers", window=window):
        where = {"subscribers": count, "window": window}
        rows.append([f"{count:,}"] + [cell for server in servers for cell in (
            show(median("us_per_delivery", "subscribers", server, **where), 3),
            show(median("deliveries_per_s", "subscribers", server, **where)))])
    return table(["subscribers"] + [f"{name(server)}: {what}" for server in servers for what in ("µs", "deliveries/s")], rows)


def channels_table():
    rows = []
    for count in axis("channels", "channels"):
        rows.append([f"{count:,}"] + [cell for server in servers for cell in (
            show(median("us_per_publish", "channels", server, channels=count)),
            show(median("publishes_per_s", "channels", server, channels=count)))])
    return table(["channels"] + [f"{name(server)}: {what}" for server in servers for what in ("µs", "publishes/s")], rows)


def session_columns(server):
    """Returns the columns about a server's sessions, and how each is read from a line of the results."""
    columns = {"KB per session": lambda line: show(line["kb"] / line["sessions"])}
    if any("rtm-edge" in line["kb_by_program"] for line in of("sessions", server)):
        columns["of it at the edge"] = lambda line: show(line["kb_by_program"]["rtm-edge"] / line["sessions"])
    return columns | {"s": lambda line: show(line["seconds"]), "CPU s": lambda line: show(line["cpu_s"])}


def sessions_table():
    columns = [(server, what, read) for server in servers for what, read in session_columns(server).items()]
    rows = []
    for step in "log in", "own channel", "same channel":
        for count in axis("sessions", "sessions", step=step):
            found = {server: of("sessions", server, step=step, sessions=count)[-1:] for server in servers}
            rows.append([step, f"{count:,}"] + [read(found[server][0]) if found[server] else "–" for server, _, read in columns])
    return table(["step", "sessions"] + [f"{name(server)}: {what}" for server, what, _ in columns], rows)


def logins_table():
    rows = [[f"{count:,}"] + [cell for server in servers for cell in (
        show(median("seconds", "logins", server, sessions=count)), show(median("cpu_s", "logins", server, sessions=count)))]
        for count in axis("logins", "sessions")]
    return table(["sessions"] + [f"{name(server)}: {what}" for server in servers for what in ("s", "CPU s")], rows)


# On paper

class Costs:
    """The measured figures of one server that the sum needs, in KB and microseconds."""

    def __init__(self, server):
        logged_in = sorted(of("sessions", server, step="log in"), key=lambda line: line["sessions"])
        own, = of("sessions", server, step="own channel")
        same, = of("sessions", server, step="same channel")
        first, last = logged_in[0], logged_in[-1]
        count = last["sessions"]
        self.session = (last["kb"] - first["kb"]) / (count - first["sessions"])
        self.subscription = max(0, (same["kb"] - own["kb"]) / count)
        self.channel = max(0, (own["kb"] - last["kb"]) / count - self.subscription)
        self.kernel = last["slab_kb"] / 2 / count
        self.heartbeat = median("us_per_heartbeat", "heartbeats", server)
        # A message to n subscribers costs push + n × delivery, which is the line through two points.
        few, many = (count * median("us_per_delivery", "subscribers", server, window=1, subscribers=count) for count in (10, 100))
        self.delivery = (many - few) / 90
        self.push = max(0, few - 10 * self.delivery)
        most = max(line["channels"] for line in of("channels", server))
        at_most = of("channels", server, channels=most)
        self.log = statistics.median(line["us_by_program"]["rtm-messaging"] for line in at_most)
        journaled = of("journal", server)
        self.log_journaled = statistics.median(line["us_by_program"]["rtm-messaging"] for line in journaled)
        self.redis = statistics.median(line["us_by_program"]["redis-server"] for line in journaled)
        self.bytes = statistics.median(line["bytes_per_delivery"] for line in at_most)
        self.return_edge = sum(self.cpu(line, "rtm-edge") * times for line, times in ((last, 1), (same, CHANNELS_EACH)))
        self.return_messaging = sum(self.cpu(line, "rtm-messaging") * times for line, times in ((last, 1), (same, CHANNELS_EACH)))

    @staticmethod
    def cpu(line, program):
        return line["cpu_by_program"][program] / line["stepped"] * 1e6


class Fleet:
    """The edges that a heartbeat interval asks for: the fewest that have enough cores and memory. More nodes are more loops, and the
    more loops the sessions of a channel are spread over, the more of them a message is pushed to. Behind them the messaging nodes and
    the masters of Redis that these messages ask for."""

    def __init__(self, cost, sessions, interval):
        deliveries, publishes = sessions * PER_SECOND, sessions * PER_SECOND // SESSIONS_PER_CHANNEL
        self.memory = sessions * (cost.session + CHANNELS_EACH * cost.subscription + cost.kernel) / 1e6
        self.nodes = 0
        self.cores = math.inf
        while self.cores > self.nodes * CORES * BUSY or self.memory > self.nodes * MEMORY_GB * BUSY:
            self.nodes += 1
            loops = self.nodes * CORES
            self.loops_per_message = loops * (1 - (1 - 1 / loops) ** SESSIONS_PER_CHANNEL)
            self.pushes = publishes * self.loops_per_message
            self.for_heartbeats = sessions / interval * cost.heartbeat / 1e6
            self.for_pushes = self.pushes * cost.push / 1e6
            self.for_deliveries = deliveries * cost.delivery / 1e6
            self.cores = self.for_heartbeats + self.for_pushes + self.for_deliveries
        self.storm_edges = sessions * cost.return_edge / 1e6 / (self.nodes * CORES)
        self.messaging_cores = self.pushes * cost.log_journaled / 1e6
        self.messaging_nodes = math.ceil(self.messaging_cores / BUSY)
        self.storm_messaging = sessions * cost.return_messaging / 1e6 / self.messaging_nodes
        self.redis_cores = publishes * cost.redis / 1e6
        self.redis_masters = math.ceil(self.redis_cores / BUSY)
        # Each loop of an edge has a link to each shard at each node.
        self.links = self.nodes * CORES * SHARDS_PER_NODE * self.messaging_nodes

    def row(self, sessions, interval, wire):
        return [f"{sessions:,}", f"{interval} s", f"{self.for_heartbeats:.1f}", f"{self.for_deliveries:.1f}",
                f"{self.for_pushes:.1f} ({self.loops_per_message:.0f} loops a message)", f"**{self.nodes}**",
                f"{wire / self.nodes:.2f}", f"{self.messaging_cores:.2f}: **{self.messaging_nodes}**",
                f"{self.redis_cores:.2f}: **{self.redis_masters}**", f"{self.links:,}",
                f"{self.storm_edges:.1f} s, {self.storm_messaging:.1f} s"]


def paper():
    cost = Costs(DEPLOYED)
    rows, sums = [], []
    for sessions in SESSIONS:
        channels = sessions * CHANNELS_EACH // SESSIONS_PER_CHANNEL
        deliveries, publishes = sessions * PER_SECOND, sessions * PER_SECOND // SESSIONS_PER_CHANNEL
        logs = channels * cost.channel / 1e6 + publishes * TAIL_SECONDS * cost.bytes / 1e9
        wire = deliveries * (cost.bytes + SEGMENT_BYTES) * 8 / 1e9
        fleets = [Fleet(cost, sessions, interval) for interval in HEARTBEAT_SECONDS]
        rows += [fleet.row(sessions, interval, wire) for interval, fleet in zip(HEARTBEAT_SECONDS, fleets)]
        sums.append([f"{sessions:,}", f"{channels:,}", f"{deliveries:,}", f"{publishes:,}", f"**{fleets[0].memory:.1f} GB**", f"**{logs:.1f} GB**",
                     f"**{wire:.2f} Gbit/s**"])
    return f"""## What it says for a million sessions, and for ten

On paper, with the figures of {name(DEPLOYED)} above, and for messaging those of two nodes with four shards and a journal in Redis. Assumed:

- Each session is subscribed to {CHANNELS_EACH} channels of {SESSIONS_PER_CHANNEL} sessions each, and receives {PER_SECOND} message of 128 bytes a second. Hardly two share a
  write, so window 1 is what counts. A message costs {cost.push:.1f} µs for each loop that it is pushed to and {cost.delivery:.2f} µs for each
  delivery: the line through 10 and 100 subscribers. The first figure is an upper bound, since it has the publish in it and wakes
  every process for one message.
- Edges have {CORES} cores with a loop each and {MEMORY_GB} GB; a messaging node and a master of Redis have one core each. Of cores and memory {BUSY:.0%} is used, so that there
  is room for what a neighbour leaves behind.
- {SHARDS_PER_NODE} shards for each messaging node.

{table(["sessions", "channels", "deliveries/s", "publishes/s", "memory of the edges", "memory of messaging and of Redis, each", "out"], sums)}

**Memory of the edges** = sessions × (session + {CHANNELS_EACH} × subscription + kernel)
= sessions × ({cost.session:.2f} + {CHANNELS_EACH} × {cost.subscription:.2f} + {cost.kernel:.2f}) KB.

**Memory of messaging** = channels × channel + publishes/s × {TAIL_SECONDS} s × bytes of an entry
= channels × {cost.channel:.2f} KB + publishes/s × {TAIL_SECONDS} × {cost.bytes:.0f} B, without what an entry takes besides its bytes. The journal holds the same once more in Redis.

**Cores of the edges** = sessions ÷ heartbeat interval × {cost.heartbeat:.1f} µs + deliveries/s × {cost.delivery:.2f} µs + pushes/s × {cost.push:.1f} µs. A message is
pushed to the loops L × (1 − (1 − 1/L)^{SESSIONS_PER_CHANNEL}) of all L that have one of its {SESSIONS_PER_CHANNEL} subscribers.

**Cores of messaging** = pushes/s × {cost.log_journaled:.2f} µs, at most: measured is a publish with its journal that is pushed once. Without a journal and shards it is {cost.log:.2f} µs. The logs of a node live on one loop, so
a node ends at 1.00: {1e6 / cost.log_journaled:,.0f} pushes a second.

**Cores of Redis** = publishes/s × {cost.redis:.2f} µs. A master ends at 1.00, and a shard lies on one of them.

**Bandwidth out** = deliveries/s × ({cost.bytes:.0f} + {SEGMENT_BYTES} bytes of TCP, IP and Ethernet), over all edges.

**Links** are sockets between loops of edges and shards at messaging nodes, all of them together.

**Everybody comes back at once**, each with a login and {CHANNELS_EACH} subscriptions: sessions × {cost.return_edge:.0f} µs ÷ all cores of the edges, and
sessions × {cost.return_messaging:.1f} µs ÷ all messaging nodes; whichever is longer.

{table(["sessions", "heartbeat every", "cores: heartbeats", "deliveries", "pushes, at most", "edge nodes", "Gbit/s per edge", "cores of messaging, at most: nodes",
        "cores of Redis: masters", "links", "all are in again: edges, messaging"], rows)}

What the paper doesn't know: on loopback the sender pays for the receiver's half of TCP too, and a network card has interrupts
that loopback hasn't; one loop was measured, and {CORES} loops share caches and a memory bus; TLS takes memory and CPU on top; a shard writes one batch for a turn, so
the cost of Redis for each publish grows where there are more shards than messages in a turn."""


# The plot

def draw():
    figure, ((one, two), (three, four)) = plot.subplots(2, 2, figsize=(11, 8))
    marks = {server: (color, mark) for server, color, mark in zip(servers, ("#1f5fa8", "#c2571a", "#3a8a3a", "#777777"), "os^d")}

    def line(axes, server, xs, ys, label, style="-"):
        points = [(x, y) for x, y in zip(xs, ys) if y is not None]
        if points:
            color, mark = marks[server]
            axes.plot(*zip(*points), style, color=color, marker=mark, markersize=4, label=label)

    for server in servers:
        for window, style in (64, "-"), (1, "--"):
            xs = axis("subscribers", "subscribers", window=window)
            ys = [median("us_per_delivery", "subscribers", server, window=window, subscribers=x) for x in xs]
            line(one, server, xs, ys, f"{name(server)}, window {window}", style)
        xs = axis("channels", "channels")
        line(two, server, xs, [median("us_per_publish", "channels", server, channels=x) for x in xs], name(server))
        logged_in = sorted(of("sessions", server, step="log in"), key=lambda item: item["sessions"])
        line(three, server, [item["sessions"] for item in logged_in], [item["kb"] / item["sessions"] for item in logged_in],
             f"{name(server)}, logged in")
        for step, mark in ("own channel", "P"), ("same channel", "X"):
            for item in of("sessions", server, step=step):
                three.plot(item["sessions"], item["kb"] / item["sessions"], mark, color=marks[server][0], markersize=8,
                           label=f"{name(server)}, + {step}")
        xs = axis("logins", "sessions")
        line(four, server, xs, [median("seconds", "logins", server, sessions=x) for x in xs], name(server))
    for axes, title, x, y in (
        (one, "Server CPU per delivery", "subscribers of a channel", "µs"), (two, "Server CPU per publish", "channels", "µs"),
        (three, "Resident memory per session", "sessions", "KB"),
        (four, "Time to log in and subscribe, 200 at a time", "sessions", "s")):
        axes.set(title=title, xlabel=x, ylabel=y)
        axes.grid(True, which="both", alpha=0.25)
    one.set(xscale="log", yscale="log")
    two.set(xscale="log")
    for axes in two, three, four:
        axes.margins(0.1)
        axes.set_ylim(bottom=0)
    for axes in three, four:
        axes.set_xlim(left=0)
    for axes in one, two, three, four:
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(folder / "growth.png", dpi=100, metadata={"Software": None})


def page():
    sections = ["""# How cost grows

Written by `make bench WHAT=growth`; how it measures is said at the top of `Tests/Benchmarks/growth/measure.py`. Server pinned to one
core, load to another core of the same machine, payload 128 bytes, one event loop per process. CPU is processor time of all our
processes, user and kernel. Medians.

![four plots: CPU per delivery, CPU per publish, memory per session, time to log in](growth.png)"""]
    for window, what in (64, "where a turn brings many entries and a socket is written once for them"), (
            1, "where each delivery is a write of its own"):
        if axis("subscribers", "subscribers", window=window):
            sections.append(f"## A delivery, by subscribers of its channel: window {window}\n\nServer CPU per delivery, {what}.\n\n"
                            + subscribers_table(window) + "\n\nFrom the first line to the last: "
                            + growth_of("subscribers", "us_per_delivery", "subscribers", window=window) + ".")
    if axis("channels", "channels"):
        sections.append("## A publish, by channels\n\nEach publish goes to the next channel, 64 at a time; one session is subscribed to all. "
                        "A publish, its acknowledgement and one delivery.\n\n" + channels_table()
                        + "\n\nFrom the first line to the last: " + growth_of("channels", "us_per_publish", "channels") + ".")
    if axis("sessions", "sessions"):
        sections.append("## Idle sessions\n\nMemory that the processes hold more than before the first session, per session; seconds and "
                        "CPU are of that step alone, 200 sessions at a time. Every session has its inbox. Then all of them subscribe "
                        "to a channel of their own, and then to one and the same.\n\n" + sessions_table())
    if axis("logins", "sessions"):
        sections.append("## Connect, log in, subscribe\n\nThe load generator, 200 at a time.\n\n" + logins_table())
    heartbeats = [f"{name(server)} {median('us_per_heartbeat', 'heartbeats', server):.1f} µs" for server in servers
                  if of("heartbeats", server)]
    if heartbeats:
        idle = of("heartbeats", DEPLOYED) or of("heartbeats", servers[0])
        count, seconds = idle[-1]["sessions"], idle[-1]["every_s"]
        sections.append("A heartbeat of an idle session, one session at a time: " + ", ".join(heartbeats) + " of server CPU. That is all "
                        f"processor time of the server's processes, on their one core, while {count:,} sessions send one heartbeat each within {seconds} s, "
                        f"divided by {count:,}. [performance.md](performance.md#figures) has less for its `idle`, the same workload within 4 s: with "
                        f"2,500 heartbeats a second instead of {count / seconds:,.0f} the processes sleep shorter before each, and more heartbeats share "
                        "what the processes do anyway.")
    is_whole = all(of(part, DEPLOYED) for part in ("subscribers", "channels", "sessions", "logins", "heartbeats", "journal"))
    if is_whole:
        sections.append(paper())
    (folder / "growth.md").write_text("\n\n".join(sections) + "\n")
    print(f"written: {folder / 'growth.md'} and {folder / 'growth.png'}")
    guide = folder / "operations" / "sizing.md"
    if is_whole and guide.exists():
        sizing.write(Costs(DEPLOYED), guide)


draw()
page()
