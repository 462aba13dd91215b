// The console for tests, as an operator has it: a system with keys, events and a webhook, and tabs that are logged in.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTCPServer } from 'node:net';
import { join } from 'node:path';
import { startBrowser } from './browser.js';
import { startConsole } from './console.js';
import { output, startStandalone, temporaryFolder } from './programs.js';

const makeKey = (...scopes) => {
  const text = output('rtm', 'key', 'create', ...scopes);
  return { secret: /rtmk_\S+/.exec(text)[0], record: /\{id: .*\}/.exec(text)[0] };
};

/** A configuration of the app dev alone, with one API key. */
export function keyFile(...scopes) {
  const { secret, record } = makeKey(...scopes);
  const config = join(temporaryFolder(), 'config.yaml');
  writeFileSync(config, `apps: [{id: dev}]\ngateway: {keys: [${record}]}\n`);
  return { key: secret, config };
}

/** An app whose users need tokens. */
export const certified = { id: 'c0ffee'.padEnd(32, '0'), certificate: 'ace'.padEnd(32, '0') };

/** Receives webhooks, and takes all but those that it `refuses`. */
async function startReceiver() {
  const receiver = { refuses: () => false, answer: 'taken', bodies: [] };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const isTaken = !receiver.refuses(body);
    if (isTaken) receiver.bodies.push(body);
    response.writeHead(isTaken ? 200 : 400).end(receiver.answer);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(receiver, { url: `http://127.0.0.1:${server.address().port}/events`, stop: () => server.close() });
}

export async function freePort() {
  const server = createTCPServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function startOperator(flags = {}) {
  const receiver = await startReceiver();
  const keys = { admin: makeKey('*/admin'), reader: makeKey('dev/read'), some: makeKey('dev/read+publish', '--channels', 'some-') };
  const config = join(temporaryFolder(), 'config.yaml');
  const lines = [
    `apps: [{id: dev, events: 1h}, {id: ${certified.id}, certificate: ${certified.certificate}}]`,
    'gateway:',
    '  keys:',
    ...Object.values(keys).map(({ record }) => `    - ${record}`),
    '  webhooks:',
    '    privateAddresses: [127.0.0.1/32]',
    '    giveUpAfter: 10s',
    '    endpoints:',
    `      - {app: dev, name: orders, url: "${receiver.url}", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  // The gateway tells pages where the edge is, so its port has to be known.
  const server = await startStandalone({ config, 'edge-web-socket-listen': `127.0.0.1:${await freePort()}`, ...flags });
  const gateway = server.listening.gateway;
  const site = await startConsole({ gateway, edge: server.url });
  const browser = await startBrowser();

  /** A call of a backend. */
  const backend = async (method, path, body) => {
    const response = await fetch(`http://${gateway}/v1/dev${path}`, {
      method,
      headers: { authorization: `Bearer ${keys.admin.secret}` },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, ...(await response.json()) };
  };

  /** A tab with the console, logged in with this key, at this page. */
  const open = async (page, parameters = {}, key = keys.admin.secret) => {
    const tab = withControls(await browser.open('about:blank'));
    await tab.send('Network.enable');
    await tab.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    await tab.send('Network.clearBrowserCookies');
    await tab.send('Page.navigate', { url: `${site.url}/console/` });
    await tab.until("document.querySelector('[name=key]')");
    if (key) await tab.login(key);
    if (page) await tab.go(page, parameters);
    return tab;
  };

  const stop = async () => {
    await browser.stop();
    site.stop();
    receiver.stop();
    await server.kill();
  };
  return { server, site, browser, receiver, keys, backend, open, stop };
}

const text = JSON.stringify;

/** What an operator does in a tab. Buttons and fields are found by their texts. */
export function withControls(tab) {
  const find = `
    const shown = (one) => one.checkVisibility();
    const button = (text) => [...document.querySelectorAll('button')].find((one) => shown(one) && (one.textContent === text || one.ariaLabel === text));
    const field = (label) => [...document.querySelectorAll('label')].filter(shown).find((one) => one.textContent === label).control;`;
  const run = (body) => tab.evaluate(`(() => { ${find} ${body} })()`);
  const controls = {
    press: async (name) => {
      await tab.until(`(() => { ${find} return button(${text(name)}) && !button(${text(name)}).disabled })()`);
      await run(`button(${text(name)}).click()`);
    },
    fill: (label, value) => run(`
      const control = field(${text(label)});
      if (control.type === 'checkbox') { if (control.checked !== ${text(value)}) control.click(); }
      else control.value = ${text(value)};`),
    /** Unfolds an action. */
    unfold: async (title) => {
      const found = `[...document.querySelectorAll('summary')].find((one) => one.textContent === ${text(title)})`;
      await tab.until(found);
      await tab.evaluate(`${found}.parentElement.open = true`);
      await tab.evaluate(`document.querySelectorAll('details[open]').forEach((one) => one === ${found}.parentElement || (one.open = false))`);
    },
    shows: (words, seconds) => tab.until(`document.querySelector('main').innerText.includes(${text(words)})`, seconds),
    shown: () => tab.evaluate("document.querySelector('main').innerText"),
    login: async (key) => {
      await tab.evaluate(`document.querySelector('[name=key]').value = ${text(key)}; document.querySelector('form.login').requestSubmit()`);
      await tab.until("!document.querySelector('header').hidden || document.querySelector('.refusal')");
    },
    /** Ends the session as if its time were over. */
    forget: () => tab.send('Network.clearBrowserCookies'),
    go: async (page, parameters = {}) => {
      const hash = `#/dev/${page}?${new URLSearchParams(parameters)}`;
      await tab.evaluate(`location.hash = ${text(hash)}`);
      await tab.until(`location.hash === ${text(hash)} && document.querySelector('nav [aria-current]')?.dataset.page === ${text(page)}`);
      await tab.settled();
    },
    settled: () => tab.until("!document.querySelector('[aria-busy]')"),
    /** Pretends light or dark, and a width. */
    emulate: async ({ scheme = 'light', width = 1280, height = 900 }) => {
      await tab.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
      await tab.send('Emulation.setScrollbarsHidden', { hidden: true });
      await tab.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    },
    screenshot: async () => Buffer.from((await tab.send('Page.captureScreenshot', { captureBeyondViewport: true })).data, 'base64'),
  };
  return Object.assign(tab, controls);
}
