// The console in front of a real gateway: its files as they are in this tree, with the headers of the gateway, and all
// other requests as they come. So a change of a page needs no build, and tests see what pages ask for.

import { existsSync, readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const folders = { console: '../../../Services/Gateway/Console', client: '../../../Clients/web/src' };

/** `gateway` is HOST:PORT, `edge` the address for web clients. */
export async function startConsole({ gateway, edge }) {
  /** Each request that came. */
  const requests = [];
  const headers = {
    'content-security-policy': [
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'",
      `connect-src 'self' ${edge}`,
      "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  };

  const forward = (request, body, response) => {
    const [hostname, port] = gateway.split(':');
    const { method, url: path } = request;
    const far = send({ hostname, port, path, method, headers: { ...request.headers, host: gateway } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    far.on('error', () => response.destroy());
    response.on('close', () => far.destroy());
    far.end(body);
  };

  const file = (pathname, response) => {
    const isClient = pathname.startsWith('/console/client/');
    const folder = fileURLToPath(new URL(folders[isClient ? 'client' : 'console'], import.meta.url));
    const path = join(folder, pathname === '/console/' ? 'index.html' : basename(pathname));
    if (!existsSync(path)) return response.writeHead(404, headers).end();
    return response.writeHead(200, { ...headers, 'content-type': types[extname(path)] }).end(readFileSync(path));
  };

  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const { pathname, search } = new URL(request.url, 'http://console');
    requests.push({ method: request.method, path: request.url, headers: request.headers, body: body.toString() });
    if (pathname === '/console/session' || pathname.startsWith('/v1/')) return forward(request, body, response);
    if (search) return response.writeHead(400, headers).end();
    return file(pathname, response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, requests, stop };
}
