// Metadata with its revisions, and locks with their owners.
//
// Every write names the revision that the page shows. If somebody else was faster, nothing is written, and both values are
// shown side by side.

import * as calls from './calls.js';
import { ago, button, content, element, muted, number, quoted, visible } from './dom.js';
import { action, ask, copies, form, loaded, refusal, section, table, userLink, values } from './view.js';

export const title = 'Storage';

const kinds = [
  ['channel', 'channel'],
  ['stream', 'stream channel'],
  ['user', 'user'],
];

export function show(main, context) {
  const { parameters } = context;
  const [channel, user, type] = ['channel', 'user', 'type'].map((name) => parameters.get(name) ?? undefined);
  const kind = user !== undefined ? 'user' : type === 'stream' ? 'stream' : 'channel';
  const choose = form(
    'Whose storage',
    [
      { label: 'Of the', name: 'kind', value: kind, options: kinds },
      { label: 'Name', name: 'name', value: channel ?? user, required: true },
    ],
    'Show',
    ({ kind, name }) => {
      const type = kind === 'stream' ? kind : undefined;
      context.go('storage', kind === 'user' ? { user: name } : { channel: name, type });
    },
  );
  main.append(section(context, 'Whose storage', {}, choose));
  if (channel === undefined && user === undefined) return;
  const of = user === undefined ? { channel, type } : { user };
  context.heading.replaceChildren(element('span', { class: 'muted' }, `Storage of the ${kind} `), quoted(channel ?? user));
  document.title = `Storage of the ${kind} ${channel ?? user} – Heliograph`;
  main.append(metadata(context, of));
  if (user === undefined) main.append(locks(context, of));
}

// MARK: Metadata

function metadata(context, of) {
  const editor = element('div');
  const list = loaded(context, () => calls.metadata(of), ({ revision, items }) => [
    muted(`Revision of the set: ${revision}`),
    table('Items', [
      { title: 'Key', cell: ({ key }) => quoted(key) },
      { title: 'Value', cell: ({ value }) => content(value) },
      { title: 'Revision', isNumber: true, cell: ({ revision }) => `${revision}` },
      { title: 'Written', cell: ({ updated }) => ago(updated) },
      { title: 'By', cell: ({ author }) => quoted(author ?? '') },
      {
        title: 'Change',
        cell: (item) =>
          element(
            'span',
            { class: 'row' },
            button('Edit', () => edit(item), { 'aria-label': `Edit ${item.key}` }),
            button('Remove', () => remove(item), { 'aria-label': `Remove ${item.key}` }),
            copies(context, () => calls.removeItem({ ...of, ...item })),
          ),
      },
    ], items, 'There is no metadata.'),
  ]);
  const edit = (item) => {
    editor.replaceChildren(itemEditor(context, of, item, list.load, () => editor.replaceChildren()));
    editor.querySelector('textarea').focus();
  };
  const remove = async (item) => {
    const contents = [element('p', {}, 'Remove ', quoted(item.key), ` if it still has the revision ${item.revision}?`)];
    if (!(await ask(context, 'Remove an item', contents, 'Remove'))) return;
    try {
      await context.api.call(calls.removeItem({ ...of, ...item }), context.signal);
      context.announce(`${item.key} is removed.`);
    } catch (error) {
      if (error.name !== 'AbortError') editor.replaceChildren(refusal(error));
    }
    await list.load();
  };
  const add = action(context, {
    title: 'Add an item',
    verb: 'Add',
    fields: [
      { label: 'Key', name: 'key', required: true, maxlength: 32 },
      { label: 'Value', name: 'value', type: 'textarea' },
    ],
    call: ({ key, value }) => calls.setItem({ ...of, key, value: value ?? '', revision: 0 }),
    lasts: 'Survives a restart. It is written only if there is no such item yet.',
    done: ({ revision }) => `Added; the set has the revision ${revision} now.`,
    then: list.load,
  });
  const live = element('div', { 'aria-live': 'polite' }, editor);
  return section(context, 'Metadata', { call: () => calls.metadata(of) }, list.place, live, add);
}

