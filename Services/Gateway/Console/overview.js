// Is it well? What the app has, what its rates leave, and whether the gateway answers.

import * as calls from './calls.js';
import { bytes, duration, muted, number, quoted, time } from './dom.js';
import { incidentList, nodeList } from './nodes.js';
import { channelLink, facts, form, loaded, missingEdges, pages, section, userLink } from './view.js';

export const title = 'Overview';

const refreshEvery = 5000;

export function show(main, context) {
  const { api, signal } = context;
  let asked = 0;
  const numbers = loaded(
    context,
    () => {
      asked = performance.now();
      return calls.usage();
    },
    (usage) => [
      facts([
        ['Channels in memory', number(usage.channels)],
        ['Users online', number(usage.users)],
        ['Connections', number(usage.connections)],
        ['Requests left to this key', rate(usage.key)],
        ['Requests left to the app', rate(usage.app)],
        ['Event loops of edges', `${usage.edges.answered} of ${usage.edges.asked} answered`],
        ['Gateway', `version ${api.session.version}, answered in ${duration(performance.now() - asked)}`],
      ]),
      missingEdges(usage.edges),
    ],
  );
  const nodes = api.isOperator ? nodeList(context) : undefined;
  const refresh = () => {
    if (document.hidden) return;
    numbers.load();
    nodes?.load();
  };
  const timer = setInterval(refresh, refreshEvery);
  signal.addEventListener('abort', () => clearInterval(timer));
  main.append(
    section(context, 'Now', { call: calls.usage }, numbers.place),
    nodes?.place ?? '',
    api.isOperator ? incidentList(context) : '',
    channelList(context, 'Channels'),
    connectionList(context),
  );
}

const rate = ({ perSecond, left }) =>
  perSecond === undefined ? 'no limit' : `${number(left)} at once, ${number(perSecond)} a second`;

/** How many there are on all pages. */
export const inAll = (total, prefix) => muted(`${number(total)} ${prefix ? 'with this prefix' : 'in all'}`);

/** The channels of the app, filtered by what their names begin with. */
export function channelList(context, title, given = {}) {
  let wanted = given;
  const call = (cursor) => calls.channels({ ...wanted, cursor });
  const list = pages(context, {
    caption: title,
    call,
    rows: ({ channels }) => channels,
    next: ({ nextCursor }) => nextCursor,
    about: ({ total, edges }) => [inAll(total, wanted.prefix), missingEdges(edges)],
    empty: 'There is no such channel in memory.',
    columns: [
      { title: 'Channel', cell: ({ channel }) => channelLink(context, channel, wanted.type) },
      { title: 'Subscribers', isNumber: true, cell: ({ subscribers }) => number(subscribers) },
      { title: 'Newest offset', isNumber: true, cell: ({ offset }) => number(offset) },
      { title: 'Newest entry', cell: ({ active }) => time(active) },
    ],
  });
  const filter = form(`Filter ${title}`, [
    { label: 'Begins with', name: 'prefix', value: given.prefix },
    { label: 'Type', name: 'type', value: given.type, options: [['', 'message'], ['stream', 'stream']] },
  ], 'Filter', (chosen) => {
    wanted = chosen;
    list.first();
  });
  return section(context, title, { call }, filter, list.place);
}

function connectionList(context) {
  let wanted = {};
  const call = (cursor) => calls.connections({ ...wanted, cursor });
  const list = pages(context, {
    caption: 'Connections',
    call,
    rows: ({ connections }) => connections,
    next: ({ nextCursor }) => nextCursor,
    about: ({ total, edges }) => [
      wanted.user ? muted(`${number(total)} of this user`) : inAll(total, wanted.prefix), missingEdges(edges),
    ],
    empty: 'No such user is connected.',
    columns: connectionColumns(context),
  });
  const filter = form('Filter Connections', [
    { label: 'User begins with', name: 'prefix' },
    { label: 'User is', name: 'user' },
    { label: 'In front', name: 'order', options: [['', 'by user'], ['queued', 'for whom most waits']] },
  ], 'Filter', (chosen) => {
    wanted = chosen;
    list.first();
  });
  return section(context, 'Connections', { call }, filter, list.place);
}

export const connectionColumns = (context) => [
  { title: 'User', cell: ({ user, session }) => userLink(context, user, session) },
  { title: 'Session', cell: ({ session }) => quoted(session) },
  { title: 'Address', cell: ({ address }) => quoted(address) },
  { title: 'Client', cell: ({ client }) => quoted(client) },
  { title: 'Since', cell: ({ since }) => time(since) },
  { title: 'Queued', isNumber: true, cell: ({ queuedBytes }) => bytes(queuedBytes) },
  { title: 'Subscriptions', isNumber: true, cell: ({ channels }) => number(channels) },
];
