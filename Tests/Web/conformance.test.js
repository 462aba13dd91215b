// The conformance suite of the protocol, which plays the server.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

function suite(able, ...what) {
  execFileSync('Tests/Python/setup.sh', { cwd: repository });
  const client = ['node', 'Tests/Web/support/conformance-client.js', ...what];
  const run = ['protocol/conformance/run.py', 'client', '--can', able, '--', ...client];
  const { status, stdout } = spawnSync('.build/python/bin/python', run, { cwd: repository, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  return Number(/(\d+) of \1 are right/.exec(stdout)[1]);
}

test('the scenarios of a client that receives and returns', () => {
  assert.ok(suite('receive,return', 'receive', '{server}', '{user}', '{channel}') >= 27);
});

test('the scenarios of a client that publishes once', () => {
  assert.ok(suite('publish,ends,once', 'publish', '{server}', '{user}', '{channel}', '{text}') >= 6);
});
