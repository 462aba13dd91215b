// One search box for a channel, a user, a session or a message: its state, and what can be done with it.

import * as calls from './calls.js';
import { ago, content, counted, element, muted, number, quoted, time } from './dom.js';
import { explanation } from './explain.js';
import { channelList, connectionColumns, inAll } from './overview.js';
import { action, channelLink, facts, loaded, missingEdges, pages, section, table, userLink } from './view.js';

export const title = 'Inspector';

export function show(main, context) {
  const { parameters } = context;
  const [channel, user, offset, type] = ['channel', 'user', 'offset', 'type'].map((name) => parameters.get(name) ?? undefined);
  const isNamed = channel !== undefined || user !== undefined;
  if (offset !== undefined && isNamed) showMessage(main, context, { channel, offset: Number(offset) });
  else if (channel !== undefined) showChannel(main, context, { channel, type });
  else if (user !== undefined) showUser(main, context, { user, session: parameters.get('session') });
  else showSearch(main, context, parameters.get('q') ?? '');
}

/** Says what the page is about, in its heading and in the title of the tab. */
function rename(context, kind, name) {
  context.heading.replaceChildren(element('span', { class: 'muted' }, `${kind} `), quoted(name));
  document.title = `${kind} ${name} – Heliograph`;
}

const links = (items) => element('p', { class: 'row links' }, items.map(([title, href]) => element('a', { href }, title)));

const messageLink = ({ linkTo }, about) => element('a', { href: linkTo('inspector', about) }, `${about.offset}`);

// MARK: Search

/** A name that could be a message's, CHANNEL@OFFSET. */
const messageName = /^(.+)@(\d{1,16})$/;
/** Sessions are numbers of 64 bits. */
const sessionName = /^\d{15,20}$/;

function showSearch(main, context, q) {
  const { linkTo } = context;
  const exact = [];
  if (q) {
    const message = messageName.exec(q);
    if (message) exact.push(['message', linkTo('inspector', { channel: message[1], offset: message[2] })]);
    exact.push(['channel', linkTo('inspector', { channel: q })], ['user', linkTo('inspector', { user: q })]);
    main.append(section(context, 'Exactly this', {}, links(exact.map(([kind, href]) => [[`${kind} `, quoted(q)], href]))));
    if (sessionName.test(q)) main.append(sessionSearch(context, q));
  }
  main.append(
    element(
      'div',
      { class: 'columns' },
      channelList(context, q ? 'Channels that begin so' : 'Channels', { prefix: q || undefined }),
      userList(context, q),
    ),
  );
}

function userList(context, prefix) {
  const call = (cursor) => calls.users({ prefix, cursor });
  const title = prefix ? 'Users online that begin so' : 'Users online';
  const list = pages(context, {
    caption: title,
    call,
    rows: ({ users }) => users,
    next: ({ nextCursor }) => nextCursor,
    about: ({ total }) => inAll(total, prefix),
    empty: 'No such user is online.',
    columns: [{ title: 'User', cell: ({ user }) => userLink(context, user) }],
  });
  return section(context, title, { call }, list.place);
}

/** Whose session it is. */
function sessionSearch(context, session) {
  const call = () => calls.connections({ session });
  const found = loaded(context, call, ({ connections: [connection], edges }) => [
    missingEdges(edges),
    connection === undefined
      ? muted('No session that is connected has this number.')
      : links([[['user ', quoted(connection.user)], context.linkTo('inspector', { user: connection.user, session })]]),
  ]);
  return section(context, 'A session with this number', { call }, found.place);
}

// MARK: A channel

function showChannel(main, context, about) {
  const { channel, type } = about;
  const { linkTo } = context;
  // The pages about messages mean the message channel of this name, which is another one.
  const isStream = type === 'stream';
  const newest = ({ offset }) => (isStream ? `${offset}` : messageLink(context, { channel, offset }));
  rename(context, isStream ? 'Stream channel' : 'Channel', channel);
  const state = loaded(context, () => calls.channel(about), (found) => [
    facts([
      ['Subscribed sessions', number(found.subscribers)],
      ['Members by presence', number(found.members)],
      ['Newest offset', found.offset === 0 ? 'no message yet' : newest(found)],
      ['Epoch of the log', `${found.epoch}`],
      ['Newest entry', found.active === undefined ? 'not in memory' : ago(found.active)],
    ]),
    missingEdges(found.edges),
  ]);
  const stored = storedMessages(context, { channel });
  main.append(
    links([
      ...(isStream ? [] : [['Live tail', linkTo('tail', { channel })], ['Why did it not arrive?', linkTo('explain', { channel })]]),
      ['Events', linkTo('events', { channels: channel })],
      ['Metadata and locks', linkTo('storage', { channel, type })],
    ]),
    element(
      'div',
      { class: 'columns' },
      element(
        'div',
        {},
        section(context, 'State', { call: () => calls.channel(about) }, state.place),
        members(context, about),
        isStream ? [] : section(context, 'Stored messages', { call: () => calls.history({ channel }) }, stored.place),
      ),
      section(
        context,
        'Actions',
        {},
        isStream
          ? muted('Stream channels have no action here; their metadata and locks do.')
          : [
              publishAction(context, { channel }, async () => {
                await Promise.all([state.load(), stored.first()]);
              }),
              purgeAction(context, { channel }, stored.first),
            ],
      ),
    ),
  );
}

