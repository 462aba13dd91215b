#!/usr/bin/env python3
"""Checks a server, or a client, of the protocol: README.md beside this file says how, and what the files of scenarios mean.

    run.py vectors
    run.py server HOST:PORT
    run.py client [--can WHAT,WHAT…] [--gap TEXT] -- COMMAND…

It needs Python 3.10 or newer and the package `protobuf`, 3.20 or newer. It ends with status 0 if everything was as it should
be, and says otherwise what wasn't.
"""

import argparse
import base64
import concurrent.futures
import importlib
import json
import os
import pathlib
import queue
import re
import secrets
import shlex
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

try:
    from google.protobuf import json_format
    from google.protobuf.message import DecodeError
except ImportError:
    sys.exit("run.py needs Python's protobuf: apt-get install python3-protobuf, or pip install protobuf")

HERE = pathlib.Path(__file__).resolve().parent
GENERATED = HERE.parent / "generated" / "python"
sys.path.insert(0, str(GENERATED))
APP = "dev"
# How long a step may take, in seconds, whatever comes meanwhile. Only what doesn't come takes as long.
PATIENCE = 10
# How long the other end may take to close a connection that is closed from here, while it goes on sending.
CLOSE_SECONDS = 1
# What a client may send in one frame: before LoggedIn was sent, and afterwards, as Welcome says in the scenarios.
LOGIN_BYTES_MAX, FRAME_BYTES_MAX = 40_960, 65_536
# A client that doesn't come back can't be told from one that waits, so it is watched for so long.
WATCH = 5


class Failure(Exception):
    """What isn't as it should be."""


class Silence(Failure):
    """Nothing has come in time."""


class Closed(Failure):
    """The other end has closed the connection."""


# Messages


def message_class(name):
    """The class of a message, by its full name."""
    package, _, message = name.rpartition(".")
    for path in sorted(GENERATED.glob("*/*_pb2.py")):
        module = importlib.import_module(f"{path.parent.name}.{path.stem}")
        if module.DESCRIPTOR.package == package and hasattr(module, message):
            return getattr(module, message)
    raise Failure(f"the schema has no {name}")


ClientFrame = message_class("rtm.client.ClientFrame")
ServerFrame = message_class("rtm.client.ServerFrame")


def framed(body):
    return struct.pack(">I", len(body)) + body


def varint(number):
    return bytes([number & 127 | 128]) + varint(number >> 7) if number > 127 else bytes([number])


def encoded(kind, frame):
    """The bytes of a frame, of which a scenario says the fields, or with "hex" the bytes behind the length."""
    if "hex" in frame:
        return framed(bytes.fromhex(frame["hex"]))
    return framed(json_format.ParseDict(frame, kind()).SerializeToString())


def decoded(kind, body):
    try:
        message = kind.FromString(body)
    except DecodeError as error:
        raise Failure(f"a frame that is no protobuf: {body.hex()}") from error
    return json_format.MessageToDict(message, preserving_proto_field_name=True)


def body_of(frame):
    """The name of a frame's one body, such as "publication"."""
    return next((name for name in frame if name != "request_id"), "no body")


# What scenarios say


