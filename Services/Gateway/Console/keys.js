// What may this key do, which keys are there, who is let in, and who has changed what: tokens, bans, the audit trail.

import * as calls from './calls.js';
import { button, counted, element, muted, number, quoted, sentence, time } from './dom.js';
import { moderationActions } from './inspector.js';
import { action, copyText, facts, loaded, pages, section, table, userLink } from './view.js';

export const title = 'Keys and tokens';

export function show(main, context) {
  const own = loaded(context, calls.ownKey, (key) =>
    facts([
      ['Id', quoted(key.id)],
      ['App', key.app === '*' ? 'every app' : quoted(key.app)],
      ['Scopes', key.scopes.join(', ')],
      ['Channels', quoted(key.channels === undefined ? 'all' : `those that begin with ${key.channels}`)],
      ['Expires', key.expires === undefined ? 'never' : time(key.expires)],
      ['Last use here', time(key.lastUse)],
    ]),
  );
  const all = loaded(context, calls.keys, ({ keys }) =>
    table('Keys', [
      { title: 'Id', cell: ({ id }) => quoted(id) },
      { title: 'App', cell: ({ app }) => quoted(app) },
      { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
      { title: 'Channels', cell: ({ channels }) => quoted(channels ?? 'all') },
      { title: 'Expires', cell: ({ expires }) => (expires === undefined ? 'never' : time(expires)) },
      { title: 'Last use at this gateway', cell: ({ lastUse }) => time(lastUse) },
    ], keys),
  );
  const bans = banList(context);
  main.append(
    element(
      'div',
      { class: 'columns' },
      element(
        'div',
        {},
        section(context, 'This key', { call: calls.ownKey }, own.place),
        section(
          context,
          'Keys of the app',
          { call: calls.keys },
          muted('A key is made with rtm key create, and revoked by removing its entry from the configuration.'),
          all.place,
        ),
        section(context, 'Bans', { call: () => calls.bans({}) }, bans.place),
      ),
      section(context, 'Actions', {}, tokenAction(context), moderationActions(context, undefined, bans.first)),
    ),
    section(context, 'Audit trail', { call: () => calls.audit() }, auditList(context)),
  );
}

function auditList(context) {
  const list = pages(context, {
    caption: 'Audit trail',
    call: (after) => calls.audit({ after }),
    rows: ({ audit }) => audit,
    next: ({ nextAfter }) => nextAfter,
    empty: 'No key has changed anything yet.',
    columns: [
      { title: 'Time', cell: ({ time: when }) => time(when) },
      { title: 'By', cell: ({ by, address }) => [quoted(by), element('div', { class: 'muted' }, 'from ', quoted(address))] },
      { title: 'What', cell: ({ what }) => quoted(what) },
      { title: 'Whom', cell: ({ whom }) => quoted(whom) },
      { title: 'Outcome', cell: ({ outcome, omitted }) => [quoted(outcome), omitted !== undefined && muted(`${number(omitted)} more before it`)] },
    ],
  });
  return [button('Refresh', () => list.first()), list.place];
}

function banList(context) {
  return pages(context, {
    caption: 'Bans',
    call: (after) => calls.bans({ after }),
    rows: ({ bans }) => bans,
    next: ({ nextAfter }) => nextAfter,
    empty: 'Nobody is banned.',
    columns: [
      { title: 'User', cell: ({ user }) => userLink(context, user) },
      { title: 'Since', cell: ({ since }) => time(since) },
      { title: 'Until', cell: ({ until }) => time(until) },
      { title: 'Reason', cell: ({ reason }) => sentence(reason) },
      { title: 'By', cell: ({ by }) => quoted(by) },
    ],
  });
}

function tokenAction(context) {
  return action(context, {
    title: 'Make a token',
    fields: [
      { label: 'User', name: 'user', required: true },
      { label: 'Seconds', name: 'seconds', type: 'number', min: 1, max: 86_400, value: 3600, required: true },
    ],
    call: calls.token,
    lasts: 'Survives a restart: it is valid until it expires, or tokens of the user are revoked.',
    done: ({ token }, { user, seconds }) =>
      token === ''
        ? 'The app has no certificate, so its users log in without a token.'
        : [
            element('p', {}, 'For ', quoted(user), `, valid for ${counted(seconds, 'second')}: `),
            element('p', { class: 'row' }, element('code', { class: 'data' }, token), button('Copy', () => copyText(context, token, 'the token'))),
          ],
  });
}