const pairs = (state) =>
  Object.entries(state)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

function members(context, { channel, type }) {
  const call = (page) => calls.presence({ channel, type, page });
  const list = pages(context, {
    caption: 'Members',
    call,
    rows: ({ users }) => users ?? [],
    next: ({ nextPage }) => nextPage,
    about: ({ total }) => muted(`${number(total)} in the channel`),
    empty: 'Nobody is there, or everybody who is came quietly.',
    columns: [
      { title: 'User', cell: ({ user }) => userLink(context, user) },
      { title: 'Temporary states', cell: ({ state = {} }) => quoted(pairs(state)) },
    ],
  });
  return section(context, 'Members', { call }, list.place);
}

function storedMessages(context, of) {
  return pages(context, {
    caption: 'Stored messages, newest first',
    call: (before) => calls.history({ ...of, before }),
    rows: ({ messages }) => messages,
    next: ({ nextBefore }) => nextBefore,
    empty: 'No message is stored.',
    columns: messageColumns(context),
  });
}

const messageColumns = (context) => [
  { title: 'Time', cell: ({ timestamp }) => time(timestamp) },
  { title: 'Publisher', cell: ({ publisher }) => userLink(context, publisher) },
  { title: 'Custom type', cell: ({ customType }) => quoted(customType ?? '') },
  {
    title: 'Message',
    cell: ({ message, data }) =>
      message === undefined ? [element('span', { class: 'muted' }, 'Base64 '), content(data)] : content(message),
  },
];

function publishAction(context, to, then) {
  const call = ({ message, ...more }) => calls.publish({ ...to, ...more, message: message ?? '' });
  return action(context, {
    title: to.user === undefined ? 'Publish a message' : 'Send a message',
    verb: to.user === undefined ? 'Publish' : 'Send',
    fields: [
      { label: 'Message', name: 'message', type: 'textarea' },
      { label: 'Custom type', name: 'customType', maxlength: 32 },
      { label: 'Publisher', name: 'publisher', hint: '“server” if empty' },
      { label: 'Keep it in the history', name: 'store', type: 'checkbox' },
    ],
    call,
    lasts: 'A message in the history survives a restart; another one lives as long as the log of the channel.',
    done: ({ offset, timestamp }) => [
      'Published at offset ',
      messageLink(context, { ...to, offset }),
      ', ',
      time(timestamp),
      '.',
    ],
    then,
  });
}

function purgeAction(context, of, then) {
  const whose = of.channel ?? of.user;
  return action(context, {
    title: 'Remove stored messages',
    verb: 'Remove for good',
    fields: [{ label: 'Older than', name: 'until', type: 'datetime-local', hint: 'all of them if empty' }],
    call: ({ until }) => calls.purge({ ...of, before: until ? new Date(until).getTime() : undefined }),
    confirm: ({ until }) => [
      `Remove ${until ? `the stored messages before ${until}` : 'all stored messages'} of `,
      quoted(whose),
      ' for good?',
    ],
    lasts: 'Survives a restart: they are gone.',
    done: ({ removed }) => `${counted(removed, 'message')} removed.`,
    then,
  });
}

// MARK: A user

function showUser(main, context, { user, session }) {
  const { linkTo } = context;
  rename(context, session ? 'Session of' : 'User', user);
  const state = loaded(context, () => calls.user({ user }), (found) => [
    facts([
      ['Online', found.online ? 'yes' : 'no'],
      ['Banned', found.bannedUntil === undefined ? 'no' : element('span', { class: 'bad' }, 'until ', time(found.bannedUntil))],
    ]),
    session &&
      !found.connections.some((one) => one.session === session) &&
      element('p', { class: 'warning' }, 'The session ', quoted(session), ' is not connected any more.'),
    table('Sessions', connectionColumns(context).slice(1), found.connections, 'No session is connected.'),
    missingEdges(found.edges),
  ]);
  const where = loaded(context, () => calls.userChannels({ user }), ({ channels }) =>
    table('Channels', [
      { title: 'Channel', cell: ({ channel, type }) => channelLink(context, channel, type) },
      { title: 'Type', cell: ({ type }) => type },
    ], channels, 'Presence lists the user nowhere.'),
  );
  const stored = storedMessages(context, { user });
  main.append(
    links([
      ['Live tail', linkTo('tail', { user })],
      ['Do messages arrive?', linkTo('explain', { user })],
      ['Metadata', linkTo('storage', { user })],
    ]),
    element(
      'div',
      { class: 'columns' },
      element(
        'div',
        {},
        section(context, 'State', { call: () => calls.user({ user }) }, state.place),
        section(context, 'Channels', { call: () => calls.userChannels({ user }) }, where.place),
        section(context, 'Stored messages to the user', { call: () => calls.history({ user }) }, stored.place),
      ),
      section(
        context,
        'Actions',
        {},
        publishAction(context, { user }, stored.first),
        moderationActions(context, user, state.load),
        purgeAction(context, { user }, stored.first),
      ),
    ),
  );
}

