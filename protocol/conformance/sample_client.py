#!/usr/bin/env python3
"""A whole client of levels 1 to 3, as the pages of the protocol describe it. The suite is tested with it (mutants.py), and a
port can be compared with it, function by function.

    sample_client.py receive HOST:PORT USER CHANNEL         shows the messages of the channel, and those to the user
    sample_client.py publish HOST:PORT USER CHANNEL TEXT    ends when the text is published

`Link` decides everything, and has neither a socket nor a clock; `run` is the socket and the clock. With --app and --token it
logs in to another app than dev.
"""

import argparse
import pathlib
import random
import secrets
import select
import socket
import struct
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "generated" / "python"))
from client import channel_pb2, error_pb2, frame_pb2, session_pb2  # noqa: E402

FRAME_BYTES_MAX = 2**20  # of a server's frame
ANSWER_SECONDS = 10  # a Heartbeat, and an attempt from its connection to LoggedIn
PAUSE, PAUSE_MAX = 1, 30  # between attempts, in seconds, doubled each time
REFUSED_PAUSE, REFUSED_PAUSE_MAX = 0.25, 5  # where nothing listens


class Link:
    """One client over all its connections. What happens is reported to it with the time in seconds; what it wants sent is in
    `outgoing`, and whether the connection has to be closed in `is_closing`."""

    def __init__(self, app, token, user, channel, text):
        self.app, self.token, self.user, self.channel = app, token, user, channel
        self.outgoing, self.is_closing, self.shown = [], False, []
        # Kept over all connections.
        self.instance = secrets.randbelow(2**53 - 1) + 1
        self.attempt = self.sequence = 0
        self.inbox = self.position = None
        # The text that has no answer yet; when and with what it was sent first; when it may be sent again.
        self.text, self.sent_at, self.sent_epoch, self.publish_at = text, None, 0, 0
        # The link between connections.
        self.failures = self.refusals = 0
        self.connect_at = 0
        self.status = None
        self.forget_connection()

    def forget_connection(self):
        self.requests = {}
        self.last_id = 0
        self.is_logged_in = self.is_publishing = False
        self.give_up_at = self.heartbeat_at = self.subscribe_at = float("inf")
        self.heartbeat_interval, self.unanswered_since = 5, None
        # What the server has said about the next attempt.
        self.retry_after = 0

    # What happens

    def connected(self, now):
        self.arrived_at = now
        self.give_up_at = now + ANSWER_SECONDS
        self.send("hello", session_pb2.Hello(version_min=1, version_max=1, client="sample client"))
        self.attempt += 1
        login = session_pb2.Login(app_id=self.app, user_id=self.user, token=self.token)
        login.instance = self.instance
        login.attempt = self.attempt
        if self.inbox is not None:
            login.inbox_after.CopyFrom(self.inbox)
        self.send("login", login)

    def lost(self, now, is_refused=False):
        """The connection has ended, or there was none: when the next attempt may be."""
        if is_refused:
            pause = min(REFUSED_PAUSE * 2**self.refusals, REFUSED_PAUSE_MAX)
            self.refusals += 1
        else:
            pause = min(PAUSE * 2**self.failures, PAUSE_MAX)
            self.failures, self.refusals = self.failures + 1, 0
        self.connect_at = now + max(pause * random.uniform(0.8, 1.2), self.retry_after)
        self.outgoing, self.is_closing = [], False
        self.forget_connection()

    def tick(self, now):
        if now >= self.heartbeat_at:
            self.heartbeat_at = now + self.heartbeat_interval
            self.send("heartbeat", session_pb2.Heartbeat())
            if self.unanswered_since is None:
                self.unanswered_since = now
        if self.unanswered_since is not None and now > max(self.unanswered_since, self.arrived_at) + ANSWER_SECONDS:
            self.is_closing = True
        if now > self.give_up_at:
            self.is_closing = True
        if now >= self.subscribe_at:
            self.subscribe()
        if self.is_logged_in and self.text is not None and not self.is_publishing and now >= self.publish_at:
            self.publish(now)

    def received(self, frame, now):
        self.arrived_at = now
        kind = frame.WhichOneof("body")
        request = self.requests.pop(frame.request_id, None)
        if kind == "error":
            self.refused(request, frame.error, now)
        elif kind == "logged_in":
            self.logged_in(frame.logged_in, now)
        elif kind == "subscribed":
            self.subscribed(frame.subscribed)
        elif kind == "heartbeat_ack":
            self.unanswered_since = None
        elif kind == "published" and request == "publish":
            self.text = None
            self.status = 0
        elif kind == "publication":
            self.publication(frame.publication)
        elif kind == "gap":
            self.gap(frame.gap)
        elif kind == "disconnect":
            self.disconnected(frame.disconnect)

    # The login

    def logged_in(self, answer, now):
        self.is_logged_in = True
        self.failures = self.refusals = 0
        self.give_up_at = float("inf")
        self.heartbeat_interval = answer.heartbeat_interval_s
        self.heartbeat_at = now + self.heartbeat_interval
        self.inbox = answer.inbox_position
        if answer.inbox_gap:
            self.report_gap("the inbox")
        if self.sent_at is not None and now >= self.publish_at:
            self.publish(now)
        if self.text is None:
            self.subscribe()

    def disconnected(self, disconnect):
        """After a login that was refused the Error has decided already."""
        if not self.retry_after and 3500 <= disconnect.code < 4000:
            self.end(f"disconnect {disconnect.code}: {disconnect.reason}")
        self.retry_after = max(self.retry_after, disconnect.retry_after_ms / 1000)
        self.is_closing = True

    def refused(self, request, error, now):
        retry_after = error.retry_after_ms / 1000
        if request == "login" and retry_after:
            self.retry_after = retry_after
        elif request == "publish":
            self.publish_refused(error.code, error.reason, retry_after, now)
        elif request == "subscribe" and retry_after:
            self.subscribe_at = now + retry_after
        elif request in ("login", "subscribe"):
            self.end(f"error {error.code}: {error.reason}")

    # The channel and the inbox

    def subscribe(self):
        self.subscribe_at = float("inf")
        subscribe = channel_pb2.Subscribe(channel=self.channel, features=4)
        if self.position is not None:
            subscribe.after.CopyFrom(self.position)
        self.send("subscribe", subscribe)

    def subscribed(self, answer):
        self.position = answer.position
        if answer.gap:
            self.report_gap(self.channel)

    def publication(self, publication):
        is_inbox = publication.channel_type == channel_pb2.CHANNEL_TYPE_USER
        position = self.inbox if is_inbox else self.position
        position.offset = publication.offset
        is_own = publication.publisher == self.user and not is_inbox
        if publication.HasField("message") and not is_own:
            text = publication.message.payload.decode(errors="replace")
            self.show(f"{publication.publisher} → {text}")

    def gap(self, gap):
        if gap.channel_type == channel_pb2.CHANNEL_TYPE_USER:
            self.inbox = gap.position
            self.report_gap("the inbox")
        elif gap.channel == self.channel:
            self.position = gap.position
            self.report_gap(self.channel)

    # Publishing once

    def publish(self, now):
        self.is_publishing = True
        publish = channel_pb2.Publish(channel_type=channel_pb2.CHANNEL_TYPE_MESSAGE, channel=self.channel)
        publish.message_type = channel_pb2.MESSAGE_TYPE_TEXT
        publish.payload = self.text.encode()
        if self.sent_at is None:
            self.sequence += 1
            self.sent_at, self.sent_epoch = now, self.inbox.epoch
        else:
            publish.again = True
            publish.age_ms = max(1, round(1000 * (now - self.sent_at)))
            publish.epoch = self.sent_epoch
        publish.sequence = self.sequence
        self.send("publish", publish)

    def publish_refused(self, code, reason, retry_after, now):
        self.is_publishing = False
        self.publish_at = now + retry_after
        if code == error_pb2.ERROR_CHANNEL_PUBLISH_MESSAGE_TOO_FREQUENT and retry_after:
            self.sent_at = None  # It was not published: it becomes a new message.
        elif code != error_pb2.ERROR_CHANNEL_PUBLISH_MESSAGE_FAILED or not retry_after:
            self.end(f"error {code}: {reason}")

    # What it wants

    def send(self, kind, body):
        self.last_id += 1
        self.requests[self.last_id] = kind
        frame = frame_pb2.ClientFrame(request_id=self.last_id)
        getattr(frame, kind).CopyFrom(body)
        self.outgoing.append(frame.SerializeToString())

    def show(self, line):
        self.shown.append(line)

    def report_gap(self, what):
        self.show(f"gap: messages of {what} are lost")

    def end(self, why):
        self.show(why)
        self.status = 1


