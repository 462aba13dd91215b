"""report.py RESULTS PAGE OUT: prints what measure.py measured and writes PAGE, with these figures in it, to OUT (which may be
PAGE). No figure of the page is written by hand.

Exits with 1 if one of our servers failed, or lost, repeated or disordered a message, or if it has no result where another
server has one."""
import dataclasses, pathlib, statistics, sys

from reasons import reasons_for
from results import Results
from servers import SERVERS, is_ours
from workloads import Workload

BEGIN, END = "<!-- figures: make bench WHAT=peers writes what is between here … -->", "<!-- … and here -->"
# Medians of the same server differ by so much from run to run, so smaller differences are no loss.
TOLERATED = 0.05

results = Results(sys.argv[1])


@dataclasses.dataclass
class Figure:
    """One row of a table: a figure of a workload."""
    label: str
    workload: Workload
    key: str
    is_cost: bool = True    # Less is better.

    def of(self, server):
        return results.median(self.workload.name, server, self.key)

    def ratio(self, ours, theirs):
        """Our figure divided by theirs, or None if one of them is missing."""
        one, other = self.of(ours), self.of(theirs)
        return one / other if one is not None and other else None

    def loses(self, ours, theirs):
        """Whether their figure is better than ours by more than what is tolerated."""
        by = self.ratio(ours, theirs)
        return by is not None and (by > 1 + TOLERATED if self.is_cost else by < 1 - TOLERATED)


def of_each(kinds, key, label="`{}`", is_cost=True):
    return [Figure(label.format(workload.name), workload, key, is_cost) for workload in results.workloads if workload.kind in kinds]


TABLES = {
    "Server CPU, µs per delivery (less is better)": of_each(("closed", "open"), "server_us_per_delivery"),
    "Deliveries per second (more is better)": of_each(("closed",), "deliveries_per_s", is_cost=False),
    "Time to arrival at a fixed rate, µs (less is better)":
        of_each(("open",), "arrival_us.p50", "`{}` p50") + of_each(("open",), "arrival_us.p99", "`{}` p99"),
    "Sessions (less is better, except for logins per second)":
        of_each(("idle",), "kb_per_session", "`{}` KB per session")
        + of_each(("idle",), "kb_per_session_peak", "`{}` KB per session, at most")
        + of_each(("idle",), "server_us_per_ping", "`{}` server CPU per keepalive, µs")
        + of_each(("logins",), "logins_per_s", "`{}` per second", is_cost=False)
        + of_each(("logins",), "server_us_per_login", "`{}` server CPU, µs each")
        + of_each(("logins",), "login_us.p99", "`{}` p99, µs"),
}
FIGURES = [figure for figures in TABLES.values() for figure in figures]


# Tables

def show(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def show_ratio(value):
    return "–" if value is None else f"{value:.2f}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
                     + ["| " + " | ".join(row) + " |" for row in rows])


def plain_name(server):
    return server.removesuffix("-tls")


def medians(figures, servers):
    """A column for each server, or None if none has a figure."""
    rows = [[figure.label] + [show(figure.of(server)) for server in servers] for figure in figures
            if any(figure.of(server) is not None for server in servers)]
    return table(["workload"] + [plain_name(server) for server in servers], rows) if rows else None


def ratios(figures, servers):
    """A column for each server that isn't ours: our figures divided by its figure, one for each server of ours."""
    ours, theirs = [name for name in servers if is_ours(name)], [name for name in servers if not is_ours(name)]
    rows = [[figure.label] + [" / ".join(show_ratio(figure.ratio(one, other)) for one in ours) for other in theirs]
            for figure in figures if any(figure.ratio(one, other) is not None for one in ours for other in theirs)]
    return table(["workload"] + [f"÷ {plain_name(name)}" for name in theirs], rows) if rows else None


def section(title, make, servers):
    """All tables of one sort, or None if there are none."""
    made = [f"{name}:\n\n{text}" for name, figures in TABLES.items() if (text := make(figures, servers))]
    return f"{title}\n\n" + "\n\n".join(made) if made else None


def servers_with(*, tls=False, log=False):
    """Ours and the peers of one sort: with TLS or without, and without a log or with one."""
    return [name for name in results.servers
            if SERVERS[name].tls == tls and (is_ours(name) or bool(SERVERS[name].log) == log)]


def ratios_title(level, servers):
    ours = " / ".join(plain_name(name) for name in servers if is_ours(name))
    return f"{level} Ratios\n\nOurs divided by theirs: {ours}. Where less is better, a ratio below 1 is in our favour."


