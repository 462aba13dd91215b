// Elements of the page. What comes from outside becomes text, never markup: there is no way here to make any of it.

/**
 * Makes an element. `on…` properties are listeners, `true` stands for an attribute without a value, and undefined, null
 * and false leave it out. Children are texts and nodes.
 */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

let lastId = 0;

/** An id that no other element of the page has. */
export const freshId = (name) => `${name}-${++lastId}`;

/** A name or a content from outside, apart from the direction of the text around it. */
export const quoted = (text) => element('bdi', { class: 'data' }, visible(`${text}`));

/** A small button. */
export const button = (title, press, more = {}) =>
  element('button', { type: 'button', class: 'small', onclick: press, ...more }, title);

export const muted = (...children) => element('p', { class: 'muted' }, ...children);

/** A sentence of the server, which may have names in it. */
export const sentence = (text) => element('bdi', {}, visible(`${text}`));

/** The text with its control and direction characters as what they are. */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (character) => {
    return `\\u{${character.codePointAt(0).toString(16)}}`;
  });
}

/** A content that may be long: its beginning, and the rest on demand. */
export function content(text, shown = 400) {
  if (text.length <= shown) return quoted(text);
  const rest = element('button', { type: 'button', class: 'small' }, `${number(text.length - shown)} more characters`);
  const whole = element('span', {}, quoted(text.slice(0, shown)), '… ', rest);
  rest.addEventListener('click', () => whole.replaceChildren(quoted(text)));
  return whole;
}

// MARK: Numbers and times

const numbers = new Intl.NumberFormat('en');
export const number = (value) => (value === undefined ? '–' : numbers.format(value));

export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

const two = (value) => `${value}`.padStart(2, '0');

/** A point in time, in milliseconds since 1970 or as text, in the time of this machine. */
export function time(value) {
  if (value === undefined) return '–';
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return `${value}`;
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const isToday = new Date().toDateString() === date.toDateString();
  const iso = date.toISOString();
  const exact = `${clock}.${`${date.getMilliseconds()}`.padStart(3, '0')}`;
  return element('time', { datetime: iso, title: iso }, isToday ? exact : `${day} ${clock}`);
}

/** How long something takes or has lasted. */
export function duration(milliseconds) {
  const steps = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1000, 's']];
  const [size, unit] = steps.find(([size]) => milliseconds >= size) ?? [1, 'ms'];
  return `${number(Math.floor(milliseconds / size))} ${unit}`;
}

/** A time that has passed, with how long ago. */
export const ago = (value) =>
  value === undefined ? '–' : element('span', {}, time(value), ` (${duration(Math.max(0, Date.now() - value))} ago)`);

export function bytes(count) {
  if (count === undefined) return '–';
  if (count < 1024) return `${number(count)} B`;
  return count < 1_048_576 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1_048_576).toFixed(1)} MiB`;
}
