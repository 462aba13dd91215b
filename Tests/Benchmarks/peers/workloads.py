"""The workloads that every server is measured with. Subscribers, publishers and window are those of one channel."""
import dataclasses

PARTS = ["fanout", "pairs", "rooms", "payload", "latency", "idle", "logins", "tls"]
# A part that has to be asked for.
EXTRA_PARTS = ["windows"]


@dataclasses.dataclass
class Workload:
    name: str
    part: str
    title: str              # The shape: subscribers to publishers, and the window.
    kind: str               # The generator's workload.
    options: dict
    with_tls: bool = False  # It is also measured over TLS, as the part tls.

    def arguments(self, seconds):
        """The generator's arguments, where a throughput workload takes so many seconds."""
        options = dict(self.options, workload=self.kind, **self.durations(seconds))
        return [part for name, value in options.items() for part in ("--" + name.replace("_", "-"), value)]

    def durations(self, seconds):
        if self.kind == "logins":
            return {}
        if self.kind == "idle":
            return {"quiet": seconds, "seconds": seconds * 2}
        return {"warm_up": min(0.5, seconds), "seconds": seconds * (1.5 if self.kind == "open" else 1)}


def closed(name, part, channels, subscribers, publishers, window, payload=128, with_tls=False):
    each = f"{subscribers} to {publishers}" if channels == 1 else f"{channels:,} channels, {subscribers} to {publishers}"
    size = "" if payload == 128 else f", {payload // 1024} KB"
    options = dict(channels=channels, subscribers=subscribers, publishers=publishers, window=window, payload=payload)
    return Workload(name, part, f"{each}, window {window}{size}", "closed", options, with_tls)


def opened(name, channels, subscribers, rate):
    each = f"{subscribers} to 1" if channels == 1 else f"{channels:,} channels, {subscribers} to 1"
    options = dict(channels=channels, subscribers=subscribers, publishers=1, rate=rate)
    return Workload(name, "latency", f"{each}, {rate:,} deliveries/s", "open", options)


WORKLOADS = [
    closed("fanout_100x1", "fanout", 1, 100, 1, 64, with_tls=True),
    closed("fanout_100x4", "fanout", 1, 100, 4, 64),
    closed("fanout_1000x1", "fanout", 1, 1000, 1, 64),
    closed("fanout_1000x4", "fanout", 1, 1000, 4, 64),
    closed("fanout_100x1_w1", "fanout", 1, 100, 1, 1),
    closed("pairs_500_w8", "pairs", 500, 1, 1, 8, with_tls=True),
    closed("pairs_500_w1", "pairs", 500, 1, 1, 1),
    closed("pairs_3000_w1", "pairs", 3000, 1, 1, 1),
    closed("rooms_1000x5_w1", "rooms", 1000, 5, 1, 1),
    closed("fanout_100x1_1k", "payload", 1, 100, 1, 64, payload=1024),
    # The edge lets 1 MiB wait for a subscriber, so the window of the largest payload is small.
    closed("fanout_100x1_32k", "payload", 1, 100, 1, 8, payload=32768),
    closed("pairs_500_1k", "payload", 500, 1, 1, 8, payload=1024),
    closed("pairs_100_32k", "payload", 100, 1, 1, 4, payload=32768),
    opened("latency_fanout", 1, 100, 20_000),
    opened("latency_pairs", 200, 1, 5_000),
    opened("latency_rooms", 1000, 5, 10_000),
    Workload("idle", "idle", "idle sessions", "idle", dict(sessions=10_000)),
    Workload("logins", "logins", "logins, 200 at a time", "logins", dict(sessions=5_000, at_once=200)),
    *[closed(f"fanout_100x1_w{window}", "windows", 1, 100, 1, window) for window in (4, 16, 256)],
    *[closed(f"pairs_500_w{window}", "windows", 500, 1, 1, window) for window in (4, 16, 64)],
]
NAMED = {workload.name: workload for workload in WORKLOADS}
# A look has fewer sessions; the results say how many there were.
QUICK_SESSIONS = 2_000


def chosen(parts, only, server):
    """The workloads of these parts, as lists that share a fresh server: what counts memory or logins has one of its own."""
    def wanted(workload):
        in_part = workload.with_tls and "tls" in parts if server.tls else workload.part in parts
        # What keeps a log is measured with messages; its sessions are those of the same program without one.
        fits = not server.log or workload.kind in ("closed", "open")
        return in_part and fits and (not only or workload.name in only)

    found = [workload for workload in WORKLOADS if wanted(workload)]
    groups = [[workload for workload in found if workload.kind in ("closed", "open")],
              [workload for workload in found if workload.kind == "idle"],
              [workload for workload in found if workload.kind == "logins"]]
    return [group for group in groups if group]
