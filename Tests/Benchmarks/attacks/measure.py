"""measure.py: runs each attack against a fresh server with its default limits and prints a table. The witness is the load
generator: it publishes 400 messages a second over 20 channels, as users of the same app do, once in quiet and once beside the
attack. It logs in beside the attack, too.

The machine may have two cores only, so beside an attack the witness shares its core with somebody: with the attacker or with the
server. Both make it wait, which is no fault of the server's. So the witness watches twice, once on each core, and the better of
both is what the server can be blamed for at most."""
import json, multiprocessing, os, sys, time

from attacks import ATTACKS
from servers import LOAD_CORE, OUT, RELEASE, SERVER_CORE, Server, flags

SECONDS = float(os.environ.get("SECONDS_EACH") or 8)
WITNESS = ["--workload", "open", "--channels", 20, "--subscribers", 1, "--publishers", 1, "--rate", 400, "--seconds", SECONDS]
# A witness may wait so long beside an attack, or on a machine that is slow without one, so many times as long as in quiet.
P99_MS_MAX, P99_RATIO_MAX = 5, 2
# Attacks on the processor of the generator would delay the witness itself, so they run behind it.
NICE = 19


def standalone(folder):
    return [RELEASE / "rtm-standalone", *flags(
        listen="127.0.0.1:7950", admin="127.0.0.1:7951", data=folder / "data", threads=1, log_level="warning")]


def attack(name, port):
    os.nice(NICE)
    os.sched_setaffinity(0, {1})
    ATTACKS[name](port)


def memory_mb(server):
    lines = open(f"/proc/{server.process.pid}/status").read().splitlines()
    return round(int(next(line.split()[1] for line in lines if line.startswith("VmHWM:"))) / 1024)


def witness(server, prefix, core=LOAD_CORE):
    done = server.generate(*WITNESS, "--prefix", f"{prefix}-{core}", timeout=60 + 2 * SECONDS, core=core)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"failure": (done.stdout + done.stderr)[-200:].strip()}


def p99_ms(result):
    return result["arrival_us"]["p99"] / 1000


def faults(quiet, watches):
    """What the witness has to complain about."""
    failures = [watch["failure"] for watch in watches if "failure" in watch]
    if failures:
        return failures
    found = [f"{watch[kind]} {kind}" for watch in watches for kind in ("lost", "gaps", "repeats", "foreign", "ended") if watch[kind]]
    if min(map(p99_ms, watches)) > max(P99_MS_MAX, P99_RATIO_MAX * p99_ms(quiet)):
        found.append(f"p99 above {P99_MS_MAX} ms")
    return found


def measure(name):
    server = Server("attacked", "heliograph", 7950, standalone, admin=7951)
    server.start()
    try:
        quiet = witness(server, f"{name}-quiet".replace("_", "-"))
        if "failure" in quiet:
            return [name, "", "", "", "", quiet["failure"]]
        attacker = multiprocessing.Process(target=attack, args=(name, server.port), daemon=True)
        attacker.start()
        time.sleep(1)
        watches = [witness(server, f"{name}-beside".replace("_", "-"), core) for core in (LOAD_CORE, SERVER_CORE)]
        attacker.kill()
        attacker.join()
        p99 = ["" if "failure" in watch else f"{p99_ms(watch):.1f}" for watch in watches]
        return [name, f"{p99_ms(quiet):.1f}", *p99, f"{memory_mb(server)}", ", ".join(faults(quiet, watches))]
    finally:
        server.stop()


def main():
    chosen = [name for name in os.environ.get("ONLY", "").split(",") if name] or list(ATTACKS)
    unknown = [name for name in chosen if name not in ATTACKS]
    if unknown:
        sys.exit(f"bench-attacks: there is no {unknown[0]}; there are {', '.join(ATTACKS)}")
    OUT.mkdir(parents=True, exist_ok=True)
    print("| attack | p99 in quiet, ms | on the attacker's core, ms | on the server's core, ms | memory at most, MB "
          "| what the witness complains about |")
    print("|---|---|---|---|---|---|")
    rows = []
    for name in chosen:
        rows.append(measure(name))
        print("| " + " | ".join(rows[-1]) + " |", flush=True)
    sys.exit(1 if any(row[-1] for row in rows) else 0)


if __name__ == "__main__":
    main()
