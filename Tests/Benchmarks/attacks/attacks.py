"""What one client can do to an installation (docs/threat-model.md). Each attack goes on until its process is ended, and comes
back when it is cut off. It keeps to the protocol and not to the limits."""
import itertools, socket, threading, time

from client import LOGIN, HELLO, SUBSCRIBE, field, frame, login, publish

HEARTBEAT = 5
PAYLOAD = b"x" * 32_000
# Who is cut off is told to wait for ten seconds. An attacker doesn't.
RETURN_SECONDS = 0.2


def connected(port, user, serial=itertools.count()):
    """A session whose answers are read and thrown away."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(login(f"{user} {next(serial)}"))
    connection.recv(4096)
    threading.Thread(target=drain, args=(connection,), daemon=True).start()
    return connection


def drain(connection):
    try:
        while connection.recv(1 << 16):
            pass
    except OSError:
        pass


def returning(port, attack):
    """Attacks through one session after the other."""
    while True:
        try:
            attack(connected(port, "mallory"))
        except OSError:
            time.sleep(RETURN_SECONDS)


def payloads(port):
    """32 KB to 3,000 channels: more than a link carries, and more than the tails may hold."""
    def attack(connection):
        for number in itertools.count():
            connection.sendall(publish(f"flood {number % 3_000}", PAYLOAD))
    returning(port, attack)


def names(port):
    """Every message goes to a new channel."""
    batches = itertools.count()

    def attack(connection):
        while True:
            batch = next(batches)
            connection.sendall(b"".join(publish(f"name {batch} {number}", b"x") for number in range(200)))
    returning(port, attack)


def unread(port):
    """Fifty channels are subscribed and filled, and what comes is never read."""
    listener = socket.create_connection(("127.0.0.1", port))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.sendall(login("mallory who doesn't read"))
    for number in range(50):
        time.sleep(0.05)
        listener.sendall(frame(3 + number, SUBSCRIBE, field(1, f"unread {number}") + field(2, 4)))

    def attack(connection):
        for number in itertools.count():
            connection.sendall(publish(f"unread {number % 50}", PAYLOAD))
    returning(port, attack)


def half_frames(port):
    """Thousands of logins of which the second half never comes."""
    half = frame(1, HELLO, field(1, 1) + field(2, 1)) + frame(2, LOGIN, field(3, "x" * 24_000))[:12_000]
    held = []
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(half)
            held.append(connection)
        except OSError:
            time.sleep(RETURN_SECONDS)
        if len(held) == 5_000:
            held.pop(0).close()


def connections(port):
    """Connections that say nothing, as many as there are descriptors."""
    held = []
    while True:
        try:
            held.append(socket.create_connection(("127.0.0.1", port)))
        except OSError:
            held.clear()
            time.sleep(RETURN_SECONDS)


def logins(port):
    """The same user logs in again and again, and the later login ends the earlier one."""
    while True:
        try:
            connected(port, "mallory", itertools.repeat(0)).close()
        except OSError:
            time.sleep(RETURN_SECONDS)


def heartbeats(port):
    """Millions of heartbeats, each of which wants an answer."""
    batch = frame(9, HEARTBEAT) * 1_000

    def attack(connection):
        while True:
            connection.sendall(batch)
    returning(port, attack)


def refusals(port):
    """Requests that are refused each time."""
    batch = frame(9, SUBSCRIBE, field(1, "") + field(2, 4)) * 1_000

    def attack(connection):
        while True:
            connection.sendall(batch)
    returning(port, attack)


ATTACKS = {attack.__name__: attack for attack in (
    payloads, names, unread, half_frames, connections, logins, heartbeats, refusals)}
