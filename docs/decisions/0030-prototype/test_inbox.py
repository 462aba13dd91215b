import random, threading, time
import psycopg, pytest
from support import *

@pytest.fixture(scope="module")
def db():
    with Database() as d: yield d
@pytest.fixture(autouse=True)
def clean(db):
    with db.connect() as c: c.execute("TRUNCATE heliograph.inbox, heliograph.inbox_batches, heliograph.batches")
def drainer(db): d = Drainer(db, "d"); d.take(lease=60, even_if_leased=True); return d
def texts(rows): return [p.decode() for _, _, p in rows]

def test_a_rollback_publishes_nothing_and_neither_does_one_to_a_savepoint(db):
    d = drainer(db)
    with db.connect() as c:
        c.execute("BEGIN"); publish(c, "gone"); c.execute("ROLLBACK")
        c.execute("BEGIN"); publish(c, "first"); c.execute("SAVEPOINT s"); publish(c, "gone too"); c.execute("ROLLBACK TO s")
        c.execute("SAVEPOINT t"); publish(c, "second"); c.execute("RELEASE t"); c.execute("COMMIT")
    assert texts(d.drain()) == ["first", "second"] and d.drain() == []

def test_a_transaction_with_more_savepoints_than_a_snapshot_holds_comes_whole_and_once(db):
    d = drainer(db); c, other = db.connect(), db.connect(); c.execute("BEGIN")
    for i in range(100): c.execute(f"SAVEPOINT s{i}"); publish(c, str(i))
    publish(other, "other"); assert texts(d.drain()) == ["other"]
    c.execute("COMMIT"); assert texts(d.drain()) == [str(i) for i in range(100)] and d.drain() == []

def test_a_slow_transaction_delays_itself_and_nobody_else_and_nothing_is_skipped(db):
    d = drainer(db); slow, c = db.connect(), db.connect()
    slow.execute("BEGIN"); slow_id = publish(slow, "slow")
    for i in range(200): publish(c, str(i))
    assert texts(d.drain()) == [str(i) for i in range(200)]
    # What others do: a cursor over ids has passed the slow row; rows below the oldest transaction are none at all.
    assert db.one("SELECT count(*) FROM heliograph.inbox WHERE id > %s", slow_id) == 200
    assert db.one("SELECT count(*) FROM heliograph.inbox WHERE xact < pg_snapshot_xmin(pg_current_snapshot())") == 0
    for i in range(200, 300): publish(c, str(i)); assert texts(d.drain()) == [str(i)]
    slow.execute("COMMIT")
    rows = d.drain(); assert texts(rows) == ["slow"] and rows[0][1] == slow_id
    assert rows[0][0] == 301, "sequences follow the order of publishing, not of ids"
    assert d.drain() == []

def test_a_slow_transaction_makes_no_drain_read_again_what_was_drained(db):
    d = drainer(db); slow, c = db.connect(), db.connect(); slow.execute("BEGIN"); publish(slow, "slow")
    c.execute("SELECT count(heliograph.heliograph_publish('app', 'c', 'x')) FROM generate_series(1, 20000)"); c.execute("ANALYZE heliograph.inbox")
    assert len(d.drain()) == 20000
    plan = "\n".join(r[0] for r in d.c.execute("EXPLAIN (ANALYZE, TIMING off) " + READ, dict(s=0, p=d.last()[1])).fetchall())
    visited = sum(int(l.split("Rows Removed by Filter: ")[1]) for l in plan.split("\n") if "Rows Removed" in l)
    assert visited < 100 and "Index" in plan, plan
    slow.execute("ROLLBACK")

def test_what_depends_on_a_commit_comes_behind_it_even_with_an_older_transaction_id(db):
    d = drainer(db); old, c = db.connect(), db.connect()
    old.execute("BEGIN"); old.execute("SELECT pg_current_xact_id()")   # It has written elsewhere before.
    publish(c, "cause"); publish(old, "effect"); old.execute("COMMIT")
    assert db.one("SELECT string_agg(convert_from(payload, 'UTF8'), ' ' ORDER BY xact, id) FROM heliograph.inbox") == "effect cause", "the order by transactions is wrong"
    assert texts(d.drain()) == ["cause", "effect"]

