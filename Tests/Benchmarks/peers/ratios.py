"""ratios.py RESULTS [SERVERS]: Heliograph's server CPU per million deliveries (W5: per 1000 logins) as ratios to each peer and to
the ceiling, medians of the runs, and the delivery checks. SERVERS are the names of all servers that were to be measured.

Exits with 1 if one of our runs failed, lost, repeated or disordered a message, if one of our servers has fewer runs of a workload
than another server, or none at all: a figure that isn't there must not pass for a good one."""
import collections, json, statistics, sys

OURS = ["heliograph", "heliograph-4", "heliograph-tls"]
PLAIN, TLS = ["redis", "nats", "mosquitto", "null"], ["redis-tls", "nats-tls", "mosquitto-tls"]
asked = [name for name in (sys.argv[2] if len(sys.argv) > 2 else "").split(",") if name]
values, rates, p99, wrong = (collections.defaultdict(list) for _ in range(4))
tests, good, runs = {}, collections.Counter(), collections.Counter()


def peers(server):
    return TLS if server.endswith("-tls") else PLAIN


def read(run):
    name = (run["test"], run["server"])
    tests[run["test"]] = True
    runs[name] += 1
    bad = {key: run[key] for key in ("lost", "gaps", "dups", "bad", "dead") if run.get(key)}
    if run["test"] == "w4_10k" and not run.get("failed") and run["verify_delivered"] != run["conns"]:
        bad["undelivered"] = run["conns"] - run["verify_delivered"]
    if run.get("failed") or bad:
        wrong[name].append(f"{bad or 'failed'} {run.get('err', '')}".strip())
        return
    good[run["server"]] += 1
    cost = next((run[key] for key in ("srv_s_per_M", "srv_cpu_s_per_1k", "kb_per_conn") if key in run), None)
    if cost is not None:
        values[name].append(cost)
    if "lat_us" in run:
        p99[name].append(run["lat_us"]["p99"])
    rates[name].append(run.get("deliv_s") or run.get("connects_per_s") or 0)


def missing():
    """Runs of ours that have no line in the results: the server didn't start, or the harness was ended."""
    present = {server for _, server in runs}
    for server in OURS:
        if server in asked and server not in present:
            yield f"{server} has no result at all: it didn't start, see its out.log in the run folder"
    for test in tests:
        for server in [name for name in OURS if name in present]:
            group = [name for name in present if name.endswith("-tls") == server.endswith("-tls")]
            most = max(runs[test, name] for name in group)
            if runs[test, server] < most:
                yield f"{server} has {runs[test, server]} of {most} runs of {test}"
    if not present:
        yield "there are no results"


def median(table, *name):
    return statistics.median(table[name]) if table.get(name) else None


def ratio(ours, theirs):
    return "–" if not ours or not theirs else f"{ours / theirs:.2f}"


def table(title, data, first, servers, columns):
    rows = [(test, server) for test in tests for server in servers if median(data, test, server) is not None]
    if not rows:
        return
    print(f"### {title}\n\n| workload | server | {first} | " + " | ".join(
        "× ceiling" if peer == "null" else f"× {peer}" for peer in columns) + " |\n|" + "---|" * (3 + len(columns)))
    for test, server in rows:
        ours = median(data, test, server)
        print(f"| {test} | {server} | {ours:.3g} | " + " | ".join(ratio(ours, median(data, test, p)) for p in columns) + " |")
    print()


for line in open(sys.argv[1]):
    read(json.loads(line))
plain = [server for server in OURS if peers(server) is PLAIN]
table("Server CPU: s per million deliveries (w5: s per 1000 logins; w4: KB per session); less is better", values, "ours", plain, PLAIN)
table("Deliveries or logins per second; more is better", rates, "ours", plain, PLAIN)
table("p99 in µs at a fixed rate; less is better", p99, "ours", plain, PLAIN)
secure = [server for server in OURS if peers(server) is TLS]
table("TLS: server CPU, s per million deliveries; less is better", values, "ours", secure, TLS)
table("TLS: deliveries per second; more is better", rates, "ours", secure, TLS)
print("delivery checks without lost, gaps, dups, bad: " + ", ".join(f"{s} {n} runs" for s, n in good.items()))
for (test, server), reasons in wrong.items():
    print(f"WRONG {server} {test}: {'; '.join(reasons)}")
absent = list(missing())
for reason in absent:
    print(f"MISSING {reason}")
sys.exit(bool(absent) or any(server in OURS for _, server in wrong))
