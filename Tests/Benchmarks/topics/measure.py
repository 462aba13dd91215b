"""measure.py: prints what a topic costs beside a message channel of the same shape, and a join beside a subscribe, and writes it
into docs/performance.md. Both take turns at the same server; exits with 1 if a message was lost, repeated or out of order."""
import dataclasses, json, os, pathlib, statistics, subprocess, sys

from servers import SERVERS

QUICK = bool(os.environ.get("QUICK"))
ROUNDS, SECONDS = (1, 1) if QUICK else (5, 3)
PAGE = pathlib.Path("docs/performance.md")
BEGIN, END = "<!-- figures: make bench WHAT=topics writes what is between here … -->", "<!-- … and here -->"
CHANNEL, TOPIC = "heliograph", "topics"
USERS = 1_000          # As many as a stream channel may have; some of them publish.
SHAPES = [
    ("936 users receive from 64 publishers, 64 messages on their way", dict(subscribers=USERS - 64, publishers=64, window=64)),
    ("936 users receive from 64 publishers, 256 on their way", dict(subscribers=USERS - 64, publishers=64, window=256)),
    ("100 users receive from 64 publishers, 64 on their way", dict(subscribers=100, publishers=64, window=64)),
    ("500 topics, one user receives from one publisher, 8 on their way", dict(channels=500, subscribers=1, publishers=1, window=8)),
]


class Broken(Exception):
    """A run in which a message was lost, repeated or out of order, or which failed."""


def run(server, adapter, prefix, **options):
    """One line of the load generator."""
    server.adapter = adapter
    arguments = [part for name, value in options.items()
                 for part in (f"--{name.replace('_', '-')}", *([] if value is True else [value]))]
    done = server.generate("--prefix", prefix, *arguments, timeout=120)
    result = json.loads(done.stdout)
    if done.returncode or "failure" in result or any(result[name] for name in ("lost", "gaps", "repeats", "foreign", "ended")):
        raise Broken(f"{adapter} {options}: {done.stdout}{done.stderr}")
    return result


@dataclasses.dataclass
class Row:
    what: str
    channel: float
    topic: float
    rate: str = ""

    @property
    def line(self):
        return f"| {self.what} | {self.channel:.3g} | {self.topic:.3g} | {self.topic / self.channel:.2f} | {self.rate} |"


def fan_out(server):
    for number, (what, shape) in enumerate(SHAPES):
        found = {CHANNEL: [], TOPIC: []}
        for turn in range(ROUNDS):
            for adapter, results in found.items():
                results.append(run(server, adapter, f"{adapter}{number}-{turn}", workload="closed", seconds=SECONDS, **shape))
        cost = {adapter: statistics.median(each["server_us_per_delivery"] for each in results) for adapter, results in found.items()}
        rate = statistics.median(each["publishes_per_s"] for each in found[TOPIC]) / 64
        yield Row(what, cost[CHANNEL], cost[TOPIC], f"{rate:,.0f}" if "64 publishers" in what else "")


def joins(server):
    """µs of the server for each user, without the login."""
    for presence in (False, True):
        options = dict(workload="logins", sessions=USERS, **({"presence": True} if presence else {}))
        found = {"login": [], CHANNEL: [], TOPIC: []}
        for turn in range(ROUNDS * 3):
            found["login"].append(run(server, CHANNEL, f"l{presence}{turn}", no_channel=True, **options))
            for adapter in (CHANNEL, TOPIC):
                found[adapter].append(run(server, adapter, f"{adapter}{presence}{turn}", together=True, **options))
        cost = {name: statistics.median(each["server_us_per_login"] for each in results) for name, results in found.items()}
        followed = ", who also follow who comes and goes" if presence else ""
        yield Row(f"1,000 users subscribe, or join and subscribe to a topic{followed}",
                  cost[CHANNEL] - cost["login"], cost[TOPIC] - cost["login"])
        yield Row(f"the same with the login{followed}", cost[CHANNEL], cost[TOPIC])


def main():
    server = SERVERS[CHANNEL]
    server.start()
    try:
        lines = ["| µs of the server's processor | message channel | topic | topic / channel | messages/s of each publisher |", "|---|---|---|---|---|"]
        for row in (*fan_out(server), *joins(server)):
            lines.append(row.line)
            print(row.line, flush=True)
    except Broken as broken:
        print(f"bench-topics: {broken}", file=sys.stderr)
        sys.exit(1)
    finally:
        server.stop()
    if not QUICK:
        text = PAGE.read_text()
        head, rest = text.split(BEGIN)
        PAGE.write_text(head + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + rest[rest.index(END):])
        subprocess.run(["docs/wrap.py", str(PAGE)], check=True)


if __name__ == "__main__":
    main()
