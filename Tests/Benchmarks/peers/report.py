"""report.py RESULTS PAGE OUT: prints what measure.py measured and writes PAGE, with these figures in it, to OUT (which may be
PAGE). No figure of the page is written by hand.

Exits with 1 if one of our servers failed, or lost, repeated or disordered a message, or if it has no result where another
server has one."""
import dataclasses, pathlib, statistics, sys

from reasons import reasons_for
from results import Results
from servers import SERVERS, is_ours

BEGIN, END = "<!-- figures: make bench-peers writes what is between here … -->", "<!-- … and here -->"
# Medians of the same server differ by so much from run to run, so smaller differences are no loss.
TOLERATED = 0.05


@dataclasses.dataclass
class Measure:
    key: str
    title: str
    kinds: tuple            # The kinds of workloads that have it.
    is_cost: bool = True    # Less is better.
    digits: int = 3


MEASURES = [
    Measure("server_us_per_delivery", "Server CPU, µs per delivery", ("closed", "open")),
    Measure("deliveries_per_s", "Deliveries per second", ("closed",), is_cost=False),
    Measure("arrival_us.p50", "p50 in µs at a fixed rate", ("open",)),
    Measure("arrival_us.p99", "p99 in µs at a fixed rate", ("open",)),
    Measure("kb_per_session", "KB per idle session", ("idle",)),
    Measure("kb_per_session_peak", "KB per idle session, at most", ("idle",)),
    Measure("server_us_per_ping", "Server CPU, µs per keepalive of an idle session", ("idle",)),
    Measure("logins_per_s", "Logins with a subscribe, per second", ("logins",), is_cost=False),
    Measure("server_us_per_login", "Server CPU, µs per login with a subscribe", ("logins",)),
    Measure("login_us.p99", "p99 of a login with a subscribe, µs", ("logins",)),
]

results = Results(sys.argv[1])
ours_plain = [name for name in results.servers if is_ours(name) and not SERVERS[name].tls]
ours_tls = [name for name in results.servers if is_ours(name) and SERVERS[name].tls]


def show(value, digits=3):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
                     + ["| " + " | ".join(row) + " |" for row in rows])


def plain_name(server):
    return server.removesuffix("-tls")


def measured(measure, servers):
    return [workload for workload in results.workloads if workload.kind in measure.kinds
            and any(results.median(workload.name, server, measure.key) is not None for server in servers)]


# Tables

def figures(measure, servers):
    """One measure: a row for each workload, a column for each server."""
    workloads = measured(measure, servers)
    if not workloads:
        return None
    better = "less" if measure.is_cost else "more"
    rows = [[f"`{workload.name}`"] + [show(results.median(workload.name, server, measure.key), measure.digits) for server in servers]
            for workload in workloads]
    return f"{measure.title} ({better} is better):\n\n" + table(["workload"] + [plain_name(server) for server in servers], rows)


def ratio(workload, server, peer, measure):
    """Our figure divided by theirs, or None if one is missing."""
    ours, theirs = (results.median(workload.name, name, measure.key) for name in (server, peer))
    return ours / theirs if ours is not None and theirs else None


def ratios(measure, ours):
    peers = results.peers(ours[0]) if ours else []
    rows = [[f"`{workload.name}`", server] + [show(ratio(workload, server, peer, measure)) for peer in peers]
            for workload in measured(measure, ours) for server in ours]
    if not rows or not peers:
        return None
    better = "below 1 we need less" if measure.is_cost else "above 1 we do more"
    return f"{measure.title}, ours divided by theirs ({better}):\n\n" + table(
        ["workload", "ours"] + [f"÷ {plain_name(peer)}" for peer in peers], rows)


def sections(title, make, servers):
    made = [text for text in (make(measure, servers) for measure in MEASURES) if text]
    return f"## {title}\n\n" + "\n\n".join(made) if made else None


# Where we lose

