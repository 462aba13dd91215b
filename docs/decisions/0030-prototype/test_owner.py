import os, signal, subprocess, sys, threading, time
import psycopg, pytest
from psycopg import errors
from support import *

COUNT = "INSERT INTO heliograph.usage VALUES (0, 'app', 1, 0, 0) ON CONFLICT (shard, app) DO UPDATE SET channel_sets = usage.channel_sets + 1"
def count(db): return db.one("SELECT coalesce(sum(channel_sets), 0)::int FROM heliograph.usage")

@pytest.fixture(scope="module")
def db():
    with Database() as d: yield d

@pytest.fixture(autouse=True)
def clean(db):
    db.set("synchronous_standby_names", "")
    with db.connect() as c: c.execute("TRUNCATE heliograph.usage, heliograph.batches; UPDATE heliograph.shards SET lease_end = '-infinity'")

def test_a_lease_is_respected_and_a_later_owner_fences_the_one_before(db):
    a, b = Owner(db, "a"), Owner(db, "b")
    assert a.take(lease=0.3) and not b.take()
    a.write((COUNT, ()))
    eventually(b.take)
    assert (b.term, b.batch) == (a.term + 1, 1)
    with pytest.raises(Lost): a.write((COUNT, ()))
    b.write((COUNT, ()))
    assert count(db) == 2

def test_an_owner_that_is_paused_inside_its_transaction_loses_the_row_before_its_lease_ends(db):
    a, b = Owner(db, "a"), Owner(db, "b")
    a.take(lease=1.0)
    def paused(): time.sleep(1.5)   # The process stands still, and its transaction holds the row.
    outcome = []
    def run():
        try: a.write((COUNT, ()), pause=paused); outcome.append("written")
        except (Lost, Doubt): outcome.append("not written")
    t = threading.Thread(target=run); t.start()
    began = time.time(); eventually(b.take)
    assert time.time() - began < 1.4, "the lease was over and the row was still held"
    t.join(); assert outcome == ["not written"] and count(db) == 0

