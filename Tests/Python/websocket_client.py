"""A client of which nothing but this scenario is ours: PyPI's websockets and protobuf, and the committed schema.

    .build/python/bin/python Tests/Python/websocket_client.py ws://127.0.0.1:7712/rtm [authorities.pem] [--compressed]

It logs in as "python", subscribes to "lobby", and talks with a user "alice", who has to answer (WebSocketClientTests):

    python -> lobby    "hello from Python", in three fragments
    alice  -> lobby    100 messages "number 0" ... "number 99", and then 100 KB in four messages
    python -> alice    "got 104"
    alice  -> python   "goodbye"

Then it breaks the rules in connections of their own. It always offers compression, which the server has to accept with
--compressed, and has to decline without. It ends with status 0 if everything was as it should be.
"""

import asyncio
import itertools
import pathlib
import ssl
import struct
import sys

import websockets
from websockets.asyncio.client import connect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "protocol/generated/python"))
from client import channel_pb2, frame_pb2  # noqa: E402

COMPRESSED = "--compressed" in sys.argv
URL, *AUTHORITIES = [argument for argument in sys.argv[1:] if argument != "--compressed"]
OPTIONS = {"proxy": None, "open_timeout": 10, "max_size": 256 * 1024}
if AUTHORITIES:
    OPTIONS["ssl"] = ssl.create_default_context(cafile=AUTHORITIES[0])


def encoded(frame):
    body = frame.SerializeToString()
    return struct.pack(">I", len(body)) + body


def decoded(message):
    """The frames of one message, which has to hold whole ones."""
    assert isinstance(message, bytes), f"a text message: {message!r}"
    frames = []
    while message:
        (length,) = struct.unpack_from(">I", message)
        assert len(message) >= 4 + length, "a message ends within a frame"
        frames.append(frame_pb2.ServerFrame.FromString(message[4 : 4 + length]))
        message = message[4 + length :]
    return frames


class Connection:
    def __init__(self, socket):
        self.socket = socket
        self.ids = itertools.count(1)
        self.waiting = []

    def request(self, **body):
        return encoded(frame_pb2.ClientFrame(request_id=next(self.ids), **body))

    async def send(self, **body):
        await self.socket.send(self.request(**body))

    async def next(self):
        while not self.waiting:
            self.waiting = decoded(await asyncio.wait_for(self.socket.recv(), 20))
        return self.waiting.pop(0)

    async def expect(self, kind):
        """The next frame of this kind; what is published meanwhile is passed over."""
        while True:
            frame = await self.next()
            if frame.WhichOneof("body") == kind:
                return getattr(frame, kind)
            assert frame.WhichOneof("body") == "publication", f"{kind} was expected, there came: {frame}"

    async def expect_message(self):
        return (await self.expect("publication")).message.payload


def hello():
    return {"hello": {"version_min": 1, "version_max": 1, "client": f"websockets {websockets.__version__}"}}


def message(channel, text, channel_type=channel_pb2.CHANNEL_TYPE_MESSAGE):
    return {
        "publish": {
            "channel_type": channel_type,
            "channel": channel,
            "message_type": channel_pb2.MESSAGE_TYPE_TEXT,
            "payload": text.encode(),
        }
    }


async def talk():
    async with connect(URL, **OPTIONS) as socket:
        client = Connection(socket)
        agreed = [extension.name for extension in socket.protocol.extensions]
        assert agreed == (["permessage-deflate"] if COMPRESSED else []), f"agreed on: {agreed}"
        # Two frames in one message.
        await socket.send(client.request(**hello()) + client.request(login={"app_id": "dev", "user_id": "python"}))
        assert (await client.expect("welcome")).version == 1
        assert (await client.expect("logged_in")).session_id != 0

        await client.send(subscribe={"channel": "lobby", "features": 4})
        assert (await client.expect("subscribed")).HasField("position")

        publish = client.request(**message("lobby", "hello from Python"))
        await socket.send([publish[:3], publish[3:20], publish[20:]])
        assert (await client.expect("published")).offset > 0

        for number in range(100):
            assert await client.expect_message() == f"number {number}".encode()
        for _ in range(4):
            assert await client.expect_message() == b"x" * 25_000

        await asyncio.wait_for(await socket.ping(b"are you there?"), 10)
        await client.send(heartbeat={})
        assert (await client.expect("heartbeat_ack")).server_time_ms > 1_700_000_000_000

        await client.send(**message("alice", "got 104", channel_pb2.CHANNEL_TYPE_USER))
        await client.expect("published")
        assert await client.expect_message() == b"goodbye"

        await client.send(logout={})
        await client.expect("logged_out")
        assert (await client.expect("disconnect")).code == 3500
        await expect_close(socket, 1000)


async def expect_close(socket, code):
    try:
        await asyncio.wait_for(socket.recv(), 10)
    except websockets.ConnectionClosed as closed:
        assert closed.rcvd and closed.rcvd.code == code, f"{code} was expected, there came: {closed}"
        await asyncio.wait_for(socket.wait_closed(), 4)
    else:
        raise AssertionError(f"the connection goes on where it should close with {code}")


async def expect_refusal(data, disconnect_code, close_code):
    async with connect(URL, **OPTIONS) as socket:
        await socket.send(data)
        assert (await Connection(socket).expect("disconnect")).code == disconnect_code
        await expect_close(socket, close_code)


async def break_rules():
    await expect_refusal("text", 3501, 1003)
    # A frame without its length.
    await expect_refusal(frame_pb2.ClientFrame(request_id=1, **hello()).SerializeToString(), 3501, 1002)
    await expect_refusal(struct.pack(">I", 70_000) + b"x" * 70_000, 3502, 1009)
    await expect_refusal([b"x" * 30_000] * 3, 3502, 1009)
    if COMPRESSED:
        # A bomb: a few kilobytes of it arrive.
        await expect_refusal(struct.pack(">I", 10_000_000) + bytes(10_000_000), 3502, 1009)
    try:
        async with connect(URL + "/elsewhere", **OPTIONS):
            raise AssertionError("there is a WebSocket at another path")
    except websockets.InvalidStatus as refusal:
        assert refusal.response.status_code == 404


async def main():
    await talk()
    await break_rules()


asyncio.run(main())
