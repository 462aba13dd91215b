// Headless Chromium, driven by its DevTools protocol, and a server of files for its pages.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { temporaryFolder, WebSocket } from './programs.js';

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const folders = { '/': '../../../Clients/web', '/tests/': '../pages' };

export const chromium = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);

/** Serves Clients/web, Tests/Web/pages below /tests/, and other folders by their prefix, with this content security policy. */
export async function startFiles(policy, more = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://files');
    const prefix = ['/tests/', ...Object.keys(more)].find((one) => pathname.startsWith(one)) ?? '/';
    const folder = more[prefix] ?? fileURLToPath(new URL(folders[prefix], import.meta.url));
    const path = join(
      folder,
      normalize(`/${pathname.slice(prefix.length)}`),
      pathname.endsWith('/') ? 'index.html' : '',
    );
    if (!existsSync(path)) return response.writeHead(404).end();
    const headers = { 'content-type': types[extname(path)] ?? 'text/plain', 'cache-control': 'no-store' };
    return response.writeHead(
      200,
      policy ? { ...headers, 'content-security-policy': policy } : headers,
    ).end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

export async function startBrowser() {
  const child = spawn(
    chromium,
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--remote-debugging-port=0',
      `--user-data-dir=${temporaryFolder()}`,
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const found = /DevTools listening on (ws:\S+)/.exec(line);
      if (found) resolve(found[1]);
    });
    ended.then(() => reject(new Error('Chromium has ended')));
  });
  const socket = new WebSocket(address);
  await new Promise((resolve) => (socket.onopen = resolve));
  const calls = new Map();
  /** By session: what went wrong in the page. */
  const complaints = new Map();
  socket.onmessage = ({ data }) => {
    const { id, result, error, method, params, sessionId } = JSON.parse(data);
    if (method === 'Log.entryAdded') complaints.get(sessionId)?.push(`${params.entry.text} ${params.entry.url ?? ''}`);
    if (method === 'Runtime.exceptionThrown') complaints.get(sessionId)?.push(JSON.stringify(params.exceptionDetails));
    const call = calls.get(id);
    calls.delete(id);
    if (error) call?.reject(new Error(error.message));
    else call?.resolve(result);
  };
  let last = 0;
  const send = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      calls.set(++last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    });
  const open = async (url) => {
    const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
    complaints.set(sessionId, []);
    for (const domain of ['Page', 'Log', 'Runtime']) await send(`${domain}.enable`, {}, sessionId);
    await send('Page.navigate', { url }, sessionId);
    /** The value of an expression in the page; a promise is awaited. */
    const evaluate = async (expression) => {
      const { result, exceptionDetails } = await send(
        'Runtime.evaluate',
        { expression, awaitPromise: true, returnByValue: true },
        sessionId,
      );
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    };
    /** Waits until the expression is true in the page. */
    const until = async (expression, seconds = 10) => {
      const end = Date.now() + seconds * 1000;
      for (;;) {
        if (await evaluate(`Boolean(${expression})`).catch(() => false)) return;
        // Chromium ends all loads when an interface of the machine comes or goes, as in other tests.
        if (complaints.get(sessionId).some((text) => text.includes('ERR_NETWORK_CHANGED'))) {
          complaints.set(sessionId, []);
          await send('Page.reload', {}, sessionId);
        }
        if (Date.now() > end) {
          throw new Error(`not so: ${expression}; the page says ${complaints.get(sessionId).join('; ')}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    return {
      evaluate,
      until,
      send: (method, params) => send(method, params, sessionId),
      close: () => send('Target.closeTarget', { targetId }),
      complaints: () => complaints.get(sessionId),
    };
  };
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { open, stop, send };
}