class Script:
    """The values of a scenario: its names, each of which stands for a fresh one, and its variables, which may be absent, such
    as the offset 0 of a server, or have to be there."""

    def __init__(self, names, may_be_absent):
        self.may_be_absent = may_be_absent
        suffix = secrets.token_hex(4)
        self.names = {name: f"{name}-{suffix}" for name in names}
        self.variables = {}

    def text(self, text):
        """A name, or the name of a channel before that of a topic, becomes the fresh one."""
        first, slash, rest = text.partition("/")
        return self.names.get(first, first) + slash + rest

    def fill(self, value):
        """What is to be sent."""
        if isinstance(value, dict):
            data = self.bytes(value)
            if data is not None:
                return base64.b64encode(data).decode()
            return {key: self.fill(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, str) and value.startswith("$"):
            return self.variables[value]
        return self.text(value) if isinstance(value, str) else value

    def bytes(self, value):
        """Payloads are {"text": …}, {"text": …, "times": n} or {"bytes": "hexadecimal"}."""
        if "bytes" in value:
            return bytes.fromhex(value["bytes"])
        if "text" in value:
            return self.text(value["text"]).encode() * value.get("times", 1)
        return None

    def match(self, expected, found, path=""):
        """Every field that is expected has to be there; null: it must not. Fields that aren't named may have any value."""
        if expected is None:
            if found not in (None, False, 0, "", "0"):
                raise Failure(f"{path} has to be absent, and is {found}")
        elif expected == "*":
            if found is None:
                raise Failure(f"{path} is missing")
        elif isinstance(expected, str) and expected.startswith("$"):
            if found is None and not self.may_be_absent:
                raise Failure(f"{path} is missing")
            if expected not in self.variables:
                self.variables[expected] = found
            elif str(self.variables[expected]) != str(found):
                raise Failure(f"{path} has to be {self.variables[expected]} ({expected}), and is {found}")
        elif isinstance(expected, dict) and set(expected) == {"above"}:
            if int(found or 0) <= int(self.variables[expected["above"]]):
                raise Failure(f"{path} has to be above {self.variables[expected['above']]}, and is {found}")
        elif isinstance(expected, dict) and self.bytes(expected) is not None:
            if base64.b64decode(found or "") != self.bytes(expected):
                raise Failure(f"{path} has to be {expected}, and is {base64.b64decode(found or '')!r}")
        elif isinstance(expected, dict):
            if not isinstance(found, dict):
                raise Failure(f"{path} is missing")
            for key, value in expected.items():
                self.match(value, found.get(key), f"{path}.{key}" if path else key)
        elif isinstance(expected, list):
            if len(expected) != len(found or []):
                raise Failure(f"{path} has to have {len(expected)} elements, and has {len(found or [])}: {found}")
            for index, value in enumerate(expected):
                self.match(value, found[index], f"{path}[{index}]")
        else:
            wanted = self.text(expected) if isinstance(expected, str) else expected
            default = "" if isinstance(wanted, str) else 0
            if str(wanted) != str(default if found is None else found):
                raise Failure(f"{path} has to be {wanted}, and is {found}")

    def match_frame(self, expected, found):
        kind = body_of(expected)
        if kind not in found:
            raise Failure(f"{kind} has to come, and there came {json.dumps(found)}")
        self.match(expected.get("request_id", 0), found.get("request_id"), "request_id")
        self.match(expected[kind], found[kind], kind)


class Stream:
    """A connection, and the frames that arrive over it."""

    def __init__(self, sock, kind):
        self.sock = sock
        self.kind = kind
        self.buffer = b""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data, in_pieces=False):
        self.sock.settimeout(PATIENCE)
        try:
            if not in_pieces:
                self.sock.sendall(data)
                return
            for index, byte in enumerate(data):
                self.sock.sendall(bytes([byte]))
                # Within the length, behind it, and within the frame: else the other end may read all of them at once.
                if index in (1, 3, 9):
                    time.sleep(0.2)
        except OSError as error:
            raise Failure(f"the connection ended before everything was sent: {error}") from error

    def next(self, until, limit=2**32):
        """The next frame that comes until this time; None at the end of the connection."""
        while len(self.buffer) < 4 or len(self.buffer) < 4 + self.size(limit):
            self.sock.settimeout(max(0.001, until - time.monotonic()))
            try:
                data = self.sock.recv(65536)
            except TimeoutError as error:
                raise Silence("nothing came in time") from error
            except OSError:
                return None
            if not data:
                if self.buffer:
                    raise Failure("the connection ended within a frame")
                return None
            self.buffer += data
        size = self.size(limit)
        body, self.buffer = self.buffer[4 : 4 + size], self.buffer[4 + size :]
        return decoded(self.kind, body)

    def size(self, limit):
        size = struct.unpack(">I", self.buffer[:4])[0]
        if size > limit:
            raise Failure(f"a frame has {size} bytes, and {limit} are allowed")
        return size

    def close(self):
        """Ends the connection so that the other end gets what was sent before."""
        until = time.monotonic() + CLOSE_SECONDS
        try:
            self.sock.shutdown(socket.SHUT_WR)
            while (left := until - time.monotonic()) > 0:
                self.sock.settimeout(left)
                if not self.sock.recv(65536):
                    break
        except OSError:
            pass
        self.sock.close()


# Servers


