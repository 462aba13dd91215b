"""A PostgreSQL of the test's own, a proxy that cuts connections, and an owner as decision 0030 describes it."""
import os, pathlib, select, shutil, socket, struct, subprocess, tempfile, threading, time
import psycopg
from psycopg import errors

BIN = pathlib.Path("/usr/lib/postgresql/15/bin")
USER = "postgres"
SCHEMA = (pathlib.Path(__file__).parent / "schema.sql").read_text()
FENCE = """WITH f AS (SELECT 1 FROM heliograph.shards WHERE shard = %(s)s AND term = %(t)s FOR UPDATE),
 b AS (INSERT INTO heliograph.batches (shard, batch, hour, term, counter) SELECT %(s)s, %(b)s,
   extract(epoch FROM clock_timestamp())::int8 / 3600, %(t)s, %(c)s FROM f RETURNING 1) SELECT 1 / count(*) FROM b"""
READ = """WITH n AS (SELECT * FROM heliograph.inbox WHERE shard = %(s)s AND xact >= pg_snapshot_xmax(%(p)s::pg_snapshot)
  UNION ALL SELECT i.* FROM pg_snapshot_xip(%(p)s::pg_snapshot) AS x (xact) CROSS JOIN LATERAL
   (SELECT * FROM heliograph.inbox WHERE shard = %(s)s AND xact BETWEEN x.xact AND x.xact) i)
 SELECT pg_current_snapshot()::text, id, channel, payload FROM n ORDER BY id"""
AGAIN = READ.replace("FROM n ORDER", "FROM n WHERE pg_visible_in_snapshot(xact, %(q)s::pg_snapshot) ORDER")
EMPTY = "1:1:"


class Database:
    def __init__(self, **options):
        self.dir = tempfile.mkdtemp(prefix="pg", dir=None)
        shutil.chown(self.dir, USER)
        self.options = {"fsync": "on", "listen_addresses": "''", "unix_socket_directories": self.dir,
                        "max_connections": "100", "deadlock_timeout": "100ms", **options}
        self.sh(f"{BIN}/initdb -D {self.dir}/data -A trust -U helio --locale=C -E UTF8")
        with open(f"{self.dir}/data/postgresql.auto.conf", "a") as f:
            for k, v in self.options.items(): f.write(f"{k} = {v}\n" if v.startswith("'") else f"{k} = '{v}'\n")
        self.start()
        with self.connect() as c: c.execute(SCHEMA)

    def sh(self, line): subprocess.run(["su", USER, "-c", line], check=True, stdout=subprocess.DEVNULL)
    def start(self): self.sh(f"{BIN}/pg_ctl -D {self.dir}/data -w -l {self.dir}/log start")
    def kill(self): self.sh(f"{BIN}/pg_ctl -D {self.dir}/data -w -m immediate stop")
    def set(self, name, value):
        with self.connect() as c: c.execute(f"ALTER SYSTEM SET {name} = '{value}'"); c.execute("SELECT pg_reload_conf()")
        eventually(lambda: self.one(f"SHOW {name}") == value)
    def connect(self, host=None, **kw):
        return psycopg.connect(host=host or self.dir, user="helio", dbname="postgres", autocommit=True, **kw)
    def one(self, sql, *p):
        with self.connect() as c: return c.execute(sql, p).fetchone()[0]
    def __enter__(self): return self
    def __exit__(self, *_):
        try: self.kill()
        except subprocess.CalledProcessError: pass   # The test has killed it already.
        finally: shutil.rmtree(self.dir, ignore_errors=True)


def eventually(check, seconds=10):
    end = time.time() + seconds
    while not check():
        assert time.time() < end, "it did not happen in time"
        time.sleep(0.01)


class Cutter:
    """Between a client and the database. `when`: "before" loses a COMMIT, "after" loses the answer to it."""
    def __init__(self, db):
        self.dir = tempfile.mkdtemp(prefix="cut", dir=None); self.db = db; self.when = None; self.seen = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX); self.listener.bind(self.dir + "/.s.PGSQL.5432"); self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()
    def accept(self):
        while True:
            client, _ = self.listener.accept(); server = socket.socket(socket.AF_UNIX); server.connect(self.db.dir + "/.s.PGSQL.5432")
            threading.Thread(target=self.pump, args=(client, server), daemon=True).start()
    def pump(self, client, server):
        cutting = False
        while True:
            ready, _, _ = select.select([client, server], [], [])
            if client in ready:
                data = client.recv(65536)
                if not data: server.close(); return
                if self.when and b"COMMIT" in data:
                    self.seen.set()
                    if self.when == "before": client.close(); server.close(); return
                    cutting = True
                server.sendall(data)
                if cutting: client.close(); server.recv(65536); server.close(); return
            if server in ready:
                data = server.recv(65536)
                if not data: client.close(); return
                client.sendall(data)


