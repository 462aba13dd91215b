// What an hour does to a tab (`make soak WHAT=web`): the console's live tail and the sample, each in a tab, follow a channel with
// 50 messages a second. Every ten minutes the server stands still for 20 seconds, or the tabs lose their connections for as
// long, in turn. Every three minutes each tab's memory is written down, behind a collection of garbage.
//
//   MINUTES=60   how long; one of less than 20 says nothing about memory
//
// It fails if memory grows after the first ten minutes, or if the tail lost or doubled a message.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBrowser, startFiles } from './support/browser.js';
import { startConsole } from './support/console.js';
import { freePort, keyFile, withControls } from './support/operator.js';
import { startStandalone, startWire, WebSocket } from './support/programs.js';
import { RTMClient } from '../../Clients/web/src/index.js';

const minutes = Number(process.env.MINUTES ?? 60);
const warmUp = 10;
const accidentEvery = Math.min(10, minutes / 3);
const measureEvery = Math.min(3, minutes / 6);
/** Above these an hour makes a tab larger: KiB, nodes, listeners. A leak of 8 bytes a message would be 1,400 KiB. */
const growthMax = { heap: 1024, nodes: 1000, listeners: 10 };
const channel = 'hour';

const edge = `127.0.0.1:${await freePort()}`;
const wire = await startWire(`ws://${edge}/rtm`);
const { key, config } = keyFile('*/admin');
const server = await startStandalone({
  config,
  'edge-web-socket-listen': edge,
  'gateway-console-edges': wire.url,
  'rates-unlimited': true,
});
const site = await startConsole({ gateway: server.listening.gateway, edge: wire.url });
const files = await startFiles();
const browser = await startBrowser();

const begin = Date.now();
const say = (text) => console.log(`${((Date.now() - begin) / 60_000).toFixed(1).padStart(5)} min  ${text}`);

// MARK: Tabs

async function open(url, ready) {
  const tab = withControls(await browser.open(url));
  for (const domain of ['Performance', 'HeapProfiler']) await tab.send(`${domain}.enable`);
  // Both are in front, so that neither is slowed down.
  await tab.send('Emulation.setFocusEmulationEnabled', { enabled: true });
  await tab.until(ready);
  assert.equal(await tab.evaluate('document.hidden'), false);
  return tab;
}

const tail = await open(`${site.url}/console/`, "document.querySelector('[name=key]')");
await tail.login(key);
await tail.go('tail', { channel });
await tail.shows('quietly.');
const sample = await open(
  `${files.url}/sample/?${new URLSearchParams({ server: wire.url, user: 'reader', channel })}`,
  "document.querySelector('#login [name=user]')?.value",
);
await sample.evaluate("document.querySelector('#login').requestSubmit()");
await sample.until("document.querySelector('#users').children.length > 0");
const tabs = { tail, sample };

// MARK: Messages

const publisher = new RTMClient({ server: server.url, appId: 'dev', userId: 'publisher', WebSocket });
await publisher.login();
let count = 0;
let unanswered = 0;
let failed = 0;
/** The first message's offset is one more. */
let before;
/** Five at a time, while there is a connection, and while fewer than 500 wait for a server that stands still. */
const publish = setInterval(() => {
  if (publisher.state !== 'connected' || unanswered > 500) return;
  for (let index = 0; index < 5; index++) {
    unanswered++;
    publisher
      .publish(channel, `message ${++count} ${'.'.repeat(80)}`)
      .then(({ offset }) => (before ??= offset - 1))
      .catch(() => failed++)
      .finally(() => unanswered--);
  }
}, 100);

const read = async () => {
  const text = await tail.evaluate("document.querySelector('.counts').textContent");
  const number = (word) => Number((new RegExp(`([\\d,]+) ${word}`).exec(text)?.[1] ?? '0').replaceAll(',', ''));
  return { received: number('received'), shown: number('shown'), hidden: number('not shown') };
};

// MARK: Measuring

const measurements = [];

/** What the processes of pages have in memory in MiB, the largest first. Their names are not those of tabs. */
async function renderers() {
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
  const status = ({ id }) => readFileSync(`/proc/${id}/status`, 'utf8');
  const sizes = processInfo.filter(({ type }) => type === 'renderer').map((one) => /VmRSS:\s*(\d+)/.exec(status(one))[1] / 1024);
  return sizes.map(Math.round).sort((one, other) => other - one);
}

