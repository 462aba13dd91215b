"""Why a peer is better, where it is. The report prints a reason only beside a figure in which we lose, so nothing here claims
that we do. Each reason says what our time is spent on and how that is known: by a profile (`perf record -g`, shares of the
server's time; it names the workload that was profiled) or by what the code does. After a change on the path of a message, profile again."""
import dataclasses

CPU = ("server_us_per_delivery", "deliveries_per_s")
LATENCY = ("arrival_us.p50", "arrival_us.p99")
MEMORY = ("kb_per_session", "kb_per_session_peak")
LOGIN = ("logins_per_s", "server_us_per_login", "login_us.p99")


@dataclasses.dataclass
class Reason:
    figures: tuple
    text: str
    workloads: tuple = ("",)    # How their names begin.
    servers: tuple = ("heliograph", "heliograph-4")

    def explains(self, figure, workload, server):
        return figure in self.figures and workload.startswith(self.workloads) and server in self.servers


REASONS = [
    Reason(CPU, """**Few messages in a write.** Every publish is acknowledged, so with a window of 1 a message is three system
calls: a read, a write to the subscriber, and a write to the publisher. A peer that acknowledges nothing needs two. A profile of
`pairs_500_w1` has 77 % of our time in the kernel, 68 % of it all in the two writes, where Redis has 90 % of its time. So what is
ours is 3.2 of 13.9 µs, and Redis with its two writes takes 11.1: without any work of ours the ratio would be 0.96. In the 3.2 µs
no caller stands out: reference counting is 1.1, spread thin.""",
           ("pairs_500_w1", "pairs_3000", "rooms", "fanout_100x1_w1", "latency")),
    Reason(CPU, """**Pairs with a window of 8.** The messages of one read are published together, and a run of them is two
writes, one to the subscriber and one to the publisher. A profile of `pairs_500_1k` has 59 % of our time in the kernel,
49 % of it all in these two writes; copying is 7 %, and reference counting 10 %.""", ("pairs_500_w8", "pairs_500_1k")),
    Reason(CPU, """**Large payloads.** A profile of `pairs_100_32k` has 35 % of our time in copying, 23 % of it between our own
buffers: a payload is copied into the request to messaging, into the channel's log, into the push to the edge and into what is
written to subscribers, where a peer copies it once. Between processes each of these steps passes the kernel, too.""",
           ("pairs_100_32k", "fanout_100x1_32k")),
    Reason(LATENCY, """**Time to arrival.** A message passes the edge, messaging's log and the edge again before it is written to
the subscriber. The sockets of a turn are written last, so that one write can carry several messages, and a message
that comes alone waits for that too.""", ("latency",)),
    Reason(CPU + LATENCY, """**Four processes.** A message wakes two processes instead of one, and the two share a core here.""",
           servers=("heliograph-4",)),
    Reason(CPU, """**TLS.** A profile of `pairs_500_w8` over TLS has 44 % of our time in the kernel, 10 % in the ciphers and
14 % in the Swift runtime, and nothing of our own above 2 %.""", servers=("heliograph-tls",)),
    Reason(MEMORY, """**Memory of a session.** [growth.md](growth.md) says which process holds it: nearly all of it is the
edge's. A session has its connection's handlers, its place in the tables of the edge and an inbox of its own for
messages to the user, which the peers have no equivalent of."""),
    Reason(LOGIN, """**Logins.** A login asks messaging for the user's inbox and ends an older session of the same user. A
subscribe asks messaging for the channel and enters the user at presence, which announces it. The kernel takes as much of a
login and its end as it takes of Redis' (41 and 40 µs), and our own work 57 µs, of Redis' 9: in a profile 14 % of all are
presence, 14 % NIO's making of a channel, 9 % messaging, and nothing else is above 4 %. As measured here, a login at the peers is
no more than a name, and a subscription is an entry in a table of the same process."""),
    Reason(("server_us_per_ping",), """**Keepalives.** They come one at a time, so each one wakes the server. A profile of
`idle` has 54 % of our time in the kernel, most of it in sending the answer and in waiting for the next event."""),
]


def reasons_for(lost):
    """The reasons for these losses, which are tuples of the figure's key, the workload and the server. A loss that no reason
    explains is named."""
    needed = [reason for reason in REASONS if any(reason.explains(*loss) for loss in lost)]
    unexplained = {workload for figure, workload, server in lost
                   if not any(reason.explains(figure, workload, server) for reason in REASONS)}
    text = ["What our time and memory are spent on there:"] + ["- " + reason.text.replace("\n", "\n  ") for reason in needed]
    if unexplained:
        text.append("- Not looked into: " + ", ".join(f"`{name}`" for name in sorted(unexplained)) + ".")
    return "\n".join([text[0], ""] + text[1:])