def test_a_process_that_is_stopped_and_continued_writes_nothing(db):
    p = subprocess.Popen([sys.executable, "-c", f"""
import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
from support import *
class D: dir = {db.dir!r}; connect = Database.connect
o = Owner(D(), 'stopped'); o.take(lease=0.5); print('owner', flush=True); sys.stdin.readline()
try: o.write(({COUNT!r}, ())); print('written')
except Lost: print('fenced')
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "owner\n"
    p.send_signal(signal.SIGSTOP)
    b = Owner(db, "b"); eventually(b.take); b.write((COUNT, ()))
    p.send_signal(signal.SIGCONT)
    assert p.communicate("go\n")[0] == "fenced\n" and count(db) == 1

def test_a_change_of_the_term_while_the_fence_waits_is_seen_by_the_fence(db):
    a = Owner(db, "a"); a.take()
    with db.connect() as c:
        c.execute("BEGIN"); c.execute("UPDATE heliograph.shards SET term = term + 1 WHERE shard = 0")
        outcome = []
        def run():
            try: a.write((COUNT, ())); outcome.append("written")
            except Lost: outcome.append("lost")
        t = threading.Thread(target=run); t.start()
        eventually(lambda: db.one("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == 1)
        c.execute("COMMIT"); t.join()
    assert outcome == ["lost"] and count(db) == 0

def test_in_a_pipeline_nothing_behind_a_lost_fence_is_committed(db):
    a, b = Owner(db, "a"), Owner(db, "b"); a.take(lease=0); b.take()
    with pytest.raises(errors.DivisionByZero), a.c.pipeline():
        a.c.execute("BEGIN"); a.c.execute(FENCE, dict(s=0, t=a.term, b=1, c=0)); a.c.execute(COUNT); a.c.execute("COMMIT")
    assert count(db) == 0

@pytest.mark.parametrize("when,committed", [("before", False), ("after", True)])
def test_a_commit_in_doubt_is_settled_by_a_new_term_and_the_last_batch(db, when, committed):
    cutter = Cutter(db); a = Owner(db, "a", host=cutter.dir); a.take(); a.write((COUNT, ()))
    cutter.when = when
    with pytest.raises(Doubt): a.write((COUNT, ()))
    assert a.settle() == committed
    assert count(db) == (2 if committed else 1)
    a.write((COUNT, ()))

def test_with_a_standby_that_is_down_a_commit_hangs_and_doubt_lasts_as_long(db):
    cutter = Cutter(db); a = Owner(db, "a", host=cutter.dir); a.take()
    db.set("synchronous_standby_names", "nobody"); cutter.when = "after"
    with pytest.raises(Doubt): a.write((COUNT, ()))
    with pytest.raises(errors.LockNotAvailable): a.settle()   # "The database stalls": the old transaction has the row.
    assert count(db) == 0
    db.set("synchronous_standby_names", "")
    def settled():
        try: return a.settle() or True
        except errors.LockNotAvailable: return False
    asked = a.batch; eventually(settled)
    assert a.batch == asked + 1 and count(db) == 1

def test_a_wait_for_a_standby_that_is_cancelled_reports_success_and_is_doubt(db):
    a = Owner(db, "a"); a.take(); db.set("synchronous_standby_names", "nobody")
    def cancel():
        eventually(lambda: db.one("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 1)
        db.one("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    t = threading.Thread(target=cancel); t.start()
    with pytest.raises(Doubt): a.write((COUNT, ()))
    t.join(); db.set("synchronous_standby_names", "")
    assert a.settle() and count(db) == 1

def test_the_database_is_killed_at_commits_and_what_was_acknowledged_is_there(db):
    acknowledged = 0; a = Owner(db, "a"); a.take(even_if_leased=True)
    for _ in range(3):
        stop = threading.Timer(0.15, db.kill); stop.start()
        try:
            while True: a.write((COUNT, ())); acknowledged += 1
        except (Doubt, psycopg.Error): pass
        stop.join(); db.start()
        if a.settle(): acknowledged += 1
        assert count(db) == acknowledged
    assert acknowledged > 3

def test_without_the_fence_two_owners_lose_an_update_and_with_it_none(db):
    """Reads come before the fence, in READ COMMITTED: an owner before reads, a later one writes, the first writes."""
    def race(fenced):
        a, b = Owner(db, "a"), Owner(db, "b"); a.take(lease=0, even_if_leased=True)
        with db.connect() as c: c.execute("TRUNCATE heliograph.usage; INSERT INTO heliograph.usage VALUES (0, 'app', 0, 0, 0)")
        seen = a.c.execute("SELECT channel_sets FROM heliograph.usage").fetchone()[0]
        b.take(even_if_leased=True); b.write(("UPDATE heliograph.usage SET channel_sets = 1", ()))
        put = ("UPDATE heliograph.usage SET channel_sets = %s", (seen + 1,))
        if not fenced: a.c.execute(*put); return count(db)
        with pytest.raises(Lost): a.write(put)
        return count(db)
    assert race(False) == 1, "two writers read 0, and one of the two additions is lost"
    assert race(True) == 1

def test_many_nodes_that_start_at_once_migrate_once(db):
    """The row of the version is locked first. Creating the schema itself may collide, and is repeated."""
    ran = []
    def migrate(i):
        for _ in range(20):
            try:
                with db.connect() as c:
                    c.execute("BEGIN"); c.execute("CREATE SCHEMA IF NOT EXISTS m")
                    c.execute("CREATE TABLE IF NOT EXISTS m.store (id int PRIMARY KEY, version int NOT NULL)")
                    c.execute("INSERT INTO m.store VALUES (1, 0) ON CONFLICT DO NOTHING")
                    found = c.execute("SELECT version FROM m.store WHERE id = 1 FOR UPDATE").fetchone()[0]
                    if found < 1: c.execute("CREATE TABLE m.step1 (i int)"); c.execute("UPDATE m.store SET version = 1"); ran.append(i)
                    c.execute("COMMIT"); return
            except (errors.UniqueViolation, errors.DuplicateSchema, errors.DuplicateTable, errors.InternalError_): continue
        ran.append("gave up")
    threads = [threading.Thread(target=migrate, args=(i,)) for i in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert len(ran) == 1 and ran[0] != "gave up"

def test_a_long_snapshot_does_not_grow_the_table_of_the_fence(db):
    a = Owner(db, "a"); a.take(lease=60)
    with db.connect() as held:
        held.execute("BEGIN ISOLATION LEVEL REPEATABLE READ"); held.execute("SELECT 1")
        before = db.one("SELECT pg_table_size('heliograph.shards')"); a.c.execute("SET synchronous_commit = off")
        for _ in range(2000): a.write()
        assert db.one("SELECT pg_table_size('heliograph.shards')") <= before + 8192
