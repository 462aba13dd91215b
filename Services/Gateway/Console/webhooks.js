// Are the webhooks delivered? Lag, attempts and dead letters, and what can be sent again.

import * as calls from './calls.js';
import { ago, button, content, counted, duration, element, muted, number, quoted, sentence, time } from './dom.js';
import { action, facts, loaded, pages, section, table } from './view.js';

export const title = 'Webhooks';

export function show(main, context) {
  const name = context.parameters.get('name') ?? undefined;
  const call = (cursor) => calls.webhooks({ cursor });
  const list = pages(context, {
    caption: 'Webhooks',
    call,
    rows: ({ webhooks }) => webhooks,
    next: ({ nextCursor }) => nextCursor,
    empty: none,
    columns: columns(context),
  });
  const detail = name === undefined ? undefined : oneWebhook(context, name, list.load);
  const refresh = button('Refresh', () => Promise.all([list.load(), detail?.load()]));
  main.append(section(context, 'Webhooks of the app', { call }, refresh, list.place), detail?.place ?? '');
}

const none = 'The app has no webhook. They are made in the configuration, gateway.webhooks.endpoints.';

const columns = (context) => [
  { title: 'Name', cell: ({ name }) => element('a', { href: context.linkTo('webhooks', { name }) }, quoted(name)) },
  { title: 'Receiver', cell: ({ url }) => quoted(url) },
  { title: 'State', cell: state },
  { title: 'Lag', isNumber: true, cell: ({ lag }) => number(lag) },
  { title: 'Oldest undelivered', cell: ({ oldest }) => ago(oldest) },
  { title: 'Dead letters', isNumber: true, cell: ({ deadLetters }) => number(deadLetters) },
];

function state({ isEnded, owner, attempts }) {
  if (isEnded) return element('span', { class: 'bad' }, 'ended: the receiver answered 410');
  if (owner === undefined) return element('span', { class: 'bad' }, 'no gateway delivers it');
  const last = attempts.at(-1);
  if (!last) return 'nothing sent yet';
  const isGood = last.status >= 200 && last.status < 300;
  return element('span', { class: isGood ? 'good' : 'warn' }, isGood ? 'delivers' : 'the last attempt failed');
}

function oneWebhook(context, name, reloadList) {
  const about = element('div');
  const attempts = element('div');
  const update = (webhook) => {
    about.replaceChildren(
      facts([
        ['Receiver', quoted(webhook.url)],
        ['State', state(webhook)],
        ['Delivered by', quoted(webhook.owner ?? 'nobody')],
        ['Delivered up to', quoted(webhook.position ?? 'unknown')],
        ['Lag', webhook.lag === undefined ? undefined : counted(webhook.lag, 'event')],
        ['Oldest undelivered', ago(webhook.oldest)],
        ['Types', quoted(webhook.types?.join(', ') ?? 'all')],
        ['Channels', quoted(webhook.channels === undefined ? 'all' : `those that begin with ${webhook.channels}`)],
        ['Dead letters dropped', number(webhook.deadLettersDropped)],
      ]),
    );
    const newestFirst = [...webhook.attempts].reverse();
    attempts.replaceChildren(table('Attempts, newest first', attemptColumns, newestFirst, 'Nothing has been sent yet.'));
  };
  const call = () => calls.webhooks({ name });
  const found = loaded(context, call, ({ webhooks: [webhook] }) => {
    if (webhook === undefined) place.replaceChildren(muted('There is no webhook ', quoted(name), ' any more.'));
    else update(webhook);
    return about;
  });
  const reload = () => Promise.all([found.load(), reloadList()]);
  const letters = pages(context, {
    caption: 'Dead letters',
    call: (after) => calls.deadLetters({ name, after }),
    rows: ({ letters }) => letters,
    next: ({ nextAfter }) => nextAfter,
    empty: 'No event was given up.',
    columns: [
      { title: 'Number', isNumber: true, cell: ({ number: one }) => `${one}` },
      { title: 'Given up', cell: ({ time: at }) => time(at) },
      { title: 'Why', cell: ({ reason }) => sentence(reason) },
      { title: 'Event', cell: ({ event }) => content(event) },
      { title: 'Cursor before it', cell: ({ after }) => button('Send again from here', () => fill(after)) },
    ],
  });
  const test = action(context, {
    title: 'Test',
    verb: 'Send a test event',
    call: () => calls.testWebhook({ name }),
    lasts: 'Changes nothing: one event of the type webhook.test is sent now.',
    done: ({ status, outcome, milliseconds, answer }) => [
      `${status ?? 'no answer'} after ${duration(milliseconds)}: `,
      sentence(outcome),
      answer ? [' – ', quoted(answer)] : '',
    ],
    then: reload,
    isOpen: true,
  });
  const again = action(context, {
    title: 'Send again',
    verb: 'Send again what follows',
    fields: [{ label: 'Cursor', name: 'after', required: true, hint: 'the id of an event, or the cursor before a dead letter' }],
    call: ({ after }) => calls.redeliver({ name, after }),
    confirm: ({ after }) => ['Send again everything that follows ', quoted(after), '? The receiver gets it a second time.'],
    lasts: 'Survives a restart: the position of the webhook is moved. It takes up to five seconds.',
    done: ({ position }) => ['It continues behind ', quoted(position), '.'],
    then: reload,
    isOpen: true,
  });
  const fill = (after) => {
    again.open = true;
    const input = again.querySelector('[name=after]');
    input.value = after;
    input.focus();
  };
  const place = element(
    'div',
    { class: 'columns' },
    element(
      'div',
      {},
      section(context, name, { call }, found.place),
      section(context, 'Last attempts', {}, attempts),
      section(context, 'Dead letters', { call: () => calls.deadLetters({ name }) }, letters.place),
    ),
    section(context, 'Actions', {}, test, again),
  );
  return { place, load: found.load };
}

const attemptColumns = [
  { title: 'Time', cell: ({ time: at }) => time(at) },
  { title: 'Events', isNumber: true, cell: ({ events }) => number(events) },
  { title: 'Status', isNumber: true, cell: ({ status }) => (status === undefined ? '–' : `${status}`) },
  { title: 'Outcome', cell: ({ outcome }) => sentence(outcome) },
  { title: 'Took', isNumber: true, cell: ({ milliseconds }) => duration(milliseconds) },
  { title: 'Answer', cell: ({ answer }) => content(answer) },
];