class ServerRun:
    """One scenario against a server: it plays all clients."""

    def __init__(self, scenario, address):
        self.scenario = scenario
        self.address = address
        self.script = Script(scenario["names"], may_be_absent=True)
        self.streams = {}

    def run(self):
        try:
            for number, step in enumerate(self.scenario["steps"], 1):
                try:
                    self.step(step)
                except Failure as failure:
                    raise Failure(f"step {number}, {json.dumps(step)[:200]}: {failure}") from failure
        finally:
            for stream in self.streams.values():
                stream.close()

    def connect(self, name):
        if name in self.streams:
            self.streams[name].close()
        try:
            sock = socket.create_connection(self.address, PATIENCE)
        except OSError as error:
            raise Failure(f"no connection to {self.address[0]}:{self.address[1]}: {error}") from error
        self.streams[name] = Stream(sock, ServerFrame)

    def step(self, step):
        if "connect" in step:
            self.connect(step["connect"])
        elif "login" in step:
            self.login(step)
        elif "cut" in step:
            self.streams.pop(step["cut"]).close()
        else:
            stream = self.streams[step["on"]]
            if "send" in step:
                frames = step["send"] if isinstance(step["send"], list) else [step["send"]]
                data = b"".join(encoded(ClientFrame, self.script.fill(frame)) for frame in frames)
                stream.send(data, step.get("in_pieces", False))
            if "send_bytes" in step:
                stream.send(bytes.fromhex(step["send_bytes"]))
            if "expect" in step:
                self.expect(stream, step["expect"])
            if "until" in step:
                self.repeat(stream, step["send"], step["until"])
            if step.get("expect_end") and (frame := stream.next(time.monotonic() + PATIENCE)) is not None:
                raise Failure(f"the connection has to end, and there came {json.dumps(frame)}")

    def expect(self, stream, expected):
        """One frame, or several in any order."""
        missing = list(expected) if isinstance(expected, list) else [expected]
        until = time.monotonic() + PATIENCE
        while missing:
            frame = stream.next(until)
            if frame is None:
                raise Failure(f"the connection ended, and {json.dumps(missing[0])} has to come")
            for candidate in missing:
                known = dict(self.script.variables)
                try:
                    self.script.match_frame(candidate, frame)
                except Failure:
                    self.script.variables = known
                    if candidate is missing[-1]:
                        raise
                else:
                    missing.remove(candidate)
                    break

    def repeat(self, stream, request, expected):
        """A request that has been sent, until it is answered so: what another client did may take a moment."""
        until = time.monotonic() + PATIENCE
        while True:
            frame = stream.next(until)
            if frame is None:
                raise Failure(f"the connection ended, and {json.dumps(expected)} has to come")
            try:
                return self.script.match_frame(expected, frame)
            except Failure:
                if time.monotonic() > until:
                    raise
            time.sleep(0.05)
            stream.send(encoded(ClientFrame, self.script.fill(request)))

    def login(self, step):
        """Hello with the id 1 and Login with the id 2, in one go."""
        name = step["login"]
        self.connect(name)
        login = {"app_id": APP, "user_id": step.get("user", name), **step.get("with", {})}
        hello = {"version_min": 1, "version_max": 1, "client": "conformance"}
        self.step({"on": name, "send": [{"request_id": 1, "hello": hello}, {"request_id": 2, "login": login}]})
        self.step({"on": name, "expect": {"request_id": 1, "welcome": {"version": 1}}})
        self.step({"on": name, "expect": {"request_id": 2, "logged_in": step.get("logged_in", {})}})


# Clients