const term = { name: 'seconds', type: 'number', min: 1, max: 3_153_600_000 };
const reason = { label: 'Reason', name: 'reason', hint: 'one sentence, which the user gets' };

/** What may be done to a user. Without a user the form asks for one. */
export function moderationActions(context, user, then) {
  const who = user === undefined ? [{ label: 'User', name: 'user', required: true }] : [];
  const with_ = (call) => (given) => call({ user, ...given });
  const named = (given) => quoted(user ?? given.user);
  const ended = ({ sessions }) => `${counted(sessions, 'session')} ended.`;
  return [
    user === undefined
      ? []
      : action(context, {
          title: 'Kick',
          fields: [...who, reason],
          call: with_(calls.kick),
          confirm: (given) => ['End all sessions of ', named(given), '? The user may log in again at once.'],
          lasts: 'Ends sessions, and nothing more: it does not survive a restart.',
          done: ended,
          then,
        }),
    action(context, {
      title: 'Ban',
      fields: [...who, { label: 'Seconds', ...term, value: 3600, required: true }, reason],
      call: with_(calls.ban),
      confirm: (given) => ['End all sessions of ', named(given), ` and refuse logins for ${counted(given.seconds, 'second')}?`],
      lasts: 'Survives a restart of everything.',
      done: (answer) => [ended(answer), ' Banned until ', time(answer.until), '.'],
      then,
    }),
    action(context, {
      title: 'Lift a ban',
      verb: 'Unban',
      fields: [...who, reason],
      call: with_(calls.unban),
      lasts: 'Survives a restart of everything.',
      done: ({ untilBefore }) =>
        untilBefore === undefined ? 'The user was not banned.' : ['The ban until ', time(untilBefore), ' is lifted.'],
      then,
    }),
    action(context, {
      title: 'Revoke tokens',
      fields: [...who, { label: 'Kept for seconds', ...term, hint: 'longer than tokens live; a year if empty' }, reason],
      call: with_(calls.revokeTokens),
      confirm: (given) => [
        'Refuse all tokens of ',
        named(given),
        ' that were issued before now, and end the sessions that have them?',
      ],
      lasts: 'Survives a restart of everything.',
      done: (answer) => [ended(answer), ' Tokens before ', time(answer.issuedBefore), ' are refused.'],
      then,
    }),
  ];
}

// MARK: A message

const notStored = 'It is not in the history: it was published without being stored, or was removed.';

function showMessage(main, context, { channel, offset }) {
  const user = channel === undefined ? context.parameters.get('user') : undefined;
  rename(context, 'Message', `${channel ?? user}@${offset}`);
  const call = () => calls.explainMessage({ channel, offset, user });
  const contents = element('div');
  const way = loaded(context, call, (answer) => {
    showContents(answer.tree.at);
    return explanation(context, answer);
  });
  const showContents = (at) => {
    if (at === undefined) return contents.replaceChildren(muted('When it was published is not known.'));
    const of = channel === undefined ? { user } : { channel };
    const stored = loaded(context, () => calls.history({ ...of, before: at, after: at, limit: 1 }), ({ messages }) =>
      table('The message', messageColumns(context), messages.filter(({ timestamp }) => timestamp === at), notStored),
    );
    return contents.replaceChildren(stored.place);
  };
  main.append(
    links([
      [channel === undefined ? 'User' : 'Channel', context.linkTo('inspector', { channel, user })],
      ['Why did it not arrive?', context.linkTo('explain', { channel, offset, user })],
      offset > 1 && ['Offset before', context.linkTo('inspector', { channel, user, offset: offset - 1 })],
      ['Offset after', context.linkTo('inspector', { channel, user, offset: offset + 1 })],
    ].filter(Boolean)),
    section(context, 'Contents', {}, contents),
    section(context, 'Its way', { call }, way.place),
  );
}
