// The console: login, navigation, and one page at a time.
//
// The address of a page is in the fragment (`#/APP/PAGE?…`), which browsers keep to themselves: names of users and channels
// are in no log of a server.

import { API } from './api.js';
import { button, element, muted, quoted, visible } from './dom.js';
import { asTyped, field, refusal, values } from './view.js';
import * as events from './events.js';
import * as configuration from './configuration.js';
import * as explain from './explain.js';
import * as inspector from './inspector.js';
import * as keys from './keys.js';
import * as overview from './overview.js';
import * as storage from './storage.js';
import * as tail from './tail.js';
import * as top from './top.js';
import * as webhooks from './webhooks.js';

const pages = { overview, inspector, tail, top, explain, events, webhooks, storage, keys, configuration };
const secret = /rtmk_/;

const main = document.querySelector('main');
const header = document.querySelector('header');
const status = document.querySelector('#announcements');
const api = new API({ ended: (why) => showLogin(why) });
/** Ends what the page shown has begun. */
let leave = new AbortController();

const linkTo = (page, parameters = {}, app = api.app) => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  const query = given.length > 0 ? `?${new URLSearchParams(given)}` : '';
  return `#/${encodeURIComponent(app)}/${page}${query}`;
};

let hiding;
/** Shows and reads out a short text. */
function announce(text) {
  status.textContent = visible(text);
  status.classList.add('seen');
  clearTimeout(hiding);
  hiding = setTimeout(() => status.classList.remove('seen'), 6000);
}

function begin(title) {
  leave.abort();
  leave = new AbortController();
  document.title = title.includes('Heliograph') ? title : `${title} – Heliograph`;
  const heading = element('h1', { tabindex: -1 }, title);
  main.replaceChildren(heading);
  return heading;
}

// MARK: Login

function showLogin(why) {
  header.hidden = true;
  const heading = begin('Log in to Heliograph');
  const problem = element('div', { role: 'alert' }, why && element('p', { class: 'warning' }, why));
  const made = element(
    'form',
    { class: 'fields login', 'aria-label': 'Log in' },
    field({
      label: 'API key',
      name: 'key',
      type: 'password',
      required: true,
      hint: 'rtmk_… It becomes a cookie that no script can read.',
    }),
    element('div', { class: 'row' }, element('button', { class: 'primary' }, 'Log in')),
  );
  made.addEventListener('submit', async (event) => {
    event.preventDefault();
    const { key } = values(made);
    const submit = made.querySelector('button');
    made.reset();
    submit.disabled = true;
    try {
      await api.login(key.trim());
      show();
    } catch (error) {
      problem.replaceChildren(refusal(error));
      made.elements.key.focus();
    } finally {
      submit.disabled = false;
    }
  });
  main.append(
    problem,
    made,
    muted('A key with the scope admin shows everything; one with fewer scopes shows what it may see.'),
  );
  heading.focus();
}

// MARK: Navigation

function showHeader() {
  const choices = api.session.apps.map((app) => element('option', { value: app, selected: app === api.app }, app));
  const change = ({ target }) => (location.hash = linkTo('inspector', {}, target.value));
  const apps = element('select', { 'aria-label': 'App', onchange: change }, choices);
  const what = 'Channel, user, session, channel@offset';
  const search = element(
    'form',
    { role: 'search', 'aria-label': 'Inspector' },
    element('input', { type: 'search', name: 'q', 'aria-label': what, placeholder: what, ...asTyped }),
    element('button', {}, 'Inspect'),
  );
  search.addEventListener('submit', (event) => {
    event.preventDefault();
    const { q } = values(search);
    if (secret.test(q ?? '')) return refuseSecret();
    return go('inspector', { q: q?.trim() });
  });
  const logout = async () => {
    try {
      await api.logout();
      showLogin('You have logged out.');
    } catch (error) {
      showLogin(`You may still be logged in: ${error.message} Load the page again and log out.`);
    }
  };
  const key = element('span', { class: 'muted' }, 'key ', quoted(api.session.key.id));
  const who = element('span', { class: 'who' }, key, button('Log out', logout));
  const links = Object.entries(pages).map(([name, { title }]) =>
    element('li', {}, element('a', { href: linkTo(name), 'data-page': name }, title)),
  );
  header.replaceChildren(
    element('div', { class: 'bar' }, element('strong', {}, 'Heliograph'), apps, search, who),
    element('nav', { 'aria-label': 'Pages' }, element('ul', {}, links)),
  );
  header.hidden = false;
}

/** Goes to a page. The same address again loads it again. */
function go(page, parameters) {
  const hash = linkTo(page, parameters);
  if (location.hash === hash) show();
  else location.hash = hash;
}

/** A key in an address is in the history of the browser, and on every screen. */
function refuseSecret() {
  history.replaceState(null, '', location.pathname);
  const heading = begin('Refused');
  main.append(
    element(
      'p',
      { class: 'warning', role: 'alert' },
      'There was an API key where everybody can read it: in an address or a search. It was not used. ',
      'Take it out of the configuration and make another one.',
    ),
    element('p', {}, element('a', { href: linkTo('overview') }, 'To the overview')),
  );
  heading.focus();
}

function show() {
  if (secret.test(location.href)) return refuseSecret();
  if (!api.session) return showLogin();
  const [path, query = ''] = location.hash.slice(1).split(/\?(.*)/s);
  const [, app = '', name = ''] = path.split('/');
  const wanted = decoded(app);
  if (api.session.apps.includes(wanted)) api.app = wanted;
  const page = Object.hasOwn(pages, name) ? name : 'overview';
  showHeader();
  const { title, show: fill } = pages[page];
  const heading = begin(title);
  header.querySelector(`[data-page="${page}"]`).setAttribute('aria-current', 'page');
  if (wanted && wanted !== api.app) {
    const text = ['This key is not for the app ', quoted(wanted), ', so the page shows the app ', quoted(api.app), '.'];
    main.append(element('p', { class: 'warning', role: 'alert' }, ...text));
  }
  const parameters = new URLSearchParams(query);
  header.querySelector('[name=q]').value = parameters.get('q') ?? '';
  fill(main, { api, parameters, signal: leave.signal, linkTo, go, announce, heading });
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
  return undefined;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

addEventListener('hashchange', show);
document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey || header.hidden) return;
  event.preventDefault();
  header.querySelector('[name=q]').focus();
});
document.querySelector('#skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.querySelector('h1')?.focus();
});

try {
  if (secret.test(location.href)) refuseSecret();
  else if (await api.open()) show();
  else showLogin();
} catch (error) {
  begin('Heliograph');
  main.append(refusal(error), button('Try again', () => location.reload()));
}