class ClientRun:
    """One scenario for a client: it is started with a server that follows the scenario."""

    def __init__(self, scenario, command, gap):
        self.scenario = scenario
        self.command = command
        self.script = Script(["user", "channel"], may_be_absent=False)
        self.script.names.update({"text": f"text {secrets.token_hex(4)}", "gap": gap})
        self.lines = queue.Queue()
        self.output = []
        self.stream = None
        self.requests = []
        self.held = []
        self.limit = LOGIN_BYTES_MAX
        # When the last request was answered or the last push sent, and when the current step has to end.
        self.sent_at = self.until = 0

    def run(self):
        # It keeps the port while nobody listens.
        with socket.socket() as place:
            place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            place.bind(("127.0.0.1", 0))
            self.port = place.getsockname()[1]
            self.listen()
            try:
                self.play_with_client()
            finally:
                self.listener.close()

    def listen(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), reuse_port=True)

    def play_with_client(self):
        values = {
            "{server}": f"127.0.0.1:{self.port}", "{host}": "127.0.0.1", "{port}": str(self.port),
            "{user}": self.script.names["user"], "{channel}": self.script.names["channel"],
            "{text}": self.script.names["text"],
        }
        command = [re.sub(r"\{\w+\}", lambda name: values.get(name[0], name[0]), word) for word in self.command]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, bufsize=0,
        ) as self.process:
            reader = threading.Thread(target=self.read_output, daemon=True)
            reader.start()
            try:
                self.play()
            except Failure as failure:
                self.read_lines()
                raise Failure(f"{failure}\n    the client wrote: {' | '.join(self.output) or 'nothing'}") from failure
            finally:
                if self.stream:
                    self.stream.close()
                try:
                    os.killpg(self.process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                reader.join(CLOSE_SECONDS)

    def read_output(self):
        """Ends with the client, also if a process that it has left behind keeps the pipe open."""
        rest = b""
        try:
            while data := self.process.stdout.read(65536):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self.lines.put(line.decode(errors="replace"))
        except (OSError, ValueError):
            pass
        if rest:
            self.lines.put(rest.decode(errors="replace"))

    def play(self):
        for number, step in enumerate(self.scenario["steps"], 1):
            try:
                self.step(step)
            except Failure as failure:
                raise Failure(f"step {number}, {json.dumps(step)[:200]}: {failure}") from failure

    def step(self, step):
        self.until = time.monotonic() + step.get("within", PATIENCE)
        if step.get("connection"):
            self.accept(step.get("after", 0))
        elif "request" in step:
            self.await_request(step)
        elif "push" in step:
            self.send({"hex": step["push"]["hex"]} if "hex" in step["push"] else step["push"], step)
        elif "push_bytes" in step:
            self.stream.send(bytes.fromhex(step["push_bytes"]))
        elif "shows" in step:
            self.await_output(self.script.text(step["shows"]), step.get("without"))
        elif step.get("cut"):
            self.stream.close()
            self.stream = None
        elif "away" in step:
            self.be_away(step["away"])
        elif "turns_away" in step:
            self.turn_away(step["turns_away"], step["at_most"])
        elif "ends" in step:
            self.await_end(step["ends"])
        elif step.get("gives_up"):
            self.await_giving_up()
        elif step.get("stays_away"):
            self.watch()
        else:
            raise Failure("this step is unknown")
        if "request" in step or "push" in step:
            self.sent_at = time.monotonic()

    def accept(self, after):
        if self.stream:
            self.stream.close()
        self.listener.settimeout(max(0.001, self.until - time.monotonic()))
        try:
            self.stream = Stream(self.listener.accept()[0], ClientFrame)
        except TimeoutError as error:
            raise Failure("no connection came in time") from error
        self.not_before(after, "a connection")
        self.requests = []
        self.limit = LOGIN_BYTES_MAX

    def not_before(self, after, what):
        waited = time.monotonic() - self.sent_at
        if waited < after:
            raise Failure(f"{what} came after {waited:.1f} seconds, and has to wait for {after}")

    def be_away(self, seconds):
        """The server goes, and nobody listens: connections are refused, and the client has to try again."""
        self.listener.close()
        self.stream.close()
        self.stream = None
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self.process.poll() is not None:
                raise Failure(f"the client has given up: it ended with status {self.process.returncode}")
            time.sleep(min(0.05, left))
        self.listen()

    def turn_away(self, seconds, at_most):
        """Each connection is closed as soon as it comes."""
        count = 0
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.listener.settimeout(left)
            try:
                self.listener.accept()[0].close()
            except TimeoutError:
                break
            count += 1
            if count > at_most:
                raise Failure(f"more than {at_most} connections came within {seconds} seconds: it has to pause between attempts")
        if not count:
            raise Failure(f"no connection came within {seconds} seconds")

    def send(self, frame, step=None):
        pieces = bool(step and step.get("in_pieces"))
        data = encoded(ServerFrame, self.script.fill(frame))
        if step and "unknown" in step:
            # Fields that nobody knows, behind those that are known.
            data = framed(data[4:] + bytes.fromhex(step["unknown"]))
        if step and "unknown_bytes" in step:
            # The field 2000, of this size.
            data = framed(data[4:] + b"\x82\x7d" + varint(step["unknown_bytes"]) + bytes(step["unknown_bytes"]))
        # What is held goes out together with what follows.
        self.held.append(data)
        if step and step.get("held"):
            return
        data, self.held = b"".join(self.held), []
        self.stream.send(data, pieces)

    def next_request(self, until):
        if self.requests:
            return self.requests.pop(0)
        frame = self.stream.next(until, self.limit) if self.stream else None
        if frame is None:
            raise Closed("the client has closed the connection")
        if not int(frame.get("request_id", 0)):
            raise Failure(f"a request has no id: {json.dumps(frame)}")
        if self.limit == LOGIN_BYTES_MAX and body_of(frame) not in ("hello", "login", "heartbeat"):
            raise Failure(f"{body_of(frame)} has to wait for LoggedIn")
        return frame

    def await_request(self, step):
        """Waits for this kind of request. Others that come before it get the answer that they would get anywhere."""
        kind = body_of(step["request"])
        others, meanwhile = [], dict(step.get("meanwhile", {}).get("publication", {}))
        while body_of(frame := self.next_of(kind, step, others, meanwhile)) != kind:
            others.append(body_of(frame))
            self.answer_otherwise(frame)
        self.script.match(step["request"][kind], frame[kind], kind)
        self.not_before(step.get("after", 0), kind)
        end = time.monotonic() + step.get("later", 0)
        while (left := end - time.monotonic()) > 0:
            self.serve(left)
        for answer in step.get("answers", [step["answer"]] if "answer" in step else []):
            request_id = frame["request_id"]
            if "logged_in" in answer:
                answer = {"logged_in": {**self.taken(frame["login"]), **answer["logged_in"]}}
                self.limit = FRAME_BYTES_MAX
            pushed = body_of(answer) == "disconnect"
            self.send(answer if pushed else {"request_id": request_id, **answer}, step)

    def next_of(self, kind, step, others, meanwhile):
        """The next request until the end of the step. Each half second goes out what is to be published meanwhile."""
        while True:
            turn = self.until
            if meanwhile:
                self.send({"publication": meanwhile})
                meanwhile.update({field: meanwhile[field] + 1 for field in ("offset", "timestamp_ms")})
                turn = min(turn, time.monotonic() + 0.5)
            try:
                return self.next_request(turn)
            except Silence:
                if time.monotonic() >= self.until:
                    came = f"; there came {', '.join(others)}" if others else ""
                    raise Failure(f"{kind} has to come within {step.get('within', PATIENCE)} seconds{came}") from None

    def taken(self, login):
        """Takes up what comes within the Login: each entry is from now on a request of its own."""
        entries = login.get("subscriptions", [])
        self.requests += [{"request_id": entry.get("request_id", 0), "subscribe": entry} for entry in entries]
        users = login.get("followed_users", [])
        self.requests += [{"request_id": entry.get("request_id", 0), "subscribe_user_metadata": entry} for entry in users]
        return {"subscriptions": len(entries), "followed_users": len(users)}

    def answer_otherwise(self, frame):
        kind = body_of(frame)
        if kind == "publish" and "publish" in self.scenario["needs"]:
            raise Failure(f"it publishes once too often: {json.dumps(frame)}")
        answers = {
            "heartbeat": {"heartbeat_ack": {"server_time_ms": int(time.time() * 1000)}},
            "subscribe": {"subscribed": {"position": {"epoch": 7, "offset": 1}}},
            "unsubscribe": {"unsubscribed": {}},
            "logout": {"logged_out": {}},
            "publish": {"published": {"offset": 1, "timestamp_ms": int(time.time() * 1000)}},
        }
        unknown = {"error": {"code": -10022, "reason": f"this server doesn't know {kind}"}}
        self.send({"request_id": frame["request_id"], **answers.get(kind, unknown)})
        if kind == "logout":
            self.send({"disconnect": {"code": 3500, "reason": "logged out"}})
            self.stream.close()
            self.stream = None

    def serve(self, seconds=0.05):
        """Answers what comes meanwhile."""
        if not self.stream:
            time.sleep(seconds)
            return
        try:
            frame = self.next_request(time.monotonic() + seconds)
        except Silence:
            return
        except Closed:
            self.stream.close()
            self.stream = None
            return
        self.answer_otherwise(frame)

    def read_lines(self):
        while not self.lines.empty():
            self.output.append(self.lines.get())

    def await_output(self, text, without):
        """A line of the client has this text, and none before it the other one; the next step looks behind that line."""
        while time.monotonic() < self.until:
            while not self.lines.empty():
                line = self.lines.get()
                self.output.append(line)
                if text in line:
                    return
                if without and without in line:
                    raise Failure(f"the client must not show {without!r}")
            self.serve()
        raise Failure(f"the client has to show {text!r}")

    def await_end(self, statuses):
        while self.process.poll() is None and time.monotonic() < self.until:
            self.serve()
        # What it has sent before it ended.
        while self.stream and time.monotonic() < self.until:
            self.serve()
        self.read_lines()
        if self.process.poll() is None:
            raise Failure("the client has to end")
        wanted = self.process.returncode == 0 if statuses == "well" else self.process.returncode != 0
        if not wanted:
            raise Failure(f"the client has to end {statuses}, and ended with status {self.process.returncode}")

    def await_giving_up(self):
        """No answer comes any more: the client has to close the connection, or to end."""
        while time.monotonic() < self.until and self.process.poll() is None:
            try:
                if self.stream.next(min(self.until, time.monotonic() + 1)) is None:
                    return
            except Silence:
                pass
        if self.process.poll() is None:
            raise Failure("the client has to give up this connection")

    def watch(self):
        """The client ends, or doesn't connect again for as long as it is watched."""
        self.listener.settimeout(0.1)
        until = time.monotonic() + WATCH
        while time.monotonic() < until and self.process.poll() is None:
            self.read_lines()
            try:
                self.listener.accept()[0].close()
            except TimeoutError:
                continue
            raise Failure("the client has come back, although it must not")


# Vectors


def check_vector(vector):
    kind = message_class(vector["message"])
    data = bytes.fromhex(vector["bytes"])
    if vector["length_prefix"]:
        if struct.unpack(">I", data[:4])[0] != len(data) - 4:
            raise Failure("the length is wrong")
        data = data[4:]
    message = kind.FromString(data)
    if message != json_format.ParseDict(vector["fields"], kind()):
        raise Failure(f"the bytes mean {json_format.MessageToDict(message, preserving_proto_field_name=True)}")
    if message.SerializeToString(deterministic=True) != data:
        raise Failure(f"encoded again they are {message.SerializeToString(deterministic=True).hex()}")


# The command line


def scenarios(side):
    return [
        {"file": f"{side}/{path.name}", **json.loads(path.read_text())} for path in sorted((HERE / side).glob("*.json"))
    ]


def report(checks):
    """Runs the checks side by side, and says how each ended. Returns whether all are right."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        running = [(name, pool.submit(check)) for name, check in checks]
        for name, outcome in running:
            try:
                outcome.result()
                print(f"ok      {name}")
            except Exception as problem:
                failed += 1
                print(f"FAILED  {name}: {problem if isinstance(problem, Failure) else repr(problem)}")
    print(f"{len(checks) - failed} of {len(checks)} are right")
    return bool(checks) and not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sides = parser.add_subparsers(dest="side", required=True)
    sides.add_parser("vectors")
    server = sides.add_parser("server")
    server.add_argument("address", metavar="HOST:PORT")
    client = sides.add_parser("client")
    client.add_argument("--can", default="receive,publish,return,once", help="what the client can do")
    client.add_argument("--gap", default="gap", help="what the client shows when messages are lost")
    client.add_argument("command", nargs="+", metavar="COMMAND")
    for side in (server, client):
        side.add_argument("--level", type=int, default=4, help="scenarios up to this level")
        side.add_argument("--only", default="", help="scenarios with this in their file's name")
    options = parser.parse_args()
    if options.side == "vectors":
        vectors = json.loads((HERE / "vectors.json").read_text())["vectors"]
        checks = [
            (f"{number}, {vector['section']}", lambda vector=vector: check_vector(vector))
            for number, vector in enumerate(vectors, 1)
        ]
        return report(checks)
    chosen = [each for each in scenarios(options.side) if each["level"] <= options.level and options.only in each["file"]]
    if options.side == "server":
        host, _, port = options.address.rpartition(":")
        address = (host.strip("[]"), int(port))
        runs = [(each, ServerRun(each, address).run) for each in chosen]
    else:
        able = set(options.can.split(","))
        command = shlex.split(options.command[0]) if len(options.command) == 1 else options.command
        runs = [(each, ClientRun(each, command, options.gap).run) for each in chosen if able.issuperset(each["needs"])]
    return report([(f"{each['file']}: {each['title']}", run) for each, run in runs])


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
