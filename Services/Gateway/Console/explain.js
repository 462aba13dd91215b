// Why did a message not arrive, or would not? The dry run publishes nothing.

import * as calls from './calls.js';
import { element, quoted, sentence, time } from './dom.js';
import { copies, form, loaded, missingEdges, section, values } from './view.js';

export const title = 'Explain';

const verdicts = {
  delivered: ['good', 'Delivered'],
  wouldBeDelivered: ['good', 'Would be delivered'],
  notDelivered: ['bad', 'Not delivered'],
  wouldNotBeDelivered: ['bad', 'Would not be delivered'],
  unknown: ['warn', 'Not known'],
};

/** The verdict, and the hops of the message's way as a tree. */
export function explanation(context, { verdict, hop, reason, tree, edges }) {
  const [kind, words] = verdicts[verdict] ?? ['warn', verdict];
  return [
    element('p', { class: 'verdict' }, element('strong', { class: kind }, words), ` – ${hop}: `, sentence(reason)),
    element('ul', { class: 'tree' }, branch(context, tree)),
    missingEdges(edges),
  ];
}

function branch(context, { hop, verdict, reason, node, loop, session, at, hops = [] }) {
  const facts = [node, loop !== undefined && `loop ${loop}`, session && `session ${session}`].filter(Boolean).join(', ');
  return element(
    'li',
    {},
    element('strong', {}, hop),
    ` ${verdict} `,
    element('span', { class: 'muted' }, quoted(facts), at === undefined ? '' : [' ', time(at)]),
    element('div', {}, sentence(reason)),
    hops.length > 0 && element('ul', {}, hops.map((one) => branch(context, one))),
  );
}

export function show(main, context) {
  const { parameters } = context;
  const [channel, user, offset] = ['channel', 'user', 'offset'].map((name) => parameters.get(name) ?? undefined);
  const text = (label, name, value, more = {}) => ({ label, name, value, ...more });
  main.append(
    question(context, 'What became of a message?', {
      fields: [
        text('Channel', 'channel', channel, { hint: 'the inbox of the user if empty' }),
        text('Offset', 'offset', offset, { type: 'number', min: 1, required: true, hint: 'as publishing answered' }),
        text('For the user', 'user', user, { hint: 'as far as the edges if empty' }),
        text('Epoch', 'epoch', undefined, { type: 'number', min: 0, hint: 'the present log if empty' }),
      ],
      call: calls.explainMessage,
      button: 'Explain',
      asksAtOnce: offset !== undefined,
    }),
    question(context, 'Do messages reach a user now?', {
      fields: [text('User', 'user', user, { required: true })],
      call: calls.explainUser,
      button: 'Explain',
      asksAtOnce: user !== undefined && channel === undefined && offset === undefined,
    }),
    question(context, 'Dry run: would a message arrive?', {
      fields: [
        text('Channel', 'channel', channel, { hint: 'the inbox of the receiver if empty' }),
        text('Receiver', 'to', user, { required: true }),
        text('Publisher', 'as', undefined, { hint: 'the backend itself if empty' }),
      ],
      call: calls.explainPublish,
      button: 'Try it without publishing',
    }),
  );
}

/** A form whose answer is an explanation, which stays until the next one. */
function question(context, title, { fields, call, button, asksAtOnce }) {
  const outcome = element('div', { 'aria-live': 'polite' });
  const ask = (given) => {
    const answer = loaded(context, () => call(given), (found) => explanation(context, found));
    outcome.replaceChildren(answer.place);
  };
  const made = form(title, fields, button, ask, copies(context, () => call(values(made))));
  if (asksAtOnce) ask(values(made));
  return section(context, title, {}, made, outcome);
}
