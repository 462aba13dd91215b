// The parts that pages consist of: sections that load, tables that the server pages, actions, and their commands to copy.
//
// A page gets a context: `api`, the `parameters` of its address, a `signal` that ends with it, `linkTo` and `go` to other
// pages, and `announce` for what a screen reader should read out.

import { asCurl, asRtm } from './calls.js';
import { button, counted, element, freshId, muted, number, quoted, sentence } from './dom.js';

// MARK: Errors

/** Why a call was refused or had no answer, with the limit and when it may succeed. */
export function refusal(error) {
  // Clients of the edge count in milliseconds, the HTTP API in seconds.
  const seconds = error.name === 'RTMError' ? error.retryAfter / 1000 : error.retryAfter;
  const title = error.status === 0 ? 'No answer: ' : 'Refused: ';
  const facts = [
    error.errorName && `${error.errorName}${error.code ? ` (${error.code})` : ''}`,
    error.limit && `limit ${error.limit.name}: ${error.limit.value}`,
    seconds > 0 && `again in ${seconds} s`,
  ].filter(Boolean);
  const more = facts.length > 0 && element('span', { class: 'muted' }, ` ${facts.join(' · ')}`);
  return element('p', { class: 'refusal' }, element('strong', {}, title), sentence(error.reason ?? error.message), more);
}

// MARK: Copies

/** Buttons that copy a call as a command. `call` is asked when one is pressed, and may throw. */
export function copies(context, call) {
  const copy = async (make) => {
    let text;
    try {
      text = make(location.origin, context.api.app, call(), context.api.session.edges[0]);
    } catch (error) {
      return context.announce(error.reason ?? error.message);
    }
    if (text === undefined) return context.announce('rtm has no command for this; copy it as curl.');
    return copyText(context, text);
  };
  const copyButton = (name, make) => {
    const title = `Copy as ${name}`;
    return button(name, () => copy(make), { class: 'small quiet', 'aria-label': title, title });
  };
  return element('span', { class: 'copies' }, copyButton('curl', asCurl), copyButton('rtm', asRtm));
}

/** Puts the text on the clipboard. Where a page may not, as over plain HTTP, it is shown to be copied by hand. */
export async function copyText(context, text, name = text) {
  try {
    await navigator.clipboard.writeText(text);
    context.announce(`Copied: ${name}`);
  } catch {
    const area = element('textarea', { readonly: true, rows: 6, 'aria-label': 'To copy' });
    area.value = text;
    await ask(context, 'Copy this', [area], 'Close', () => area.select());
  }
}

// MARK: Dialogs

/** Shows a dialog and returns whether its button was pressed. */
export function ask(context, title, contents, accept, shown = () => {}) {
  const id = freshId('dialog');
  return new Promise((resolve) => {
    const dialog = element('dialog', { 'aria-labelledby': id }, element('h2', { id }, title), ...contents);
    const end = (isAccepted) => {
      dialog.close();
      dialog.remove();
      resolve(isAccepted);
    };
    const buttons = [element('button', { type: 'button', class: 'primary', onclick: () => end(true) }, accept)];
    if (accept !== 'Close') buttons.push(element('button', { type: 'button', onclick: () => end(false) }, 'Cancel'));
    dialog.append(element('p', { class: 'row' }, ...buttons));
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      end(false);
    });
    document.body.append(dialog);
    context.signal.addEventListener('abort', () => end(false), { once: true });
    dialog.showModal();
    shown();
  });
}

// MARK: Sections

/** A part of a page with a heading, and commands to copy for what it shows. */
export function section(context, title, { call } = {}, ...children) {
  const id = freshId('section');
  const tools = call && copies(context, call);
  const heading = element('div', { class: 'heading' }, element('h2', { id }, title), tools);
  return element('section', { 'aria-labelledby': id }, heading, ...children);
}

/**
 * A place that shows the answer of a call, or why it was refused. `call` is asked again by each `load`; of several at a
 * time the last one counts.
 */
export function loaded(context, call, show) {
  const place = element('div', { class: 'loaded' }, element('p', { class: 'muted loading' }, 'Loading …'));
  let last = 0;
  const load = async () => {
    const own = ++last;
    place.setAttribute('aria-busy', 'true');
    try {
      const answer = await context.api.call(call(), context.signal);
      if (own === last) place.replaceChildren(...[show(answer)].flat(Infinity).filter(Boolean));
    } catch (error) {
      if (error.name === 'AbortError' || own !== last) return;
      place.replaceChildren(refusal(error), button('Try again', load));
    }
    if (own === last) place.removeAttribute('aria-busy');
  };
  load();
  return { place, load };
}

// MARK: Links

/** A user, or one session of the user, in the inspector. */
export const userLink = ({ linkTo }, user, session) =>
  element('a', { href: linkTo('inspector', { user, session }) }, quoted(user));

export const channelLink = ({ linkTo }, channel, type, text = channel) =>
  element('a', { href: linkTo('inspector', { channel, type: type === 'stream' ? type : undefined }) }, quoted(text));

// MARK: Facts and tables

/** Names with their values, in pairs. */
export const facts = (pairs) =>
  element(
    'dl',
    { class: 'facts' },
    pairs
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );

/**
 * A table. A column has a `title`, the `cell` of a row, and `isNumber`. Narrow screens show each row as a block, for which
 * styles take the roles of a table away, so they are said.
 */