def test_the_order_of_ids_is_not_that_of_commits(db):
    d = drainer(db); a, b = db.connect(), db.connect()
    a.execute("BEGIN"); first = publish(a, "taken first"); second = publish(b, "committed first")
    assert first < second and texts(d.drain()) == ["committed first"]
    a.execute("COMMIT"); assert texts(d.drain()) == ["taken first"]

def test_a_later_owner_reads_the_same_batch_with_the_same_sequences(db):
    d = drainer(db); slow, c = db.connect(), db.connect(); slow.execute("BEGIN"); publish(slow, "slow")
    publish(c, "1"); publish(c, "2"); one = d.drain(); publish(c, "3"); slow.execute("COMMIT"); two = d.drain(); publish(c, "4")
    e = drainer(db)
    assert e.again(1) == one and e.again(2) == two and texts(e.drain()) == ["4"]
    with pytest.raises(Lost): d.write()

def test_a_batch_in_doubt_is_either_recorded_or_not(db):
    cutter = Cutter(db)
    for when in ("before", "after"):
        d = Drainer(db, "d", host=cutter.dir); d.take(lease=60, even_if_leased=True)
        with db.connect() as c: publish(c, when)
        cutter.when = when
        with pytest.raises(Doubt): d.drain()
        cutter.when = None; committed = d.settle(); assert committed == (when == "after")
        rows = d.again(d.last()[0]) if committed else Drainer.drain(d)
        assert texts(rows) == [when]

def test_a_crash_of_the_database_loses_and_repeats_nothing(db):
    d = drainer(db); c = db.connect(); publish(c, "drained"); one = d.drain(); publish(c, "waits")
    slow = db.connect(); slow.execute("BEGIN"); publish(slow, "dies with the database")
    db.kill(); db.start(); e = drainer(db)
    assert e.again(1) == one and texts(e.drain()) == ["waits"] and e.drain() == []

@pytest.mark.parametrize("seed", range(3))
def test_random_transactions_come_exactly_once_in_the_order_of_their_causes(db, seed):
    """Writers with savepoints, rollbacks and pauses, chains of causes, and owners that change between drains."""
    got, committed, causes, stop, lock = [], set(), [], threading.Event(), threading.Lock()
    latest = [None]
    def writer(n):
        r = random.Random(seed * 100 + n); c = db.connect()
        for k in range(60):
            c.execute("BEGIN"); mine = []; ends = r.random()
            if r.random() < 0.3: c.execute("SELECT pg_current_xact_id()")
            if r.random() < 0.3: time.sleep(r.random() * 0.01)
            with lock: before = latest[0]
            for m in range(r.randint(1, 3)):
                name = f"{n}.{k}.{m}"; undone = r.random() < 0.2
                if undone: c.execute("SAVEPOINT s")
                publish(c, name)
                if undone: c.execute("ROLLBACK TO s")
                else: mine.append(name)
            if ends < 0.1: time.sleep(0.05)
            c.execute("ROLLBACK" if 0.1 < ends < 0.25 else "COMMIT")
            if 0.1 < ends < 0.25: continue
            with lock:
                committed.update(mine)
                if before and mine: causes.append((before, mine[0]))
                if mine: latest[0] = mine[-1]
    def draining():
        r = random.Random(seed); d = drainer(db)
        while True:
            last = stop.is_set(); rows = d.drain(); got.extend(rows)
            if rows and r.random() < 0.1:
                d = drainer(db); assert d.again(d.last()[0]) == rows
            if last and not rows: return
    drain = threading.Thread(target=draining); drain.start()
    writers = [threading.Thread(target=writer, args=(n,)) for n in range(8)]
    for t in writers: t.start()
    for t in writers: t.join()
    stop.set(); drain.join()
    names = texts(got); place = {n: i for i, n in enumerate(names)}
    assert sorted(names) == sorted(committed) and [s for s, _, _ in got] == list(range(1, len(got) + 1))
    for cause, effect in causes: assert place[cause] < place[effect], (cause, effect)
