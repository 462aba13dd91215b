// The console in front of a real gateway: its files with their headers, and the sessions of browsers.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { output } from './programs.js';

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const folders = { console: '../../../Services/Gateway/Console', client: '../../../Clients/web/src' };

/** `gateway` is HOST:PORT, `edges` are the addresses for web clients, and `certificates` are by app; some have none. */
export async function startConsole({ gateway, edges, certificates }) {
  const apps = Object.keys(certificates);
  const sessions = new Map();
  /** Each request that came, for tests that look at what a page asks for. */
  const requests = [];
  const policy = [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'",
    `connect-src 'self' ${edges.map((edge) => new URL(edge).origin).join(' ')}`,
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  ].join('; ');
  const headers = {
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  };
  const answer = (response, status, body, more = {}) =>
    response.writeHead(status, { ...headers, 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
  const refuse = (response, status, name, reason) => answer(response, status, { error: { code: 0, name, reason } });

  const forward = (request, body, key, path = request.url, method = request.method) =>
    new Promise((resolve, reject) => {
      const [hostname, port] = gateway.split(':');
      const far = send(
        { hostname, port, path, method, headers: { authorization: `Bearer ${key}`, 'content-length': body.length } },
        (answer) => {
          const parts = [];
          answer.on('data', (part) => parts.push(part));
          answer.on('end', () => resolve({ status: answer.statusCode, body: Buffer.concat(parts) }));
        },
      );
      far.on('error', reject);
      request.on('close', () => request.destroyed && !request.complete && far.destroy());
      far.end(body);
    });

  const describe = ({ csrf, key }) => ({ csrf, key, apps, edges, version: '0.2.0' });

  async function session(request, response, body, mine, id) {
    if (request.method === 'GET') {
      return mine ? answer(response, 200, describe(mine)) : refuse(response, 401, 'noSession', 'there is no session');
    }
    if (request.method === 'POST') {
      const { key } = JSON.parse(body.toString());
      const own = await forward(request, Buffer.alloc(0), key, '/v1/keys/self', 'GET');
      if (own.status !== 200) return response.writeHead(own.status, headers).end(own.body);
      const made = { csrf: randomBytes(16).toString('hex'), secret: key, key: JSON.parse(own.body.toString()) };
      const name = randomBytes(16).toString('hex');
      sessions.set(name, made);
      const cookie = `rtm-console=${name}; HttpOnly; SameSite=Strict; Path=/`;
      return answer(response, 200, describe(made), { 'set-cookie': cookie });
    }
    if (request.headers['rtm-csrf'] !== mine?.csrf) return refuse(response, 403, 'csrf', 'rtm-csrf is missing');
    sessions.delete(id);
    return answer(response, 200, {});
  }

  async function call(request, response, body, mine, pathname) {
    if (!mine) return refuse(response, 401, 'noSession', 'there is no session');
    if (request.method !== 'GET' && request.headers['rtm-csrf'] !== mine.csrf) {
      return refuse(response, 403, 'csrf', 'the header rtm-csrf is missing or wrong');
    }
    if (/^\/v1\/[^/]+\/tokens$/.test(pathname)) {
      if (!mine.key.scopes.includes('admin')) return refuse(response, 403, 'forbidden', 'the key lacks the scope admin');
      const app = pathname.split('/')[2];
      const certificate = certificates[app];
      const { user, seconds } = JSON.parse(body.toString());
      if (!certificate) return answer(response, 200, { token: '' });
      const flags = ['--app-id', app, '--user', user, '--certificate', certificate, '--expire', `${seconds}s`];
      return answer(response, 200, { token: output('rtm', 'token', 'create', ...flags).trim() });
    }
    const { status, body: text } = await forward(request, body, mine.secret);
    return response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(text);
  }

  function file(response, pathname) {
    const isClient = pathname.startsWith('/console/client/');
    const folder = fileURLToPath(new URL(folders[isClient ? 'client' : 'console'], import.meta.url));
    const name = pathname === '/console/' ? 'index.html' : basename(pathname);
    const path = join(folder, name);
    if (!existsSync(path)) return response.writeHead(404, headers).end();
    return response.writeHead(200, { ...headers, 'content-type': types[extname(path)] }).end(readFileSync(path));
  }

  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const { pathname, search } = new URL(request.url, 'http://console');
    requests.push({ method: request.method, path: request.url, headers: request.headers, body: body.toString() });
    const id = /rtm-console=([0-9a-f]+)/.exec(request.headers.cookie ?? '')?.[1];
    const mine = sessions.get(id);
    try {
      if (pathname === '/console/session') return await session(request, response, body, mine, id);
      if (pathname.startsWith('/v1/')) return await call(request, response, body, mine, pathname);
      if (search) return refuse(response, 400, 'invalidQuery', 'the console takes no parameters');
      if (pathname.startsWith('/console/')) return file(response, pathname);
      return response.writeHead(404, headers).end();
    } catch (error) {
      return response.headersSent ? response.end() : refuse(response, 503, 'unavailable', error.message);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, requests, sessions, policy, stop };
}
