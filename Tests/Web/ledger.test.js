// docs/web-compatibility.md against the module that it is about.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Part } from '../../Clients/web/src/agora-common.js';
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

/** The names of a value and of its classes, without those that all parts share. */
function members(value) {
  const names = new Set(Object.keys(value));
  for (let one = Object.getPrototypeOf(value); !inherited.has(one); one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) names.add(name);
  }
  names.delete('constructor');
  return [...names];
}
/** The fields of an interface in the types. */
const fields = (name) => {
  const body = types.slice(types.indexOf(`interface ${name} {`));
  // It may stand in a namespace, two spaces to the right.
  const ends = ['\n}', '\n  }'].map((end) => body.indexOf(end)).filter((index) => index >= 0);
  return [...body.slice(0, Math.min(...ends)).matchAll(/^ {2,4}(\w+)\??:/gm)].map(([, field]) => field);
};

class Socket {}
const inherited = new Set([Part.prototype, Object.prototype]);
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
