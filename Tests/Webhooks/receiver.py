"""The receiver of a webhook, as a process that can be killed: it verifies each request, writes down what it
carried, and answers after a while. What was answered is in the file.

usage: receiver.py PORT FILE PAUSE_SECONDS   (the secret is in the environment, as WEBHOOK_SECRET)

Each line of FILE is one request: when it was there (on the monotonic clock), its `webhook-id`, and of each
event its id, key, number, type and what it says."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import sys
import time

TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"
REFUSED = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"


def problem(headers, body, key):
    """Why a request isn't to be trusted, by Standard Webhooks; None if it is."""
    if abs(time.time() - int(headers["webhook-timestamp"])) > 300:
        return "the time of a request is wrong"
    signed = f'{headers["webhook-id"]}.{headers["webhook-timestamp"]}.'.encode() + body
    right = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    if not any(hmac.compare_digest(right, one) for one in headers["webhook-signature"].split()):
        return "the signature of a request is wrong"


def said(event):
    """What is compared with what the backend did: the text of a message, or the revision of metadata."""
    data = event.get("data") or {}
    return data.get("message", data.get("revision"))


class Connection(asyncio.Protocol):
    def __init__(self, key, file, pause):
        self.key, self.file, self.pause, self.bytes = key, file, pause, bytearray()

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.bytes += data
        while (end := self.bytes.find(b"\r\n\r\n")) >= 0:
            lines = self.bytes[:end].decode().split("\r\n")[1:]
            headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
            length = end + 4 + int(headers["content-length"])
            if len(self.bytes) < length:
                return
            body = bytes(self.bytes[end + 4:length])
            del self.bytes[:length]
            self.take(headers, body)

    def take(self, headers, body):
        wrong = problem(headers, body, self.key)
        line = {"at": time.monotonic(), "webhook": headers.get("webhook-id")}
        if wrong:
            line["wrong"] = wrong
        else:
            line["events"] = [
                [event["id"], event["key"], event["number"], event["type"], said(event)]
                for event in json.loads(body)["events"]]
        os.write(self.file, json.dumps(line).encode() + b"\n")
        asyncio.get_running_loop().call_later(self.pause, self.transport.write, REFUSED if wrong else TAKEN)


async def main(port, path, pause):
    key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(key, file, float(pause)), "127.0.0.1", int(port), backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
