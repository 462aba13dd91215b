"""measure.py: prints how many messages are published over HTTP, and what one costs the server's processor.

rtm-standalone has one core and wrk the other, with 64 connections that are kept alive. A rate is first measured with as much
load as the server answers, then the time of an answer at a rate that leaves it time."""
import json, os, pathlib, re, statistics, subprocess, sys

from servers import LOAD_CORE, RELEASE, Server, ServerError

QUICK = bool(os.environ.get("QUICK"))
ROUNDS, SECONDS = (1, 2) if QUICK else (3, 6)
CONNECTIONS = 64
PAGE = pathlib.Path("docs/performance.md")
BEGIN, END = "<!-- figures: make bench WHAT=http writes what is between here … -->", "<!-- … and here -->"
TICKS = os.sysconf("SC_CLK_TCK")
PORT, ADMIN = 7984, 7985
KEYS = pathlib.Path(os.environ["BENCH_OUT"], "http.keys").absolute()


def standalone(folder):
    return ["env", f"RTM_GATEWAY_KEYS_FILE={KEYS}", RELEASE / "rtm-standalone", "--threads", 1, "--data", folder / "data", "--listen", "127.0.0.1:7986",
            "--edge-web-socket-listen", "127.0.0.1:7987", "--admin", f"127.0.0.1:{ADMIN}",
            "--gateway-listen", f"127.0.0.1:{PORT}", "--gateway-rates-key", 0, "--gateway-rates-app", 0]


def made_key():
    """A key, whose entry the server finds in the file."""
    made = json.loads(subprocess.run([RELEASE / "rtm", "key", "create", "*/admin", "--json"], check=True, capture_output=True,
                                     text=True).stdout)
    KEYS.parent.mkdir(parents=True, exist_ok=True)
    KEYS.write_text(made["line"])
    return made["key"]


class Broken(Exception):
    """An answer that isn't 200 counts for nothing."""


def cpu_seconds(process_id):
    fields = open(f"/proc/{process_id}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


class Load:
    def __init__(self, server, key, messages):
        self.server, self.environment = server, {**os.environ, "KEY": key, "MESSAGES": str(messages)}

    def run(self, pause=0):
        """Requests a second, µs of the server for each, and the 99th percentile of the answers in ms."""
        before = cpu_seconds(self.server.process.pid)
        output = subprocess.run(
            ["taskset", "-c", LOAD_CORE, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency",
             "-s", "Tests/Benchmarks/http/requests.lua", f"http://127.0.0.1:{PORT}"],
            env={**self.environment, "PAUSE_MILLISECONDS": str(pause)}, check=True, capture_output=True, text=True).stdout
        if "Non-2xx" in output or "Socket errors" in output:
            raise Broken(output)
        count = int(re.search(r"(\d+) requests in", output)[1])
        cpu = cpu_seconds(self.server.process.pid) - before
        return float(re.search(r"Requests/sec:\s*([\d.]+)", output)[1]), cpu * 1e6 / count, \
            milliseconds(re.search(r"^\s+99%\s+(\S+)", output, re.M)[1])


def row(server, key, messages, name, moderate):
    """`moderate` is the rate, in messages a second, at which the time of an answer is measured. It is the same in each run: half of
    what a server has reached would be more on a faster day, and the time of an answer grows with it."""
    load = Load(server, key, messages)
    load.run()
    full = [load.run() for _ in range(ROUNDS)]
    rate = statistics.median(each[0] for each in full)
    cost = statistics.median(each[1] for each in full) / messages
    # Each connection waits between its requests for as long as that rate takes.
    pause = round(CONNECTIONS * 1000 * messages / moderate)
    runs = [load.run(pause) for _ in range(ROUNDS)]
    reached, p99 = (statistics.median(each[place] for each in runs) for place in (0, 2))
    return f"| {name} | {rate * messages:,.0f} | {cost:.3g} | {reached * messages:,.0f} | {p99:.3g} |"


def main():
    server = Server("http", None, PORT, standalone, admin=ADMIN)
    lines = ["| | messages/s | µs of the server for each | at messages/s | 99 % are answered within, ms |",
             "|---|---|---|---|---|"]
    try:
        key = made_key()
        server.start()
        for messages, name, moderate in ((1, "`publish`, one message", 10_000), (100, "`batch`, a hundred messages", 75_000)):
            lines.append(row(server, key, messages, name, moderate))
            print(lines[-1], flush=True)
    except (Broken, ServerError) as broken:
        print(f"bench-http: {broken}", file=sys.stderr)
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
