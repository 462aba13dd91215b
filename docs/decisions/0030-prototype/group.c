// Measures writes of storage over libpq: one by one, and as groups in one transaction over unnest.
// usage: group CONNINFO MODE CALLERS SECONDS [SHARD]
//   bare     one UPDATE … WHERE revision = $n for each caller, in autocommit (no event, no fence)
//   one      the whole of a write, one caller per transaction, a round trip for each statement
//   group    all callers in one transaction: read, fence, metadata, channels, outbox, commit; pipeline mode
//   cached   the same without the read: the owner knows the sets as long as its term holds
//   plain    as group, a round trip for each statement
//   histone, hist   history appends, one by one and as groups
// Callers are a closed loop: each has one write under way. One in 16 compares a wrong revision and is refused.
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <time.h>
#include <poll.h>
#define DIE(...) do { fprintf(stderr, __VA_ARGS__); exit(1); } while (0)
static PGconn *c; static int shard = 0, N, pipe_ = 1; static int64_t term; static long done, refused, batch;
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
typedef struct { char *p; size_t n, cap; } S;
static void add(S *s, const char *t) { size_t l = strlen(t); if (s->n + l + 1 > s->cap) { s->cap = (s->n + l + 1) * 2; s->p = realloc(s->p, s->cap); } memcpy(s->p + s->n, t, l + 1); s->n += l; }
static void num(S *s, int64_t v) { char b[32]; snprintf(b, 32, "%lld", (long long)v); add(s, b); }
static void begin(S *s) { s->n = 0; add(s, "{"); }
static void next(S *s) { if (s->n > 1) add(s, ","); }
static void end(S *s) { add(s, "}"); }
static const char *stmts[][2] = {
 {"begin", "BEGIN"}, {"commit", "COMMIT"},
 // Fails where the term isn't the owner's, so that nothing behind it in the pipeline can be committed.
 {"fence", "WITH f AS (SELECT 1 FROM heliograph.shards WHERE shard = $1 AND term = $2 FOR UPDATE), b AS (INSERT INTO heliograph.batches (shard, batch, hour, term, counter) SELECT $1, $3, extract(epoch FROM clock_timestamp())::int8 / 3600, $2, $4 FROM f RETURNING 1) SELECT 1 / count(*) FROM b"},
 {"read", "SELECT c.id, c.metadata_revision, m.key, m.value, m.revision, m.place FROM unnest($2::text[], $3::smallint[], $4::text[]) AS k (app, type, name) JOIN heliograph.channels c ON c.shard = $1 AND c.app = k.app AND c.type = k.type AND c.name = k.name LEFT JOIN heliograph.metadata m ON m.shard = c.shard AND m.channel = c.id"},
 {"metadata", "INSERT INTO heliograph.metadata (shard, channel, key, place, value, revision, updated_ms, author) SELECT $1, u.* FROM unnest($2::int8[], $3::text[], $4::int8[], $5::bytea[], $6::int8[], $7::int8[], $8::text[]) u ON CONFLICT (shard, channel, key) DO UPDATE SET value = excluded.value, revision = excluded.revision, updated_ms = excluded.updated_ms, author = excluded.author"},
 {"channels", "UPDATE heliograph.channels c SET metadata_revision = u.revision FROM unnest($2::int8[], $3::int8[]) AS u (id, revision) WHERE c.shard = $1 AND c.id = u.id"},
 {"outbox", "INSERT INTO heliograph.outbox (shard, sequence, hour, source, channel, publisher, feature, event) SELECT $1, u.sequence, $2, $3, u.channel, u.publisher, 1, u.event FROM unnest($4::int8[], $5::int8[], $6::text[], $7::bytea[]) AS u (sequence, channel, publisher, event)"},
 {"history", "INSERT INTO heliograph.history (shard, channel, timestamp_ms, expiry_ms, publisher, type, custom_type, payload, instance, sequence) SELECT $1, u.channel, u.t, u.t + 604800000, u.publisher, 1, '', u.payload, u.instance, u.sequence FROM unnest($2::int8[], $3::int8[], $4::text[], $5::bytea[], $6::int8[], $7::int8[]) AS u (channel, t, publisher, payload, instance, sequence) WHERE (SELECT count(*) FROM (SELECT 1 FROM heliograph.history h WHERE h.shard = $1 AND h.channel = u.channel AND h.instance = u.instance AND h.sequence = u.sequence AND h.expiry_ms BETWEEN u.t + 604200000 AND u.t + 605400000 LIMIT 1) x) = 0 ON CONFLICT DO NOTHING"},
 {"husage", "INSERT INTO heliograph.history_usage AS h VALUES ($1, 'app', $2, $3) ON CONFLICT (shard, app, expiry_hour) DO UPDATE SET bytes = h.bytes + excluded.bytes"},
 {"bare", "UPDATE heliograph.metadata SET value = $4, revision = $3 + 1 WHERE shard = $1 AND channel = $2 AND key = 'k' AND revision = $3"},
 {"take", "UPDATE heliograph.shards SET owner = 'bench', follows = term, term = term + 1, lease_end = clock_timestamp() + interval '10 s' WHERE shard = $1 RETURNING term, (SELECT coalesce(max(batch), 0) FROM heliograph.batches b WHERE b.shard = $1), (SELECT coalesce(max(counter), 0) FROM heliograph.batches b WHERE b.shard = $1)"},
};
static int queued;
static PGresult *one(void) { PGresult *r = PQgetResult(c); if (!r) DIE("no result\n"); ExecStatusType s = PQresultStatus(r); if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK && s != PGRES_PIPELINE_SYNC) DIE("%s", PQerrorMessage(c)); return r; }
static PGresult *last;
static void run(const char *name, int n, const char **v) {
  if (pipe_) { if (!PQsendQueryPrepared(c, name, n, v, NULL, NULL, 0)) DIE("%s", PQerrorMessage(c)); queued++; return; }
  PGresult *r = PQexecPrepared(c, name, n, v, NULL, NULL, 0);
  if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK) DIE("%s: %s", name, PQerrorMessage(c));
  if (last) PQclear(last); last = r;
}
static void drain(void) { // Reads while it writes, or both sides would wait for each other.
  if (!pipe_) return;
  PQpipelineSync(c);
  for (;;) { int f = PQflush(c); if (f < 0) DIE("flush\n"); if (!f) break;
    struct pollfd p = {PQsocket(c), POLLIN | POLLOUT, 0}; poll(&p, 1, -1); if (p.revents & POLLIN) PQconsumeInput(c); }
  while (queued) { PGresult *r = PQgetResult(c); if (!r) continue; ExecStatusType s = PQresultStatus(r);
    if (s == PGRES_PIPELINE_SYNC) DIE("early sync\n");
    if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK) DIE("pipeline: %s", PQresultErrorMessage(r));
    if (s == PGRES_TUPLES_OK) { if (last) PQclear(last); last = r; } else PQclear(r);
    queued--; while ((r = PQgetResult(c))) PQclear(r); }
  PGresult *r; while (!(r = PQgetResult(c))) ; if (PQresultStatus(r) != PGRES_PIPELINE_SYNC) DIE("no sync\n"); PQclear(r);
}
static char *I(int64_t v) { static char b[16][32]; static int i; i = (i + 1) & 15; snprintf(b[i], 32, "%lld", (long long)v); return b[i]; }
int main(int argc, char **argv) {
  const char *mode = argv[2]; N = atoi(argv[3]); double secs = atof(argv[4]); if (argc > 5) shard = atoi(argv[5]);
  int cachedMode = !strcmp(mode, "cached"), hist = !strncmp(mode, "hist", 4), ones = !strcmp(mode, "one") || !strcmp(mode, "histone"), bare = !strcmp(mode, "bare");
  pipe_ = !(ones || bare || !strcmp(mode, "plain"));
  c = PQconnectdb(argv[1]); if (PQstatus(c) != CONNECTION_OK) DIE("%s", PQerrorMessage(c));
  for (size_t i = 0; i < sizeof stmts / sizeof *stmts; i++) { PGresult *r = PQprepare(c, stmts[i][0], stmts[i][1], 0, NULL); if (PQresultStatus(r) != PGRES_COMMAND_OK) DIE("%s: %s", stmts[i][0], PQerrorMessage(c)); PQclear(r); }
  const char *t[1] = {I(shard)}; PGresult *r = PQexecPrepared(c, "take", 1, t, NULL, NULL, 0); term = atoll(PQgetvalue(r, 0, 0)); batch = atol(PQgetvalue(r, 0, 1)); int64_t counter = atoll(PQgetvalue(r, 0, 2)); PQclear(r);
  int64_t *rev = calloc(N, 8); char value[600]; value[0] = '\\'; value[1] = 'x'; memset(value + 2, 'a', 512); value[514] = 0; // 256 bytes
  char q[400]; snprintf(q, 400, "DELETE FROM heliograph.metadata WHERE shard = %d; DELETE FROM heliograph.channels WHERE shard = %d; INSERT INTO heliograph.channels SELECT %d, i, 'app', 1, 'channel' || i, 1 FROM generate_series(0, %d) i; INSERT INTO heliograph.metadata SELECT %d, i, 'k', 1, 'v', 1, 0, '' FROM generate_series(0, %d) i", shard, shard, shard, N - 1, shard, N - 1);
  PQclear(PQexec(c, q)); PQclear(PQexec(c, "VACUUM ANALYZE heliograph.metadata, heliograph.channels, heliograph.shards"));
  for (int i = 0; i < N; i++) rev[i] = 1;
  if (pipe_) { PQsetnonblocking(c, 1); PQenterPipelineMode(c); }
  S s[8] = {0}; static double lat[1 << 20]; double start = now(); long groups = 0; int64_t seq = counter, hseq = (int64_t)(start * 1000) ; uint64_t x = 88172645463325252ull;
  int64_t hour = time(NULL) / 3600; char source[] = "77";
  while (now() - start < secs) {
    double g0 = now();
    int from = 0, to = N; if (ones || bare) { from = groups % N; to = from + 1; }
    if (bare) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; int64_t e = rev[from] + (x % 16 == 0);
      const char *v[4] = {I(shard), I(from), I(e), value}; run("bare", 4, v); if (atoi(PQcmdTuples(last))) { rev[from]++; done++; } else refused++;
    } else if (hist) {
      run("begin", 0, NULL); const char *f[4] = {I(shard), I(term), I(++batch), I(seq)}; run("fence", 4, f);
      for (int k = 0; k < 6; k++) begin(s + k); int64_t ms = (int64_t)time(NULL) * 1000;
      for (int i = from; i < to; i++) { for (int k = 0; k < 6; k++) next(s + k); num(s, i); num(s + 1, hseq++ + ms * 0); add(s + 2, "publisher"); add(s + 3, "\"\\"); add(s + 3, value); add(s + 3, "\""); num(s + 4, 1000 + i); num(s + 5, hseq); done++; }
      for (int k = 0; k < 6; k++) end(s + k);
      const char *v[7] = {I(shard), s[0].p, s[1].p, s[2].p, s[3].p, s[4].p, s[5].p}; run("history", 7, v);
      const char *u[3] = {I(shard), I(hour), I((to - from) * 329)}; run("husage", 3, u);
      run("commit", 0, NULL); drain();
    } else {
      if (!cachedMode) { for (int k = 0; k < 3; k++) begin(s + k);
        for (int i = from; i < to; i++) { for (int k = 0; k < 3; k++) next(s + k); add(s, "app"); add(s + 1, "1"); add(s + 2, "channel"); num(s + 2, i); }
        for (int k = 0; k < 3; k++) end(s + k); const char *v[4] = {I(shard), s[0].p, s[1].p, s[2].p}; run("read", 4, v); drain();
        if (PQntuples(last) != to - from) DIE("%d rows of %d\n", PQntuples(last), to - from);
        for (int i = 0; i < to - from; i++) rev[atoi(PQgetvalue(last, i, 0))] = atoll(PQgetvalue(last, i, 1)); }
      for (int k = 0; k < 8; k++) begin(s + k); int any = 0; S ids = {0}; static S o[4]; for (int k = 0; k < 4; k++) begin(o + k);
      for (int i = from; i < to; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; if (x % 16 == 0) { refused++; continue; } // The rules refuse it.
        any = 1; for (int k = 0; k < 7; k++) next(s + k); for (int k = 0; k < 4; k++) next(o + k); rev[i]++; seq++; done++;
        num(s, i); add(s + 1, "k"); add(s + 2, "1"); add(s + 3, "\"\\"); add(s + 3, value); add(s + 3, "\""); num(s + 4, rev[i]); add(s + 5, "0"); add(s + 6, "\"\"");
        num(o, seq); num(o + 1, i); add(o + 2, "user"); add(o + 3, "\"\\"); add(o + 3, value); add(o + 3, "\""); }
      (void)ids; for (int k = 0; k < 7; k++) end(s + k); for (int k = 0; k < 4; k++) end(o + k);
      if (any) { run("begin", 0, NULL); const char *f[4] = {I(shard), I(term), I(++batch), I(seq)}; run("fence", 4, f);
        const char *m[8] = {I(shard), s[0].p, s[1].p, s[2].p, s[3].p, s[4].p, s[5].p, s[6].p}; run("metadata", 8, m);
        const char *ch[3] = {I(shard), s[0].p, s[4].p}; run("channels", 3, ch);
        const char *ob[7] = {I(shard), I(hour), source, o[0].p, o[1].p, o[2].p, o[3].p}; run("outbox", 7, ob);
        run("commit", 0, NULL); drain(); }
    }
    if (groups < (1 << 20)) lat[groups] = now() - g0; groups++;
  }
  double took = now() - start; long n = groups < (1 << 20) ? groups : 1 << 20;
  int cmp(const void *a, const void *b) { double d = *(double *)a - *(double *)b; return d < 0 ? -1 : d > 0; } qsort(lat, n, 8, cmp);
  printf("%-8s callers %3d: %8.0f writes/s, %7.0f refused/s, %6.0f transactions/s, p50 %.2f ms, p99 %.2f ms\n", mode, N, done / took, refused / took, groups / took, lat[n / 2] * 1e3, lat[n * 99 / 100] * 1e3);
}
