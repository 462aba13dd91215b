"""ratios.py RESULTS: Heliograph's server CPU per million deliveries (W5: per 1000 logins) as ratios to each peer and to the
ceiling, medians of the runs, and the delivery checks. Exits with 1 if one of our runs failed, lost, repeated or disordered
a message: then no figure of it counts."""
import collections, json, statistics, sys

OURS, PEERS = ["heliograph", "heliograph-4"], ["redis", "nats", "mosquitto", "null"]
values, rates, p99, wrong = (collections.defaultdict(list) for _ in range(4))
tests, totals = {}, collections.Counter()
for line in open(sys.argv[1]):
    run = json.loads(line)
    name = (run["test"], run["server"])
    bad = {key: run[key] for key in ("lost", "gaps", "dups", "bad", "dead") if run.get(key)}
    if run["test"] == "w4_10k" and not run.get("failed") and run["verify_delivered"] != run["conns"]:
        bad["undelivered"] = run["conns"] - run["verify_delivered"]
    if run.get("failed") or bad:
        wrong[name].append(f"{bad} {run.get('err', '')}".strip())
        continue
    totals[name[1]] += 1
    tests[name[0]] = True
    cost = next((run[key] for key in ("srv_s_per_M", "srv_cpu_s_per_1k", "kb_per_conn") if key in run), None)
    if cost is not None:
        values[name].append(cost)
    if "lat_us" in run:
        p99[name].append(run["lat_us"]["p99"])
    rates[name].append(run.get("deliv_s") or run.get("connects_per_s") or 0)


def median(table, *name):
    return statistics.median(table[name]) if table.get(name) else None


def ratio(ours, theirs):
    return "–" if not ours or not theirs else f"{ours / theirs:.2f}"


def table(title, data, first):
    rows = [(test, server) for test in tests for server in OURS if median(data, test, server) is not None]
    if not rows:
        return
    print(f"### {title}\n\n| workload | server | {first} | " + " | ".join(
        "× ceiling" if peer == "null" else f"× {peer}" for peer in PEERS) + " |\n|" + "---|" * (3 + len(PEERS)))
    for test, server in rows:
        ours = median(data, test, server)
        print(f"| {test} | {server} | {ours:.3g} | " + " | ".join(ratio(ours, median(data, test, p)) for p in PEERS) + " |")
    print()


table("Server CPU: s per million deliveries (w5: s per 1000 logins; w4: KB per session); less is better", values, "ours")
table("Deliveries or logins per second; more is better", rates, "ours")
table("p99 in µs at a fixed rate; less is better", p99, "ours")
print("delivery checks without lost, gaps, dups, bad: " + ", ".join(f"{s} {n} runs" for s, n in totals.items()))
for (test, server), reasons in wrong.items():
    print(f"WRONG {server} {test}: {'; '.join(reasons)}")
sys.exit(any(server in OURS for _, server in wrong))