# Where we lose

def better_peers(figure, server):
    """The peers that beat this server of ours. The ceiling is no peer."""
    return [peer for peer in results.peers(server) if peer != "ceiling" and figure.loses(server, peer)]


def where_we_lose():
    """A row for each figure in which a peer beats one of our servers, and the reasons."""
    ours = list(filter(is_ours, results.servers))
    rows, lost = [], []
    for figure in FIGURES:
        peers = {server: better_peers(figure, server) for server in ours}
        if not any(peers.values()):
            continue
        label = figure.label + (", deliveries per second" if figure.key == "deliveries_per_s" else "")
        cells = [", ".join(f"{show_ratio(figure.ratio(server, peer))} × {plain_name(peer)}" for peer in peers[server])
                 for server in ours]
        rows.append([label] + [cell or "–" for cell in cells])
        lost += [(figure.key, figure.workload.name, server) for server in ours if peers[server]]
    if not rows:
        return "## Where we lose\n\nIn no figure of this run is a peer better than one of our servers by more than 5 %."
    return ("## Where we lose\n\nThe figures in which a peer is better than one of our servers by more than 5 %, as our figure "
            "divided by theirs. Where nothing else is said it is server CPU per delivery.\n\n"
            + table(["figure"] + ours, rows) + "\n\n" + reasons_for(lost))


# The run

def machine():
    about = results.about
    return (f"Measured on {about['date']}: {about['cores']} cores, {about['memory_gb']} GB, {about['system']}, Linux "
            f"{about['kernel']}; {about['versions'] or 'no peers'}. {'Medians of ' if about['runs'] > 1 else ''}{about['runs']} "
            f"run{'s' if about['runs'] > 1 else ''}, {about['seconds_each']:g} s for a throughput workload. All of it took "
            f"{results.minutes if results.minutes is not None else '?'} minutes.")


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
        said.append(f"Between the runs of a workload our CPU per delivery differs by {statistics.median(spreads.values()):.0%} "
                    f"(median), at most by {most:.0%} (`{name}`, {server}).")
    return " ".join(said)


def deliveries():
    """How many measurements passed the delivery checks, and which didn't."""
    passed = ", ".join(f"{server} {sum(len(lines) for (_, name), lines in results.good.items() if name == server)}"
                       for server in results.servers)
    wrong = [f"- **WRONG** {server}, `{test}`: {'; '.join(reasons)}" for (test, server), reasons in results.wrong.items()]
    missing = [f"- **MISSING** {reason}" for reason in results.missing()]
    text = f"Measurements without a message lost, repeated, out of order or in a wrong channel: {passed}."
    return "## Delivery checks\n\n" + "\n".join([text] + ([""] + wrong + missing if wrong + missing else []))


def title(workload):
    """The workload in words, with the number of sessions that there really were."""
    sessions = next((line["sessions"] for server in results.servers for line in results.good[workload.name, server]
                     if "sessions" in line), None)
    return f"{sessions:,} {workload.title}" if sessions else workload.title


def figures_of_run():
    plain, secure = servers_with(), servers_with(tls=True)
    logs = [name for name in servers_with(log=True) if name != "ceiling"]
    has_logs = any(SERVERS[name].log for name in logs)
    made = ["## The run\n\n" + "\n\n".join(filter(None, [machine(), quietness()])),
            "Subscribers and publishers are those of one channel: \"100 to 4\" has 4 publishers. The window is that of one "
            "channel, too.\n\n"
            + table(["workload", "what"], [[f"`{workload.name}`", title(workload)] for workload in results.workloads]),
            section("## Figures", medians, plain), section(ratios_title("##", plain), ratios, plain),
            section("## Beside servers that keep what is published", medians, logs) if has_logs else None,
            section(ratios_title("###", logs), ratios, logs) if has_logs else None,
            section("## Over TLS", medians, secure), section(ratios_title("###", secure), ratios, secure),
            where_we_lose(), deliveries()]
    return "\n\n".join(filter(None, made))


def main():
    text = figures_of_run()
    print(text)
    before, rest = pathlib.Path(sys.argv[2]).read_text().split(BEGIN)
    _, after = rest.split(END, 1)
    pathlib.Path(sys.argv[3]).write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
    print(f"\nwritten: {sys.argv[3]}")
    sys.exit(bool(results.failures_of_ours()) or any(results.missing()))


main()