class Frames:
    """The frames within the bytes of a connection, however these arrive."""

    def __init__(self):
        self.buffer = b""

    def read(self, data):
        """Raises ValueError for what is no frame."""
        self.buffer += data
        while len(self.buffer) >= 4:
            size = struct.unpack(">I", self.buffer[:4])[0]
            if size > FRAME_BYTES_MAX:
                raise ValueError(f"a frame of {size} bytes, {FRAME_BYTES_MAX} are allowed")
            if len(self.buffer) < 4 + size:
                return
            body, self.buffer = self.buffer[4 : 4 + size], self.buffer[4 + size :]
            yield frame_pb2.ServerFrame.FromString(body)


def run(link, address):
    sock, frames = None, Frames()
    while link.status is None:
        now = time.monotonic()
        if sock is None:
            if now < link.connect_at:
                time.sleep(min(0.05, link.connect_at - now))
                continue
            try:
                sock = socket.create_connection(address, ANSWER_SECONDS)
            except OSError as error:
                link.lost(time.monotonic(), is_refused=isinstance(error, ConnectionRefusedError))
                continue
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            frames = Frames()
            link.connected(now)
        link.tick(now)
        try:
            for body in link.outgoing:
                sock.sendall(struct.pack(">I", len(body)) + body)
            link.outgoing = []
            if select.select([sock], [], [], 0.05)[0]:
                data = sock.recv(65536)
                link.is_closing |= not data
                for frame in frames.read(data):
                    link.received(frame, time.monotonic())
        except (OSError, ValueError):
            link.is_closing = True
        for line in link.shown:
            print(line, flush=True)
        link.shown = []
        if link.is_closing:
            sock.close()
            sock = None
            link.lost(time.monotonic())
    return link.status


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--app", default="dev")
    parser.add_argument("--token", default="")
    parser.add_argument("what", choices=["receive", "publish"])
    for name in ("server", "user", "channel"):
        parser.add_argument(name)
    parser.add_argument("text", nargs="?")
    options = parser.parse_args()
    if (options.text is None) != (options.what == "receive"):
        parser.error("publish needs a text, and receive has none")
    host, _, port = options.server.rpartition(":")
    link = Link(options.app, options.token, options.user, options.channel, options.text)
    return run(link, (host.strip("[]"), int(port)))


if __name__ == "__main__":
    sys.exit(main())