class Lost(Exception): "The term is no longer this owner's."
class Doubt(Exception): "Nobody knows whether the batch was committed."


class Owner:
    """An owner of a shard: it writes behind the fence, and settles doubt by a new term."""
    def __init__(self, db, name, shard=0, host=None):
        self.db, self.name, self.shard, self.host = db, name, shard, host
        self.c = db.connect(host); self.notices = []
        self.c.add_notice_handler(lambda d: self.notices.append(d.sqlstate))
        self.c.execute("SET idle_in_transaction_session_timeout = 500"); self.c.execute("SET lock_timeout = 1000")
        self.term = self.batch = self.counter = 0
    def take(self, lease=2.0, even_if_leased=False):
        row = self.c.execute("""UPDATE heliograph.shards SET owner = %s, follows = term, term = term + 1,
            lease_end = clock_timestamp() + %s * interval '1 s'
            WHERE shard = %s AND (%s OR lease_end < clock_timestamp()) RETURNING term""",
            (self.name, lease, self.shard, even_if_leased)).fetchone()
        if not row: return False
        self.term = row[0]
        # Behind the commit of the term, in a transaction of its own: its snapshot sees what the owner before did.
        row = self.c.execute("SELECT batch, counter FROM heliograph.batches WHERE shard = %s ORDER BY batch DESC LIMIT 1", (self.shard,)).fetchone()
        self.batch, self.counter = row or (0, 0)
        return True
    def write(self, *statements, pause=lambda: None):
        """One group: the fence first, then the statements, in one transaction."""
        self.notices.clear()
        try:
            self.c.execute("BEGIN")
            self.c.execute(FENCE, dict(s=self.shard, t=self.term, b=self.batch + 1, c=self.counter))
            for sql, p in statements: self.c.execute(sql, p)
            pause()
        except errors.DivisionByZero: self.c.execute("ROLLBACK"); raise Lost()
        try: self.c.execute("COMMIT")
        except psycopg.Error as e: raise Doubt() from e   # Whatever it says: only a later term knows.
        if "01000" in self.notices: raise Doubt("cancelled while it waited for a standby")
        self.batch += 1
    def settle(self):
        """Returns whether the batch in doubt was committed."""
        asked = self.batch + 1
        other = Owner(self.db, self.name, self.shard); other.take(even_if_leased=True)
        self.__dict__.update(other.__dict__)
        return self.batch >= asked


class Drainer(Owner):
    """Drains an inbox in batches. A batch is recorded before anything of it is published."""
    def last(self):
        row = self.c.execute("SELECT batch, snapshot::text, first_sequence + rows FROM heliograph.inbox_batches WHERE shard = %s ORDER BY batch DESC LIMIT 1", (self.shard,)).fetchone()
        return row or (0, EMPTY, 1)
    def drain(self):
        number, before, first = self.last()
        rows = self.c.execute(READ, dict(s=self.shard, p=before)).fetchall()
        if not rows: return []
        self.write(("INSERT INTO heliograph.inbox_batches VALUES (%s, %s, %s, %s, %s)",
                    (self.shard, number + 1, rows[0][0], first, len(rows))))
        return [(first + i, r[1], bytes(r[3])) for i, r in enumerate(rows)]
    def again(self, number):
        """What the batch had, as a later owner reads it."""
        (before,) = self.c.execute("SELECT coalesce((SELECT snapshot::text FROM heliograph.inbox_batches WHERE shard = %s AND batch = %s), %s)", (self.shard, number - 1, EMPTY)).fetchone()
        snapshot, first = self.c.execute("SELECT snapshot::text, first_sequence FROM heliograph.inbox_batches WHERE shard = %s AND batch = %s", (self.shard, number)).fetchone()
        rows = self.c.execute(AGAIN, dict(s=self.shard, p=before, q=snapshot)).fetchall()
        return [(first + i, r[1], bytes(r[3])) for i, r in enumerate(rows)]


def publish(c, text, channel="c"):
    return c.execute("SELECT heliograph.heliograph_publish('app', %s, %s)", (channel, text.encode())).fetchone()[0]
