"""Stands between a client and a server of the protocol and changes what they say, so that one of the two seems to be wrong:

    mutating_proxy.py HOST:PORT MUTATION -- COMMAND… {proxy}

It runs the command with its own address in place of {proxy}, and ends with the command's status. ConformanceTests makes
wrong servers and wrong clients with it, each of which the conformance suite has to find.
"""

import pathlib
import socket
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "protocol" / "conformance"))
from google.protobuf.message import DecodeError  # noqa: E402
from run import ClientFrame, ServerFrame, framed  # noqa: E402

FRAME_BYTES_MAX = 2**20


def bodies(sock):
    """What arrives, up to the end of the connection: the body of each frame, and whether it is one. What follows a length
    that no frame has is none."""
    buffer = b""
    while True:
        while len(buffer) >= 4 and 4 + (size := int.from_bytes(buffer[:4], "big")) <= len(buffer):
            yield buffer[4 : 4 + size], True
            buffer = buffer[4 + size :]
        if len(buffer) >= 4 and int.from_bytes(buffer[:4], "big") > FRAME_BYTES_MAX:
            yield buffer, False
            buffer = b""
        try:
            data = sock.recv(65536)
        except OSError:
            return
        if not data:
            return
        buffer += data


def subscriptions(frame):
    """What a client asks for with this frame, by itself or within its login."""
    if frame.HasField("login"):
        return list(frame.login.subscriptions)
    return [frame.subscribe] if frame.HasField("subscribe") else []


class Mutation:
    """What becomes of the frames of one connection in one direction. Each answers with the frames that go on."""

    def __init__(self):
        self.held = None

    def nothing(self, frame):
        return [frame]

    # A wrong server

    def other_request_id(self, frame):
        if frame.request_id > 2:
            frame.request_id += 1
        return [frame]

    def no_gap(self, frame):
        for name, field in (("subscribed", "gap"), ("logged_in", "inbox_gap")):
            if frame.HasField(name):
                getattr(frame, name).ClearField(field)
        return [frame]

    def swapped(self, frame):
        if not frame.HasField("publication"):
            return [frame]
        if self.held is None:
            self.held = frame
            return []
        held, self.held = self.held, None
        return [frame, held]

    def twice(self, frame):
        return [frame, frame] if frame.HasField("publication") else [frame]

    def lost(self, frame):
        self.held = (self.held or 0) + frame.HasField("publication")
        return [] if frame.HasField("publication") and self.held == 2 else [frame]

    def other_offset(self, frame):
        if frame.HasField("published"):
            frame.published.offset += 1
        return [frame]

    def other_code(self, frame):
        if frame.HasField("disconnect"):
            frame.disconnect.code = 3000
        return [frame]

    def no_disconnect(self, frame):
        return [] if frame.HasField("disconnect") else [frame]

    def no_limit(self, frame):
        if frame.HasField("error"):
            frame.error.ClearField("limit")
        return [frame]

    def no_conflict(self, frame):
        if frame.HasField("error"):
            frame.error.ClearField("conflict")
        return [frame]

    def one_user_less(self, frame):
        if frame.HasField("presence_snapshot") and frame.presence_snapshot.users:
            del frame.presence_snapshot.users[0]
        return [frame]

    def states_later(self, frame):
        presence = frame.publication.presence
        if presence.type == 3:
            presence.ClearField("states")
        return [frame]

    def old_token(self, frame):
        if frame.HasField("lock_acquired"):
            frame.lock_acquired.fencing_token = 1
        return [frame]

    def oldest_first(self, frame):
        if frame.HasField("history_page"):
            frame.history_page.messages.reverse()
        return [frame]

    # A wrong client

    def from_now_on(self, frame):
        for entry in subscriptions(frame):
            entry.ClearField("after")
        return [frame]

    def one_behind(self, frame):
        for entry in subscriptions(frame):
            if entry.HasField("after"):
                entry.after.offset -= 1
        return [frame]

    def no_inbox(self, frame):
        if frame.HasField("login"):
            frame.login.ClearField("inbox_after")
        return [frame]

    def not_again(self, frame):
        if frame.HasField("publish"):
            frame.publish.ClearField("again")
        return [frame]

    def new_number(self, frame):
        if frame.HasField("publish") and frame.publish.again:
            frame.publish.sequence += 1
        return [frame]

    def old_number(self, frame):
        if frame.HasField("publish") and not frame.publish.again:
            frame.publish.sequence = 1
        return [frame]

    def no_heartbeat(self, frame):
        return [] if frame.HasField("heartbeat") else [frame]

    def no_id(self, frame):
        frame.ClearField("request_id")
        return [frame]

    # A client that doesn't obey: it hears something else than the server said

    def comes_back(self, frame):
        if frame.HasField("disconnect"):
            frame.disconnect.code = 3000
        return [frame]

    def stays_away(self, frame):
        if frame.HasField("disconnect"):
            frame.disconnect.code = 3507
        return [frame]

    def never_knows_gaps(self, frame):
        return [] if frame.HasField("gap") else [frame]

    def is_patient(self, frame):
        """The proxy answers heartbeats that the server doesn't answer; see `pump`."""
        return [frame]


OF_CLIENT = {"from_now_on", "one_behind", "no_inbox", "not_again", "new_number", "old_number", "no_heartbeat", "no_id"}


def pump(source, target, kind, mutate, answers_to=None):
    try:
        for body, is_frame in bodies(source):
            try:
                frame = kind.FromString(body) if is_frame else None
            except DecodeError:
                frame = None
            if frame is None:
                target.sendall(framed(body) if is_frame else body)
                continue
            if answers_to and frame.HasField("heartbeat"):
                ack = ServerFrame(request_id=frame.request_id)
                ack.heartbeat_ack.server_time_ms = 1
                answers_to.sendall(framed(ack.SerializeToString()))
            for each in mutate(frame) if mutate else [frame]:
                target.sendall(framed(each.SerializeToString()))
    except OSError:
        pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(listener, address, name):
    while True:
        client = listener.accept()[0]
        try:
            server = socket.create_connection(address, 10)
        except OSError:
            client.close()
            continue
        server.settimeout(None)
        mutate = getattr(Mutation(), name)
        from_client = (client, server, ClientFrame, mutate if name in OF_CLIENT else None)
        if name == "is_patient":
            from_client += (client,)
        from_server = (server, client, ServerFrame, None if name in OF_CLIENT else mutate)
        for arguments in (from_client, from_server):
            threading.Thread(target=pump, args=arguments, daemon=True).start()


def main():
    host, _, port = sys.argv[1].rpartition(":")
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, (host, int(port)), sys.argv[2]), daemon=True).start()
    proxy = f"127.0.0.1:{listener.getsockname()[1]}"
    sys.exit(subprocess.call([word.replace("{proxy}", proxy) for word in sys.argv[4:]]))


if __name__ == "__main__":
    main()