/** Overwrites an item whose revision is still the one that is shown. */
function itemEditor(context, of, { key, value, revision }, reload, close) {
  const outcome = element('div', { role: 'alert' });
  let expected = revision;
  const call = (given) => calls.setItem({ ...of, key, value: given.value ?? '', revision: expected });
  const save = async (given) => {
    try {
      await context.api.call(call(given), context.signal);
    } catch (error) {
      if (error.name === 'AbortError') return;
      outcome.replaceChildren(refusal(error));
      if (error.status === 409) await compare(given.value ?? '');
      await reload();
      return;
    }
    context.announce(`${key} is written.`);
    close();
    await reload();
  };
  /** Somebody else was faster: what is there now stands beside what was to be written. */
  const compare = async (mine) => {
    let items;
    try {
      ({ items } = await context.api.call(calls.metadata(of), context.signal));
    } catch (error) {
      if (error.name !== 'AbortError') outcome.append(refusal(error));
      return;
    }
    const there = items.find((item) => item.key === key);
    const found = there ? `There now, revision ${there.revision}` : 'There now: the item was removed';
    const side = (title, text) => element('div', {}, element('h4', {}, title), element('pre', {}, quoted(text)));
    const decide = (text, act) => element('button', { type: 'button', onclick: act }, text);
    outcome.append(
      element('div', { class: 'columns even' }, side('Yours, not written', mine), side(found, there?.value ?? '')),
      element('p', { class: 'row' },
        decide('Write mine over it', () => {
          expected = there?.revision ?? 0;
          return save({ value: mine });
        }),
        decide('Keep what is there', close),
      ),
    );
  };
  const made = form(
    `Edit ${key}`,
    [{ label: `Value of ${visible(key)}`, name: 'value', type: 'textarea', value, rows: 5 }],
    'Write',
    save,
    element('button', { type: 'button', onclick: close }, 'Cancel'),
    copies(context, () => call(values(made))),
  );
  return element(
    'div',
    { class: 'editor' },
    element('h3', {}, 'Edit ', quoted(key)),
    muted(`Written only if the item still has the revision ${revision}. Survives a restart.`),
    made,
    outcome,
  );
}

// MARK: Locks

function locks(context, of) {
  const list = loaded(context, () => calls.locks(of), ({ revision, locks }) => [
    muted(`Revision of the locks: ${revision}`),
    table('Locks', [
      { title: 'Lock', cell: ({ name }) => quoted(name) },
      { title: 'Owner', cell: ({ owner }) => (owner === undefined ? 'free' : userLink(context, owner)) },
      { title: 'Fencing token', isNumber: true, cell: ({ fencingToken }) => `${fencingToken}` },
      { title: 'Time to live', isNumber: true, cell: ({ ttl }) => `${number(ttl)} s` },
      {
        title: 'Change',
        cell: (lock) =>
          element('span', { class: 'row' },
            lock.owner !== undefined && [
              act('Revoke', lock, calls.revokeLock, ['Take ', quoted(lock.name), ' from ', quoted(lock.owner), '?']),
            ],
            act('Remove', lock, calls.removeLock, ['Remove ', quoted(lock.name), '? Who waits for it is refused.']),
          ),
      },
    ], locks, 'There is no lock.'),
  ]);
  const outcome = element('div', { role: 'alert' });
  const act = (title, lock, makes, question) => {
    const call = () => makes({ ...of, ...lock });
    const run = async () => {
      if (!(await ask(context, `${title} a lock`, [element('p', {}, question, ' It survives a restart.')], title))) return;
      try {
        await context.api.call(call(), context.signal);
        outcome.replaceChildren();
        context.announce(`${title}: ${lock.name}, done.`);
      } catch (error) {
        if (error.name !== 'AbortError') outcome.replaceChildren(refusal(error));
      }
      await list.load();
    };
    return [button(title, run, { 'aria-label': `${title} ${lock.name}` }), copies(context, call)];
  };
  const create = action(context, {
    title: 'Create a lock',
    verb: 'Create',
    fields: [
      { label: 'Name', name: 'name', required: true, maxlength: 64 },
      {
        label: 'Time to live in seconds',
        name: 'ttl',
        type: 'number',
        min: 10,
        max: 300,
        value: 10,
        hint: 'for how long an owner who is away keeps it',
      },
    ],
    call: (given) => calls.createLock({ ...of, ...given }),
    lasts: 'Survives a restart. Nobody owns it at first.',
    done: () => 'Created.',
    then: list.load,
  });
  return section(context, 'Locks', { call: () => calls.locks(of) }, list.place, outcome, create);
}
