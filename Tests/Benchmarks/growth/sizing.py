"""Writes the measured figures into docs/operations/sizing.md: a table of costs and the example, each between markers. The formulas of
the page are written by hand, with the names of the costs; `example` computes them. The letters' values come from the page's own table."""
import math, re

TAIL_SECONDS, SEGMENT_BYTES = 150, 66  # how long messages are kept for those who come back; Ethernet, IP and TCP around each write
PAYLOAD_BYTES = 128  # of the messages that were measured
BUSY = 0.5  # of each core, so that there is room for the clients of an edge that is lost
GROWTH = "../growth.md"
SUM = f"{GROWTH}#what-it-says-for-a-million-sessions-and-for-ten"
WINDOW_1 = f"{GROWTH}#a-delivery-by-subscribers-of-its-channel-window-1"


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def entry(cost):
    """Bytes of a message at the servers beside its own."""
    return cost.bytes - PAYLOAD_BYTES


def costs(cost):
    return table(["cost", "figure", "what it is"], [
        ["*session*", f"{cost.session + cost.kernel:.2f} KB", f"memory of the edges, with the kernel's part of the connection ([idle sessions]({GROWTH}#idle-sessions))"],
        ["*subscription*", f"{cost.subscription:.2f} KB", f"memory of the edges ([idle sessions]({GROWTH}#idle-sessions))"],
        ["*channel*", f"{cost.channel:.2f} KB", f"memory of messaging ([idle sessions]({GROWTH}#idle-sessions))"],
        ["*entry*", f"{entry(cost):.0f} bytes", f"what a message has beside its own bytes ([sum]({SUM}))"],
        ["*heartbeat*", f"{cost.heartbeat:.1f} µs", f"processor time of the edges ([connect, log in, subscribe]({GROWTH}#connect-log-in-subscribe))"],
        ["*delivery*", f"{cost.delivery:.2f} µs", f"processor time for a message to one subscriber, one message at a time ([window 1]({WINDOW_1}))"],
        ["*push*", f"{cost.push:.1f} µs", f"processor time for a message to one loop of an edge, which has subscribers of it ([sum]({SUM}))"],
        ["*push at messaging*", f"{cost.log_journaled:.2f} µs", f"processor time of a messaging node, with a journal and four shards on two nodes ([sum]({SUM}))"],
        ["*return*", f"{cost.return_edge:.0f} µs", f"processor time of the edges for a login with five subscriptions ([sum]({SUM}))"],
        ["*return at messaging*", f"{cost.return_messaging:.1f} µs", f"processor time of messaging for the same ([sum]({SUM}))"],
    ])


def example(cost, letters):
    S, C, P, F, B, H = (letters[letter] for letter in "SCPFBH")
    memory = S * (cost.session + cost.kernel + C * cost.subscription) / 1e6
    log = P * TAIL_SECONDS * (B + entry(cost)) / 1e6
    heartbeats, deliveries = S / H * cost.heartbeat / 1e6, P * F * cost.delivery / 1e6
    loops, pushing = 0, math.inf
    while heartbeats + deliveries + pushing > loops * BUSY:
        loops += 1
        pushes = P * min(loops, F)
        pushing = pushes * cost.push / 1e6
    out = P * F * (B + entry(cost) + SEGMENT_BYTES) / 1e6
    return table(["what", "in the example"], [
        ["memory of the edges together", f"{memory:.1f} GB"],
        ["memory of messaging", f"{log:.0f} MB and the channels"],
        ["memory of Redis, for the journal", f"{log:.0f} MB"],
        ["pushes a second, to the loops of all edges", f"{P:,} × {min(loops, F)} = {pushes:,}; one messaging node takes {1e6 / cost.log_journaled:,.0f} at most"],
        ["cores of the edges in use: heartbeats, deliveries, pushes",
         f"{heartbeats:.2f} + {deliveries:.2f} + {pushing:.2f} = {heartbeats + deliveries + pushing:.2f}"],
        ["cores of the edges, of which half is used", f"{loops}, each with a loop"],
        ["all clients are in again after", f"{max(S * cost.return_edge / loops, S * cost.return_messaging) / 1e6:.1f} s"],
        ["network, out of the edges", f"{out:.0f} MB/s, or {out * 8 / 1e3:.2f} Gbit/s"],
    ])


def write(cost, page):
    """Writes both tables into the page."""
    text = page.read_text()
    letters = {letter: int(value.replace(",", "")) for letter, value in re.findall(r"(?m)^\| ([A-Z]) \| .* \| ([\d,]+) \|$", text)}
    for name, figures in ("costs", costs(cost)), ("example", example(cost, letters)):
        begin, end = f"<!-- {name}: make bench WHAT=growth writes what is between here … -->", "<!-- … and here -->"
        before, _, after = text.partition(begin)
        _, _, after = after.partition(end)
        text = f"{before}{begin}\n\n{figures}\n\n{end}{after}"
    page.write_text(text)
    print(f"written: {page}")
