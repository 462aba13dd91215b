// The programs of the system as processes of a test, and a wire between them and a client that can be cut.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// Node 18 has none of its own accord.
globalThis.crypto ??= webcrypto;

/** That of Debian's node-ws: this Node has none. */
export const WebSocket = globalThis.WebSocket ?? createRequire(import.meta.url)('/usr/share/nodejs/ws');

const repository = fileURLToPath(new URL('../../../', import.meta.url));
/** The folder of the programs: HELIOGRAPH_RELEASE, or the newest build of this tree. */
const programs = [
  process.env.HELIOGRAPH_RELEASE,
  join(repository, '.build/debug'),
  join(repository, '.build/release'),
].find(
  (folder) => folder && existsSync(join(folder, 'rtm-standalone')),
);

const folders = new Set();
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-web-'));
  folders.add(folder);
  return folder;
}

/** Starts a program, and waits until it serves. `listening` says where, by the names in its log. */
export async function start(name, flags) {
  if (!programs) throw new Error('no programs: build them, or name their folder in HELIOGRAPH_RELEASE');
  const list = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, `${value}`]);
  const child = spawn(join(programs, name), list, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  children.add(child);
  ended.then(() => children.delete(child));
  const lines = [];
  const listening = await new Promise((resolve, reject) => {
    const read = (line) => {
      lines.push(line);
      const entry = line.startsWith('{') ? JSON.parse(line) : {};
      if (entry.message === 'started') resolve(entry.listening);
    };
    for (const output of [child.stdout, child.stderr]) createInterface({ input: output }).on('line', read);
    ended.then(() => reject(new Error(`${name} ended:\n${lines.slice(-10).join('\n')}`)));
  });
  // Node 18 calls what is to be done `after` all tests only when nothing else keeps the process alive.
  const handles = [child, child.stdout, child.stderr];
  for (const handle of handles) handle.unref();
  const stop = async (signal = 'SIGTERM') => {
    for (const handle of handles) handle.ref();
    child.kill(signal);
    await ended;
  };
  return { listening, stop, kill: () => stop('SIGKILL'), signal: (name) => child.kill(name) };
}

/** What a program prints. */
export const output = (name, ...list) => execFileSync(join(programs, name), list, { encoding: 'utf8' });

/** Runs a command line of a shell, in which the programs are found by name, for at most this long. */
export function shell(line, { milliseconds = 3000, ...env } = {}) {
  const PATH = `${programs}:${process.env.PATH}`;
  return spawnSync('sh', ['-c', `exec ${line}`], { env: { ...process.env, ...env, PATH }, timeout: milliseconds, encoding: 'utf8' });
}

/** The whole system in one process. */
export async function startStandalone(flags = {}) {
  const server = await start('rtm-standalone', {
    listen: '127.0.0.1:0',
    'edge-web-socket-listen': '127.0.0.1:0',
    admin: '127.0.0.1:0',
    'gateway-listen': '127.0.0.1:0',
    data: temporaryFolder(),
    ...flags,
  });
  return { ...server, url: `ws://${server.listening['edge.webSocket']}/rtm` };
}

/** A TCP proxy whose connections can be cut, and which can refuse or swallow. */
export async function startWire(url) {
  const target = new URL(url);
  const pairs = new Set();
  const wire = { isDown: false, isSilent: false };
  const server = createServer((near) => {
    if (wire.isDown) return near.destroy();
    const far = connect(Number(target.port), target.hostname);
    const pair = [near, far];
    pairs.add(pair);
    const close = () => {
      pair.forEach((socket) => socket.destroy());
      pairs.delete(pair);
    };
    near.on('data', (data) => wire.isSilent || far.write(data));
    far.on('data', (data) => wire.isSilent || near.write(data));
    pair.forEach((socket) => socket.on('close', close).on('error', close));
    return undefined;
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(wire, {
    url: `ws://127.0.0.1:${server.address().port}/rtm`,
    cut: () => pairs.forEach((pair) => pair.forEach((socket) => socket.destroy())),
    stop: () => {
      wire.cut();
      server.close();
    },
  });
}
