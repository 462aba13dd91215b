"""The database fails over to a synchronous standby under load: nothing acknowledged is missing, and an inbox goes on
where it was, though transaction numbers that the old primary had given out are used again."""
import pytest
from support import *
from test_owner import COUNT, count
from test_inbox import texts

class Standby(Database):
    def __init__(self, primary):
        self.dir = tempfile.mkdtemp(prefix="pg", dir=None); shutil.chown(self.dir, USER); self.primary = primary
        self.sh(f"{BIN}/pg_basebackup -h {primary.dir} -U helio -D {self.dir}/data -R -X stream -c fast")
        with open(f"{self.dir}/data/postgresql.auto.conf", "a") as f:
            f.write(f"unix_socket_directories = '{self.dir}'\nprimary_conninfo = 'host={primary.dir} user=helio application_name=s'\nsynchronous_standby_names = ''\n")
        self.start()
    def promote(self): self.sh(f"{BIN}/pg_ctl -D {self.dir}/data -w promote")

@pytest.mark.parametrize("round_", range(2))
def test_a_failover_to_a_synchronous_standby_loses_and_repeats_nothing(round_):
    with Database(max_wal_senders="4") as old, Standby(old) as new:
        old.set("synchronous_standby_names", "s")
        eventually(lambda: old.one("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1)
        a = Owner(old, "a", shard=1); a.take(even_if_leased=True); d = Drainer(old, "d"); d.take(even_if_leased=True)
        acknowledged, published, got, stop = [0], [], [], threading.Event()
        def writing():
            try:
                while True: a.write((COUNT, ())); acknowledged[0] += 1
            except (Doubt, psycopg.Error): pass
        def publishing(n):
            try:
                c = old.connect()
                for k in range(100000):
                    c.execute("BEGIN"); name = f"{n}.{k}"; publish(c, name)
                    if k % 7 == 0: publish(c, "x"); c.execute("ROLLBACK"); continue
                    c.execute("COMMIT"); published.append(name)
            except psycopg.Error: pass
        def draining():
            try:
                while True: got.extend(d.drain())
            except (Doubt, psycopg.Error): pass
        threads = [threading.Thread(target=writing), threading.Thread(target=draining)] + [threading.Thread(target=publishing, args=(n,)) for n in range(4)]
        for t in threads: t.start()
        time.sleep(1.0); old.kill()
        for t in threads: t.join()
        new.promote()
        b = Owner(new, "b", shard=1); b.take(even_if_leased=True)
        assert b.batch - a.batch in (0, 1) and count(new) == acknowledged[0] + (b.batch - a.batch)
        e = Drainer(new, "e"); e.take(even_if_leased=True); number = e.last()[0]
        recorded = [r for k in range(1, number + 1) for r in e.again(k)]
        assert recorded[:len(got)] == got, "what was drained is the same at the new primary"
        with new.connect() as c:
            for k in range(50): publish(c, f"new.{k}")
        everything = recorded + e.drain(); names = texts(everything)
        assert len(set(names)) == len(names) and set(published) <= set(names) and "new.49" in names
        assert [s for s, _, _ in everything] == list(range(1, len(everything) + 1)) and "x" not in names
        print("acknowledged", acknowledged[0], "published", len(published), "drained before", len(got), "in all", len(names))
