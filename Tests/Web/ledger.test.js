// docs/web-compatibility.md against the module that it is about.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import AgoraRTM, { RTM } from '../../Clients/web/src/agora-rtm.js';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const document = read('../../docs/web-compatibility.md');
const types = read('../../Clients/web/src/agora-rtm.d.ts');

/** The members in the table of a section. */
function listed(section) {
  const start = document.indexOf(`\n## ${section}\n`);
  assert.ok(start > 0, section);
  const end = document.indexOf('\n## ', start + 5);
  const body = document.slice(start, end < 0 ? undefined : end);
  return [...body.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name).sort();
}

const members = (value) => [
  ...new Set(
    [
      ...Object.getOwnPropertyNames(Object.getPrototypeOf(value)),
      ...Object.keys(value),
    ].filter((name) => name !== 'constructor'),
  ),
];
/** The fields of an interface in the types. */
const fields = (name) => {
  const body = types.slice(types.indexOf(`interface ${name} {`));
  // It may stand in a namespace, two spaces to the right.
  const ends = ['\n}', '\n  }'].map((end) => body.indexOf(end)).filter((index) => index >= 0);
  return [...body.slice(0, Math.min(...ends)).matchAll(/^ {2,4}(\w+)\??:/gm)].map(([, field]) => field);
};

class Socket {}
const rtm = new RTM('dev', 'alice', { server: 'ws://nowhere', WebSocket: Socket });

for (const [section, found] of [
  ['AgoraRTM', Object.keys(AgoraRTM)],
  ['RTM', members(rtm)],
  ['presence', members(rtm.presence)],
  ['storage', members(rtm.storage)],
  ['lock', members(rtm.lock)],
  ['history', members(rtm.history)],
  ['RTMStreamChannel', members(rtm.createStreamChannel('stage'))],
  ['Configuration', fields('RTMConfig')],
  ['Events', fields('RTMClientEventMap')],
]) {
  test(`${section} has the members that the document lists`, () => {
    assert.ok(found.length > 0);
    assert.deepEqual(listed(section), [...found].sort());
  });
}
