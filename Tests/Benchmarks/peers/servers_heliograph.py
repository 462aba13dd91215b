"""Heliograph as the measuring harness starts it: SERVERS_EXTRA in the form that its servers.py asks for (that file executes
this one, so Server is in scope here).

Each server gets ports of its own, so that neither an installation on this machine nor the other ones are in the way, and its
run directory as data directory; the one with TLS has the certificate of the peers with TLS. Every process has one event
loop: the harness pins all of a server to one core. Only limits that a workload reaches are raised, by configuration as an
operator would."""
import os, pathlib

RELEASE = pathlib.Path(os.environ["HELIOGRAPH_RELEASE"])
LIMITS = {"connections-max": 40000, "connections-per-address-max": 40000,
          "rates-publish": 0, "rates-calls": 0, "rates-subscribe": 0, "rates-login": 0}


def flags(**values):
    return [part for name, value in values.items() for part in ("--" + name.replace("_", "-"), str(value))]


def edge_limits(prefix):
    return [part for name, value in LIMITS.items() for part in (f"--{prefix}{name}", str(value))]


def standalone(directory, port=7950, **more):
    return [str(RELEASE / "rtm-standalone"), *edge_limits("edge-"),
            *flags(listen=f"127.0.0.1:{port}", admin=f"127.0.0.1:{port + 1}", data=directory / "data", threads=1,
                   log_level="warning", **more)]


def standalone_tls(directory):
    return standalone(directory, 7971, edge_tls_listen="127.0.0.1:7970", edge_tls_certificate=TLS / "cert.pem",
                      edge_tls_key=TLS / "key.pem")


def four_processes(directory):
    """The services in the background of a shell, the edge in its place: the harness counts the shell's descendants, and ends
    them together."""
    def service(name, listen, *more):
        command = [str(RELEASE / f"rtm-{name}"), *flags(
            listen=f"127.0.0.1:{listen}", admin=f"127.0.0.1:{listen + 1}", threads=1, log_level="warning"), *more]
        return " ".join(f"'{part}'" for part in command)

    edge = service("edge", 7960, *edge_limits(""), *flags(
        messaging="127.0.0.1:7962", presence="127.0.0.1:7964", storage="127.0.0.1:7966"))
    behind = [service("messaging", 7962), service("presence", 7964), service("storage", 7966)]
    return ["sh", "-c", " & ".join(behind) + f" & exec {edge}"]


SERVERS_EXTRA = [
    Server("heliograph", 7950, ["-x", "heliograph", "-P", "7950"], standalone, settle=1),
    Server("heliograph-tls", 7970, ["-x", "heliograph", "-P", "7970", "-T"], standalone_tls, settle=1),
    Server("heliograph-4", 7960, ["-x", "heliograph", "-P", "7960"], four_processes, settle=2),
]