def losses(measure, workload, server):
    """The peers that do better than this server of ours, and by what. The ceiling is no peer."""
    found = []
    for peer in results.peers(server):
        by = ratio(workload, server, peer, measure)
        if peer != "ceiling" and by is not None and (by > 1 + TOLERATED if measure.is_cost else by < 1 - TOLERATED):
            found.append(f"{show(by)} × {plain_name(peer)}")
    return found


def where_we_lose():
    """A row for each figure in which a peer beats one of our servers by more than what is tolerated, and the reasons."""
    rows, lost = [], []
    for measure in MEASURES:
        for workload in results.workloads if measured(measure, filter(is_ours, results.servers)) else []:
            for server in filter(is_ours, results.servers):
                if found := losses(measure, workload, server):
                    rows.append([measure.title, f"`{workload.name}`", server, ", ".join(found)])
                    lost.append((measure.key, workload, server))
    if not rows:
        return "## Where we lose\n\nIn no figure of this run is a peer better than one of our servers by more than 5 %."
    return ("## Where we lose\n\nThe figures in which a peer is better than we are by more than 5 %.\n\n"
            + table(["figure", "workload", "ours", "ours ÷ theirs"], rows) + "\n\n" + reasons_for(lost))


# The run

def machine():
    about = results.about
    return (f"Measured on {about['date']}: {about['cores']} cores, {about['memory_gb']} GB, {about['system']}, Linux "
            f"{about['kernel']}; {about['versions'] or 'no peers'}. Medians of {about['runs']} runs, {about['seconds_each']:g} s for a "
            f"throughput workload. The whole took {results.minutes if results.minutes is not None else '?'} minutes.")


def quietness():
    """How far the figures can be trusted: what else ran, and how much the runs differ."""
    others = [line["others"] for lines in results.good.values() for line in lines]
    said = []
    if others:
        said.append(f"Other programs used {statistics.median(others):.2f} of a core meanwhile (median), at most {max(others):.2f}.")
    spreads = {(server, name): share for server in filter(is_ours, results.servers)
               for name, share in results.spread(server, "server_us_per_delivery").items()}
    if spreads:
        (server, name), most = max(spreads.items(), key=lambda item: item[1])
        said.append(f"Our CPU per delivery differs between the runs of a workload by {statistics.median(spreads.values()):.0%} "
                    f"(median), at most by {most:.0%} (`{name}`, {server}).")
    return " ".join(said)


def deliveries():
    """How many measurements passed the delivery checks, and which didn't."""
    passed = ", ".join(f"{server} {sum(len(lines) for (_, name), lines in results.good.items() if name == server)}"
                       for server in results.servers)
    lines = [f"Measurements without a message lost, repeated, out of order or in a wrong channel: {passed}."]
    lines += [f"- **WRONG** {server}, `{test}`: {'; '.join(reasons)}" for (test, server), reasons in results.wrong.items()]
    lines += [f"- **MISSING** {reason}" for reason in results.missing()]
    return "## Delivery checks\n\n" + "\n".join(lines[:1] + ([""] + lines[1:] if lines[1:] else []))


def figures_of_run():
    plain = [name for name in results.servers if not SERVERS[name].tls]
    secure = [name for name in results.servers if SERVERS[name].tls]
    made = ["\n\n".join(filter(None, [machine(), quietness()])),
            "The workloads of this run:\n\n" + table(["workload", "what"], [[f"`{w.name}`", w.title] for w in results.workloads]),
            sections("Figures", figures, plain), sections("Ratios", ratios, ours_plain),
            sections("Over TLS", figures, secure), sections("Ratios over TLS", ratios, ours_tls),
            where_we_lose(), deliveries()]
    return "\n\n".join(filter(None, made))


def main():
    text = figures_of_run()
    print(text)
    page = pathlib.Path(sys.argv[2]).read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    pathlib.Path(sys.argv[3]).write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
    print(f"\nwritten: {sys.argv[3]}")
    sys.exit(bool(results.failures_of_ours()) or any(results.missing()))


main()