export function table(caption, columns, rows, empty = 'There is nothing.') {
  if (rows.length === 0) return muted(empty);
  const kind = ({ isNumber }) => (isNumber ? 'number' : undefined);
  const cell = (column, row) =>
    element('td', { role: 'cell', class: kind(column), 'data-title': column.title }, column.cell(row));
  const title = (column) => element('th', { role: 'columnheader', scope: 'col', class: kind(column) }, column.title);
  const line = (cells) => element('tr', { role: 'row' }, cells);
  return element(
    'table',
    { role: 'table' },
    element('caption', { class: 'hidden' }, caption),
    element('thead', { role: 'rowgroup' }, line(columns.map(title))),
    element('tbody', { role: 'rowgroup' }, rows.map((row) => line(columns.map((column) => cell(column, row))))),
  );
}

/**
 * A table whose rows come from the server page by page. `call` gets the cursor of a page, `rows` and `next` read the
 * answer, and `about` says more of it.
 */
export function pages(context, { caption, call, columns, rows, next, about = () => undefined, empty }) {
  /** The cursors of the pages up to this one. */
  let cursors = [undefined];
  const list = loaded(
    context,
    () => call(cursors.at(-1)),
    (answer) => {
      const following = next(answer);
      const move = (title, isThere, change) => {
        const turn = async () => {
          change();
          await list.load();
          list.place.querySelector('[data-pages]')?.focus();
          context.announce(`${caption}, page ${cursors.length}`);
        };
        return button(title, turn, { disabled: !isThere });
      };
      const isPaged = following !== undefined || cursors.length > 1;
      return [
        about(answer),
        table(caption, columns, rows(answer), empty),
        isPaged &&
          element(
            'p',
            { class: 'row', 'data-pages': true, tabindex: -1 },
            move('Previous page', cursors.length > 1, () => cursors.pop()),
            element('span', { class: 'muted' }, `Page ${cursors.length}`),
            move('Next page', following !== undefined, () => cursors.push(following)),
          ),
      ];
    },
  );
  const first = () => {
    cursors = [undefined];
    return list.load();
  };
  return { place: list.place, load: list.load, first };
}

/** Says that rows are missing, when not all edges have answered. */
export const missingEdges = ({ asked, answered } = { asked: 0, answered: 0 }) =>
  asked === answered
    ? undefined
    : element(
        'p',
        { class: 'warning', role: 'alert' },
        `Something is missing here: of ${counted(asked, 'event loop')} of edges only ${number(answered)} answered.`,
      );

// MARK: Forms and actions

/** Names mean what was typed. */
export const asTyped = { autocomplete: 'off', spellcheck: 'false', autocapitalize: 'none' };

/** A field with its label. Its `value` is what it has at first. */
export function field({ label, name, type = 'text', value, options, hint, ...more }) {
  const id = freshId(name);
  const about = hint ? freshId('hint') : undefined;
  const shared = { id, name, 'aria-describedby': about, ...asTyped, ...more };
  const isCheck = type === 'checkbox';
  const option = ([key, text]) => element('option', { value: key, selected: key === value }, text);
  let control;
  if (options) control = element('select', shared, options.map(option));
  else if (type === 'textarea') control = element('textarea', { rows: 3, ...shared });
  else control = element('input', { type, ...shared, checked: isCheck && value });
  if (!options && !isCheck && value !== undefined) control.value = value;
  const title = element('label', { for: id }, label);
  const note = hint && element('span', { id: about, class: 'hint' }, hint);
  return element('div', { class: isCheck ? 'check' : 'field' }, isCheck ? [control, title] : [title, control], note);
}

/** What is in the form: texts, numbers of number fields, and whether boxes are checked; undefined for what is empty. */
export function values(form) {
  const found = {};
  for (const control of form.elements) {
    if (!control.name) continue;
    if (control.type === 'checkbox') found[control.name] = control.checked || undefined;
    else if (control.value === '') found[control.name] = undefined;
    else found[control.name] = control.type === 'number' ? Number(control.value) : control.value;
  }
  return found;
}

export function form(name, fields, title, submit, ...more) {
  const buttons = element('div', { class: 'row' }, element('button', {}, title), ...more);
  const made = element('form', { class: 'fields', 'aria-label': name }, fields.map(field), buttons);
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    submit(values(made), made);
  });
  return made;
}

/**
 * Something that can be done: its form, whether its effect survives a restart, and the call as a command.
 *
 * `call` makes the call of what is in the form. `confirm` asks before. `done` says what the answer means.
 */
export function action(context, { title, verb = title, fields = [], call, confirm, lasts, done, then = () => {}, isOpen }) {
  const output = element('div', { role: 'status', class: 'outcome' });
  const scope = call(Object.fromEntries(fields.map(({ name }) => [name, '']))).scope;
  const run = async (given, made) => {
    const submit = made.querySelector('button:not([type])');
    const chosen = call(given);
    if (confirm && !(await ask(context, title, [element('p', {}, confirm(given))], verb))) return;
    submit.disabled = true;
    try {
      const answer = await context.api.call(chosen, context.signal);
      const { isDurable, asked } = answer;
      const durability = isDurable === undefined ? '' : ` It ${isDurable ? 'survives' : 'does not survive'} a restart.`;
      output.replaceChildren(element('p', { class: 'good' }, done(answer, given), durability));
      if (asked !== undefined) output.append(missingEdges(answer) ?? '');
      await then(answer, given);
    } catch (error) {
      if (error.name === 'AbortError') return;
      output.replaceChildren(refusal(error));
    } finally {
      submit.disabled = false;
    }
  };
  const made = form(title, fields, verb, run, copies(context, () => call(values(made))));
  const notes = element(
    'p',
    { class: 'muted' },
    lasts,
    !context.api.may(scope) && element('strong', {}, ` Needs the scope ${scope}, which this key does not have.`),
  );
  return element('details', { class: 'action', open: isOpen }, element('summary', {}, title), notes, made, output);
}
