// What is slow and loud: the largest queues, the busiest channels, the loudest publishers, and whom most is refused.
//
// Edges watch the app while the page waits, and at no other time. So it is measured when somebody asks for it.

import * as calls from './calls.js';
import { bytes, element, muted, number, quoted, sentence, time } from './dom.js';
import { channelLink, form, loaded, missingEdges, section, table, userLink } from './view.js';

export const title = 'Slow and loud';

export function show(main, context) {
  let wanted = {};
  const call = () => calls.top(wanted);
  const found = loaded(context, call, (top) => [
    missingEdges(top.edges),
    muted(`Channels and publishers were watched for ${number(top.measured)} ms.`),
    top.channelsOmitted > 0 && muted(`${number(top.channelsOmitted)} quiet channels were left out, because too many are busy.`),
    list('Largest queues', top.queues, queueColumns(context), 'Nothing waits for anybody.'),
    list('Busiest channels', top.channels, channelColumns(context), 'Nothing was delivered meanwhile.'),
    list('Loudest publishers', top.publishers, publisherColumns(context), 'No client published meanwhile.'),
    list('Refused most', top.refused, refusedColumns(context), 'Nothing was refused lately.'),
    top.refusedSince !== undefined && muted('Refusals are those that edges remember, all of them since ', time(top.refusedSince), '.'),
  ]);
  const measure = form('Measure', [
    { label: 'Rows', name: 'limit', type: 'number', min: 1, max: 100, value: 20, required: true },
    { label: 'Watch for', name: 'time', options: [['1s', 'a second'], ['250ms', 'a quarter of a second']] },
  ], 'Measure', (chosen) => {
    wanted = chosen;
    found.load();
  });
  main.append(section(context, 'The app at present', { call }, measure, found.place));
}

const list = (caption, rows, columns, empty) => [element('h3', {}, caption), table(caption, columns, rows, empty)];
const rate = (perSecond) => `${number(perSecond)}/s`;

const queueColumns = (context) => [
  { title: 'User', cell: ({ user, session }) => userLink(context, user, session) },
  { title: 'Queued', isNumber: true, cell: ({ queuedBytes }) => bytes(queuedBytes) },
  { title: 'Address', cell: ({ address }) => quoted(address) },
  { title: 'Client', cell: ({ client }) => quoted(client) },
  { title: 'Since', cell: ({ since }) => time(since) },
  { title: 'Subscriptions', isNumber: true, cell: ({ channels }) => number(channels) },
];

/** Where the inspector knows the channel, a link to it. */
function channelName(context, channel, type) {
  if (type === 'message' || type === 'stream') return channelLink(context, channel, type);
  if (type === 'user' || type === 'metadata') return userLink(context, channel);
  return quoted(channel);
}

const channelColumns = (context) => [
  { title: 'Channel', cell: ({ channel, type }) => channelName(context, channel, type) },
  { title: 'Type', cell: ({ type }) => ({ user: 'inbox of the user', metadata: 'metadata of the user' })[type] ?? type },
  { title: 'Subscribers', isNumber: true, cell: ({ subscribers }) => number(subscribers) },
  { title: 'Entries', isNumber: true, cell: ({ entriesPerSecond }) => rate(entriesPerSecond) },
  { title: 'Deliveries', isNumber: true, cell: ({ deliveriesPerSecond }) => rate(deliveriesPerSecond) },
];

const publisherColumns = (context) => [
  { title: 'User', cell: ({ user, session }) => userLink(context, user, session) },
  { title: 'Messages', isNumber: true, cell: ({ messagesPerSecond }) => rate(messagesPerSecond) },
  { title: 'Bytes', isNumber: true, cell: ({ bytesPerSecond }) => `${bytes(bytesPerSecond)}/s` },
  { title: 'Address', cell: ({ address }) => quoted(address) },
  { title: 'Client', cell: ({ client }) => quoted(client) },
];

const refusedColumns = (context) => [
  { title: 'User', cell: ({ user }) => userLink(context, user) },
  { title: 'What', cell: ({ request }) => request },
  { title: 'How often', isNumber: true, cell: ({ count }) => number(count) },
  { title: 'Last', cell: ({ last }) => time(last) },
  { title: 'Channel', cell: ({ channel, channelType }) => (channel === undefined ? '–' : channelName(context, channel, channelType)) },
  { title: 'Why', cell: ({ reason }) => sentence(reason) },
];
