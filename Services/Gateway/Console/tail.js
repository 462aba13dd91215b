// What is published in a channel, or what a user does, as it happens.
//
// A channel is followed by a session of the web client, which subscribes quietly: nobody sees it come. The inbox of a user
// belongs to the user's own session, so a user is followed by the events of the app.

import * as calls from './calls.js';
import { content, counted, element, quoted, time } from './dom.js';
import { concerns, eventRow, follow } from './events.js';
import { LogView } from './log.js';
import { copies, form, refusal, section, userLink, values } from './view.js';

export const title = 'Live tail';

const kinds = [
  ['channel', 'channel'],
  ['user', 'user'],
];
const tokenSeconds = 3600;

export function show(main, context) {
  const { parameters } = context;
  const channel = parameters.get('channel') ?? undefined;
  const user = parameters.get('user') ?? undefined;
  const place = element('div');
  let running;
  const begin = (given) => {
    running?.abort();
    running = new AbortController();
    context.signal.addEventListener('abort', () => running.abort());
    const { name } = given;
    const isChannel = given.kind === 'channel';
    const log = new LogView({ ...context, signal: running.signal }, {
      label: `${isChannel ? 'Messages of the channel' : 'What the user does:'} ${name}`,
      row: isChannel ? messageRow(context) : eventRow(context),
    });
    place.replaceChildren(log.place);
    const run = isChannel ? tailChannel : tailUser;
    const { signal } = running;
    run(context, { name, presence: given.presence === true }, log, signal).catch((error) => {
      if (signal.aborted) return;
      log.say('Not connected.');
      log.place.prepend(refusal(error));
    });
  };
  const stop = () => {
    if (!running || running.signal.aborted) return;
    running.abort();
    place.querySelector('.state')?.replaceChildren('Stopped.');
  };
  const call = ({ kind, name = '' }) =>
    kind === 'channel' ? calls.messages({ channel: name }) : calls.events({ after: 'latest' });
  const made = form(
    'What to follow',
    [
      { label: 'Follow', name: 'kind', value: user === undefined ? 'channel' : 'user', options: kinds },
      { label: 'Name', name: 'name', value: channel ?? user, required: true },
      { label: 'Comings and goings, too', name: 'presence', type: 'checkbox' },
    ],
    'Start',
    begin,
    element('button', { type: 'button', onclick: stop }, 'Stop'),
    copies(context, () => call(values(made))),
  );
  main.append(section(context, 'What to follow', {}, made), section(context, 'What happens', {}, place));
  if (channel !== undefined || user !== undefined) begin(values(made));
}

// MARK: A channel

async function tailChannel(context, { name, presence }, log, signal) {
  const { api } = context;
  const userId = `console-${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`;
  const askToken = async () => (await api.call(calls.token({ user: userId, seconds: tokenSeconds }), signal)).token;
  if (api.session.edges.length === 0) throw new Error('The gateway names no edge for pages: set gateway.console.edges.');
  log.say('Connecting …');
  const token = await askToken();
  const [{ RTMClient }, { Presence }] = await Promise.all(
    ['./client/index.js', './client/presence.js'].map((module) => import(module)),
  );
  signal.throwIfAborted();
  // An app without a certificate needs no token, and has none.
  const tokens = token ? { token, tokenProvider: askToken } : {};
  const client = new RTMClient({ server: api.session.edges, appId: api.app, userId, ...tokens });
  if (presence) new Presence(client);
  const endsAt = endOf(name);
  signal.addEventListener('abort', () => client.close());
  client.listen((event) => {
    if (signal.aborted) return;
    if (event.type === 'message') log.push(event);
    else if (event.type === 'gap') log.note(gapText(event), 'bad');
    else if (event.type === 'presence') log.note(presenceText(event));
    else if (event.type === 'linkState') log.say(stateText(event, userId));
    if (endsAt(event)) log.note('The channel could not be subscribed again, so nothing more is shown. Press Start.', 'bad');
  });
  try {
    await client.login();
    await client.subscribe(name, { presence, quiet: true });
  } catch (error) {
    client.close();
    throw error;
  }
  log.say(`Following as ${userId}, quietly.`);
}

/**
 * Says of each event whether the subscription has ended with it: a channel that was not restored, and doesn't continue
 * behind a gap either.
 */
export function endOf(name) {
  let hasGap = false;
  return ({ type, unrestoredChannels = [] }) => {
    if (type === 'gap') hasGap = true;
    if (type !== 'linkState') return false;
    const isEnd = unrestoredChannels.includes(name) && !hasGap;
    hasGap = false;
    return isEnd;
  };
}

const messageRow = (context) => {
  return ({ timestamp, publisher, customType, payload, offset, channelName }) =>
    element(
      'div',
      { class: 'entry' },
      time(timestamp),
      userLink(context, publisher),
      customType ? element('span', { class: 'tag' }, quoted(customType)) : '',
      element('span', { class: 'what' }, typeof payload === 'string' ? content(payload) : bytesOf(payload)),
      element('a', { class: 'muted', href: context.linkTo('inspector', { channel: channelName, offset }) }, `@${offset}`),
    );
};

function bytesOf(payload) {
  const hex = [...payload.subarray(0, 32)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  const size = element('span', { class: 'muted' }, `${counted(payload.length, 'byte')} `);
  return [size, quoted(payload.length > 32 ? `${hex} …` : hex)];
}

const gapText = ({ lastSeen, continuesAfter }) =>
  `Messages are missing here: after offset ${lastSeen?.offset ?? 'unknown'}, it continues after ${continuesAfter.offset}` +
  `${lastSeen && lastSeen.epoch !== continuesAfter.epoch ? ', in a new log' : ''}.`;

export function presenceText({ change, userId, users, interval, states }) {
  if (change === 'snapshot') return `${counted(users.length, 'user is', 'users are')} there.`;
  if (change === 'interval') {
    const { joined, left, timedOut } = interval;
    return `${joined.length} joined, ${left.length} left, ${counted(timedOut.length, 'was', 'were')} lost.`;
  }
  if (change === 'stateChanged') return [quoted(userId), ' has the states ', quoted(JSON.stringify(states)), '.'];
  if (change === 'outOfService') return 'Presence is out of service.';
  return [quoted(userId), ` ${change === 'timedOut' ? 'was lost' : change}.`];
}

const stateText = ({ currentState, reason }, userId) =>
  currentState === 'connected' ? `Connected as ${userId}.` : `${currentState}${reason ? `: ${reason}` : ''}`;

// MARK: A user

async function tailUser(context, { name, presence }, log, signal) {
  const quiet = presence ? undefined : new Set(['channel.joined', 'channel.left', 'channel.occupied', 'channel.vacated']);
  await follow(context, { after: 'latest' }, log, signal, (event) => {
    if (event.type === 'gap' || (concerns(event, name) && !quiet?.has(event.type))) log.push(event);
  });
}
