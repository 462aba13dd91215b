// Drains the inbox of a shard in batches between two snapshots: reads, records the batch behind the fence, and
// only then counts its rows as drained. usage: drain CONNINFO SECONDS [SHARD] [POLL_MS] ; payload: seconds of the epoch.
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <time.h>
#include <poll.h>
#define DIE(...) do { fprintf(stderr, __VA_ARGS__); exit(1); } while (0)
static PGconn *c;
static double clk(int k) { struct timespec t; clock_gettime(k, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static PGresult *run(const char *n, int k, const char **v) { PGresult *r = PQexecPrepared(c, n, k, v, NULL, NULL, 0); ExecStatusType s = PQresultStatus(r); if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK) DIE("%s: %s", n, PQerrorMessage(c)); return r; }
static void prep(const char *n, const char *s) { PGresult *r = PQprepare(c, n, s, 0, NULL); if (PQresultStatus(r) != PGRES_COMMAND_OK) DIE("%s", PQerrorMessage(c)); PQclear(r); }
static int cmp(const void *a, const void *b) { double d = *(double *)a - *(double *)b; return d < 0 ? -1 : d > 0; }
int main(int argc, char **argv) {
  double secs = atof(argv[2]); const char *shard = argc > 3 ? argv[3] : "0"; int pollms = argc > 4 ? atoi(argv[4]) : 2;
  c = PQconnectdb(argv[1]); if (PQstatus(c) != CONNECTION_OK) DIE("%s", PQerrorMessage(c));
  prep("take", "UPDATE heliograph.shards SET owner = 'drain', follows = term, term = term + 1, lease_end = clock_timestamp() + interval '10 s' WHERE shard = $1 RETURNING term, (SELECT coalesce(max(batch), 0) FROM heliograph.batches b WHERE b.shard = $1)");
  prep("last", "SELECT batch, snapshot, first_sequence + rows FROM heliograph.inbox_batches WHERE shard = $1 ORDER BY batch DESC LIMIT 1");
  prep("read", "WITH n AS (SELECT * FROM heliograph.inbox WHERE shard = $1 AND xact >= pg_snapshot_xmax($2::pg_snapshot) UNION ALL SELECT i.* FROM pg_snapshot_xip($2::pg_snapshot) AS x (xact) CROSS JOIN LATERAL (SELECT * FROM heliograph.inbox WHERE shard = $1 AND xact BETWEEN x.xact AND x.xact) i) SELECT pg_current_snapshot(), n.id, n.app, n.channel, n.payload, n.type, n.custom_type, n.publisher FROM n ORDER BY id LIMIT 20000");
  prep("count", "WITH n AS (SELECT * FROM heliograph.inbox WHERE shard = $1 AND xact >= pg_snapshot_xmax($2::pg_snapshot) UNION ALL SELECT i.* FROM pg_snapshot_xip($2::pg_snapshot) AS x (xact) CROSS JOIN LATERAL (SELECT * FROM heliograph.inbox WHERE shard = $1 AND xact BETWEEN x.xact AND x.xact) i) SELECT count(*) FROM n WHERE pg_visible_in_snapshot(xact, $3::pg_snapshot)");
  prep("page", "WITH n AS (SELECT * FROM heliograph.inbox WHERE shard = $1 AND xact >= pg_snapshot_xmax($2::pg_snapshot) UNION ALL SELECT i.* FROM pg_snapshot_xip($2::pg_snapshot) AS x (xact) CROSS JOIN LATERAL (SELECT * FROM heliograph.inbox WHERE shard = $1 AND xact BETWEEN x.xact AND x.xact) i) SELECT pg_current_snapshot(), n.id, n.app, n.channel, n.payload, n.type, n.custom_type, n.publisher FROM n WHERE pg_visible_in_snapshot(xact, $3::pg_snapshot) AND id > $4 ORDER BY id LIMIT 20000");
  prep("begin", "BEGIN"); prep("commit", "COMMIT");
  prep("fence", "WITH f AS (SELECT 1 FROM heliograph.shards WHERE shard = $1 AND term = $2 FOR UPDATE), b AS (INSERT INTO heliograph.batches (shard, batch, hour, term, counter) SELECT $1, $3, extract(epoch FROM clock_timestamp())::int8 / 3600, $2, 0 FROM f RETURNING 1) SELECT 1 / count(*) FROM b");
  prep("record", "INSERT INTO heliograph.inbox_batches VALUES ($1, $2, $3, $4, $5)");
  const char *a[5] = {shard}; PGresult *r = run("take", 1, a); char term[32], batch[32], snap[65536] = "1:1:", first[32], rows[32]; strcpy(term, PQgetvalue(r, 0, 0)); int64_t b = atoll(PQgetvalue(r, 0, 1)), k = 0, seq = 1; PQclear(r);
  r = run("last", 1, a); if (PQntuples(r)) { k = atoll(PQgetvalue(r, 0, 0)); strcpy(snap, PQgetvalue(r, 0, 1)); seq = atoll(PQgetvalue(r, 0, 2)); } PQclear(r);
  static double lat[4 << 20]; long n = 0, polls = 0, batches = 0, limit = 0; double start = clk(CLOCK_MONOTONIC), firstAt = 0, lastAt = 0;
  while (clk(CLOCK_MONOTONIC) - start < secs) {
    const char *v[2] = {shard, snap}; r = run("read", 2, v); polls++; int m = PQntuples(r);
    if (m == 20000) limit++;
    if (!m) { PQclear(r); poll(NULL, 0, pollms); continue; }
    static char before[65536]; strcpy(before, snap); int full = m == 20000;
    strcpy(snap, PQgetvalue(r, 0, 0)); if (!firstAt) firstAt = clk(CLOCK_MONOTONIC);
    char kk[32]; snprintf(batch, 32, "%lld", (long long)++b); snprintf(kk, 32, "%lld", (long long)++k); snprintf(first, 32, "%lld", (long long)seq); long total = m; if (full) { const char *cv[3] = {shard, before, snap}; PGresult *q = run("count", 3, cv); total = atol(PQgetvalue(q, 0, 0)); PQclear(q); } snprintf(rows, 32, "%ld", total); seq += total;
    PQclear(run("begin", 0, NULL)); const char *f[3] = {shard, term, batch}; PQclear(run("fence", 3, f));
    const char *w[5] = {shard, kk, snap, first, rows}; PQclear(run("record", 5, w)); PQclear(run("commit", 0, NULL)); batches++;
page:;
    double t = clk(CLOCK_REALTIME); lastAt = clk(CLOCK_MONOTONIC);
    for (int i = 0; i < m && n < (4 << 20); i++) { const char *p = PQgetvalue(r, i, 4) + 2; char d[64]; size_t l = strlen(p) / 2; if (l > 18) l = 18; for (size_t j = 0; j < l; j++) { char h[3] = {p[2 * j], p[2 * j + 1], 0}; d[j] = strtol(h, NULL, 16); } d[l] = 0; lat[n++] = t - atof(d); }
    if (m == 20000) { char id[32]; strcpy(id, PQgetvalue(r, m - 1, 1)); PQclear(r); const char *pv[4] = {shard, before, snap, id}; r = run("page", 4, pv); m = PQntuples(r); if (m) goto page; }
    PQclear(r);
  }
  qsort(lat, n, 8, cmp); if (!n) { printf("nothing drained, %ld polls\n", polls); return 0; }
  printf("drained %ld in %ld batches (%.0f a batch, limit reached %ld), %.0f/s, from the call of the function to drained p50 %.2f ms p90 %.2f ms p99 %.2f ms; %ld polls\n", n, batches, (double)n / batches, limit, n / (lastAt - firstAt), lat[n / 2] * 1e3, lat[n * 9 / 10] * 1e3, lat[n * 99 / 100] * 1e3, polls);
}
