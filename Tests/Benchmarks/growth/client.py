"""Sessions by the hundred or by the ten thousand, as protocol/README.md describes them. They are for questions that the load
generator doesn't ask: sessions without subscriptions, and one session with a hundred thousand. Requests are encoded before the
clock runs, and of an answer only as much is decoded as says which answer it is."""
import collections, select, socket, struct, time

HELLO, LOGIN, SUBSCRIBE, PUBLISH = 2, 3, 6, 8
LOGGED_IN, SUBSCRIBED, PUBLISHED, ERROR, PUBLICATION, GAP, DISCONNECT = 3, 6, 8, 9, 10, 11, 12
MESSAGES = 4
SILENCE_MAX = 30
# A session that sends nothing is ended after its heartbeat interval and a grace, so the interval is longer than any run.
HEARTBEAT_SECONDS = 1800
# A client's address has some 28,000 ports, so many sessions need several addresses.
SESSIONS_PER_ADDRESS = 15_000


class Trouble(Exception):
    pass


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def frame(request_id, body_field, body=b""):
    message = field(1, request_id) + field(body_field, body)
    return struct.pack(">I", len(message)) + message


def login(user):
    return frame(1, HELLO, field(1, 1) + field(2, 1)) + frame(
        2, LOGIN, field(1, "dev") + field(2, user) + field(4, HEARTBEAT_SECONDS))


def subscribe(channel):
    return frame(3, SUBSCRIBE, field(1, channel) + field(2, MESSAGES))


def publish(channel, payload):
    return frame(4, PUBLISH, field(1, 1) + field(2, channel) + field(4, payload))


def bodies(data):
    """Returns which body each whole frame has, and how many bytes these frames are. The server writes the request id of an answer
    first."""
    found, at, end = [], 0, len(data)
    while end - at >= 4:
        length = int.from_bytes(data[at:at + 4], "big")
        if end - at - 4 < length:
            break
        place = at + 4
        if data[place] == 8:
            place += 2
            while data[place - 1] & 128:
                place += 1
        kind = data[place] >> 3
        if kind in (ERROR, GAP, DISCONNECT):
            raise Trouble(f"the server says {kind}: {bytes(data[at + 4:at + 4 + length])}")
        found.append(kind)
        at += 4 + length
    return found, at


class Connection:
    """One session. It sends a request and waits for the answer, in turn."""

    def __init__(self, port, user):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(SILENCE_MAX)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""
        self.bytes_received = 0
        self.send(login(user))
        self.await_bodies(LOGGED_IN, 1)

    def send(self, data):
        self.socket.sendall(data)

    def await_bodies(self, kind, count):
        """Reads until that many bodies of the kind have arrived."""
        while count > 0:
            chunk = self.socket.recv(1 << 18)
            if not chunk:
                raise Trouble("the server closed the connection")
            self.bytes_received += len(chunk)
            data = self.rest + chunk
            found, taken = bodies(data)
            self.rest = data[taken:]
            count -= found.count(kind)
        if count < 0:
            raise Trouble(f"{-count} more bodies of kind {kind} than were asked for")

    def close(self):
        self.socket.close()


class Crowd:
    """Many sessions. All sessions of a range do each step, some hundreds at a time."""

    IN_FLIGHT = 200

    def __init__(self, port, prefix):
        self.port, self.prefix, self.sockets, self.rests = port, prefix, [], {}
        self.poll = select.epoll()

    def log_in(self, count):
        """Logs in that many more sessions and returns the seconds that it took."""
        first = len(self.sockets)
        self.sockets += [None] * count
        return self.all(range(first, first + count), lambda number: login(f"{self.prefix}-{number}"), LOGGED_IN)

    def subscribe(self, numbers, channel):
        return self.all(numbers, lambda number: subscribe(channel(number)), SUBSCRIBED)

    def all(self, numbers, request, answer):
        todo = collections.deque((number, request(number)) for number in numbers)
        started, waiting = time.monotonic(), set()
        while todo or waiting:
            while todo and len(waiting) < self.IN_FLIGHT:
                number, data = todo.popleft()
                self.of(number).sendall(data)
                waiting.add(number)
            events = self.poll.poll(SILENCE_MAX)
            if not events:
                raise Trouble(f"{len(waiting)} sessions have had no answer for {SILENCE_MAX} s")
            for descriptor, _ in events:
                number, kinds = self.read(descriptor)
                if answer in kinds:
                    waiting.discard(number)
        return time.monotonic() - started

    def of(self, number):
        if self.sockets[number] is None:
            made = socket.socket()
            made.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT: the port is chosen by connect
            made.bind((f"127.0.0.{2 + number // SESSIONS_PER_ADDRESS}", 0))
            made.connect(("127.0.0.1", self.port))
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets[number] = made
            self.rests[made.fileno()] = [number, b""]
            self.poll.register(made.fileno(), select.EPOLLIN)
        return self.sockets[number]

    def read(self, descriptor):
        entry = self.rests[descriptor]
        chunk = self.sockets[entry[0]].recv(65536)
        if not chunk:
            raise Trouble(f"the server closed session {entry[0]}")
        data = entry[1] + chunk
        found, taken = bodies(data)
        entry[1] = data[taken:]
        return entry[0], found

    def close(self):
        for made in self.sockets:
            if made is not None:
                made.close()
        self.poll.close()
