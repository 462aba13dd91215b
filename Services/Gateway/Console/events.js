// What happened in the app: its events, as a list that follows.

import * as calls from './calls.js';
import { button, content, element, quoted, time } from './dom.js';
import { LogView } from './log.js';
import { channelLink, copies, copyText, form, refusal, section, userLink, values } from './view.js';

export const title = 'Events';

/** These don't get better by waiting. */
const final = new Set([400, 401, 403, 404]);

/** Resolves when somebody looks, or the signal ends. What happens meanwhile is kept by the server. */
const seen = (signal) =>
  new Promise((resolve) => {
    const check = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    signal.addEventListener('abort', check);
    check();
  });

const pause = (seconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Reads events from a cursor on, page by page, and waits for more until the signal ends. */
export async function follow(context, asked, log, signal, take) {
  let { after } = asked;
  // The first page answers at once, so that what happens from here on is behind its cursor.
  let wait;
  let isAway = false;
  log.say('Asking …');
  for (;;) {
    await seen(signal);
    signal.throwIfAborted();
    try {
      const page = await context.api.call(calls.events({ ...asked, after, wait }), signal);
      log.say('Following.');
      isAway = false;
      for (const event of page.events) take(event);
      after = page.next;
      wait = '20s';
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      log.say('Not following.');
      if (final.has(error.status)) throw error;
      // Each attempt of a long outage would push out what is in the list.
      if (!isAway) log.note(refusal(error));
      isAway = true;
      await pause(error.retryAfter ?? 2, signal);
    }
  }
}

/** Whether the event is about the user. */
export function concerns({ user, data = {} }, name) {
  return [user, data.publisher, data.by].includes(name) || [data.users, data.timedOut].some((users) => users?.includes?.(name));
}

export const eventRow = (context) => (event) => {
  const { id, type, time: at, key, number, channel, channelType, user, data } = event;
  const about = channel === undefined
    ? user !== undefined && userLink(context, user)
    : channelLink(context, channel, channelType, key);
  return element(
    'div',
    { class: `entry ${type === 'gap' ? 'bad' : ''}` },
    time(at),
    element('span', { class: 'tag' }, quoted(type)),
    about || '',
    element('span', { class: 'muted' }, `${number}`),
    element('span', { class: 'what' }, data === undefined ? '' : content(JSON.stringify(data))),
    button('cursor', () => copyText(context, id), {
      class: 'small quiet',
      'aria-label': `Copy the cursor ${id}`,
      title: id,
    }),
  );
};

const beginnings = [
  ['oldest', 'the oldest that is kept'],
  ['latest', 'what happens next'],
  ['cursor', 'what follows the cursor'],
];

export function show(main, context) {
  const { parameters } = context;
  const place = element('div');
  let running;
  const asked = ({ from, after, types, channels }) => {
    // Without one the server would begin with the oldest.
    if (from === 'cursor' && after === undefined) throw new Error('Fill in the cursor first.');
    return {
      after: from === 'cursor' ? after : from === 'oldest' ? undefined : 'latest',
      types: types?.replaceAll(/\s/g, ''),
      channels,
    };
  };
  const begin = (given) => {
    running?.abort();
    running = new AbortController();
    context.signal.addEventListener('abort', () => running.abort());
    const log = new LogView({ ...context, signal: running.signal }, { label: 'Events', row: eventRow(context), perSecond: 200 });
    place.replaceChildren(log.place);
    const { signal } = running;
    const begun = async () => follow(context, asked(given), log, signal, (event) => log.push(event));
    begun().catch((error) => {
      if (error.name !== 'AbortError') log.place.prepend(refusal(error));
    });
  };
  const made = form(
    'Which events',
    [
      { label: 'Begin with', name: 'from', value: 'oldest', options: beginnings },
      { label: 'Cursor', name: 'after' },
      { label: 'Types', name: 'types', hint: 'such as message.published,session.login; all if empty' },
      { label: 'Channels begin with', name: 'channels', value: parameters.get('channels') ?? undefined },
    ],
    'Follow',
    begin,
    copies(context, () => calls.events(asked(values(made)))),
  );
  main.append(section(context, 'Which events', {}, made), section(context, 'What happened', {}, place));
  begin(values(made));
}