async function measure() {
  const row = { at: (Date.now() - begin) / 60_000 };
  for (const [name, tab] of Object.entries(tabs)) {
    for (let time = 0; time < 2; time++) await tab.send('HeapProfiler.collectGarbage');
    const { metrics } = await tab.send('Performance.getMetrics');
    const value = (metric) => metrics.find((one) => one.name === metric).value;
    row[name] = { heap: value('JSHeapUsedSize') / 1024, nodes: value('Nodes'), listeners: value('JSEventListeners') };
  }
  measurements.push(row);
  const about = ({ heap, nodes, listeners }) => `${heap.toFixed(0)} KiB, ${nodes} nodes, ${listeners} listeners`;
  const { received, hidden } = await read();
  const processes = (await renderers()).join(' + ');
  say(`tail ${about(row.tail)}; sample ${about(row.sample)}; ${received} received, ${hidden} not shown; ${processes} MiB`);
}

/** By how much it grows in an hour, by the least squares. */
function slope(points) {
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const of = (part) => points.reduce((sum, point) => sum + part(point), 0);
  return (60 * of(([at, value]) => (at - x) * (value - y))) / of(([at]) => (at - x) ** 2);
}

// MARK: Accidents

const accidents = [
  async () => {
    say('the server stands still for 20 seconds');
    server.signal('SIGSTOP');
    await sleep(20_000);
    server.signal('SIGCONT');
  },
  async () => {
    say('the tabs have no connection for 20 seconds');
    wire.isDown = true;
    wire.cut();
    await sleep(20_000);
    wire.isDown = false;
  },
];

// MARK: The hour

let nextAccident = accidentEvery;
for (let due = measureEvery; due <= minutes + 0.001; due += measureEvery) {
  if (due > nextAccident) {
    await sleep(Math.max(0, begin + nextAccident * 60_000 - Date.now()));
    await accidents[Math.round(nextAccident / accidentEvery - 1) % accidents.length]();
    nextAccident += accidentEvery;
  }
  await sleep(Math.max(0, begin + due * 60_000 - Date.now()));
  await measure();
}

clearInterval(publish);
for (let end = Date.now() + 60_000; unanswered > 0 && Date.now() < end; ) await sleep(50);
const answer = await fetch(`http://${server.listening.gateway}/v1/dev/channels/${channel}`, {
  headers: { authorization: `Bearer ${key}` },
});
const accepted = (await answer.json()).offset - before;
const lastOf = () => sample.evaluate("document.querySelector('#messages').lastElementChild.textContent");
const areDone = async () => (await read()).received >= accepted && (await lastOf()).includes(`message ${count} `);
for (let end = Date.now() + 60_000; !(await areDone()) && Date.now() < end; ) await sleep(100);
// The tail shows what waits when its rate permits, and would show by now what is doubled.
await sleep(2000);
const { received, shown, hidden } = await read();
const gaps = await tail.evaluate("document.querySelectorAll('.note.bad').length");
const last = await lastOf();
say(`${count} were published, ${failed} of them without an answer in time; the server has ${accepted}`);
say(`the tail has received ${received}: ${shown} shown, ${hidden} not shown; ${gaps} gaps`);

const problems = [];
const expect = (isSo, text) => isSo || problems.push(text);
expect(received === accepted && shown + hidden === received, 'the tail has lost messages silently, or doubled them');
expect(gaps === 0, `the tail shows ${gaps} gaps`);
expect(last.includes(`message ${count} `), `the sample's last line is ${last}`);
for (const name of Object.keys(tabs)) {
  const later = measurements.filter(({ at }) => at >= warmUp - 0.1);
  if (later.length < 3) continue;
  for (const [what, max] of Object.entries(growthMax)) {
    const growth = slope(later.map((row) => [row.at, row[name][what]]));
    say(`${name}: ${what} ${growth < 0 ? '' : '+'}${growth.toFixed(1)} an hour`);
    expect(growth <= max, `${name}: ${what} grows by ${growth.toFixed(0)} an hour`);
  }
}
for (const problem of problems) say(`WRONG: ${problem}`);
publisher.close();
await browser.stop();
for (const one of [site, files, wire]) one.stop();
await server.kill();
process.exit(problems.length > 0 ? 1 : 0);
