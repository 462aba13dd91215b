// A list that follows what happens, newest at the bottom: with a rate that it keeps, still while nobody looks, and honest
// about what it doesn't show.

import { counted, element, number } from './dom.js';
import { field } from './view.js';
import { RateWindow } from './window.js';

const flushEvery = 250;
const rowsMax = 1000;
const rates = [[10, '10 a second'], [50, '50 a second'], [200, '200 a second'], [1000, '1,000 a second']];

export class LogView {
  #window;
  #isPausedByUser = false;
  #removed = 0;

  /** `row` makes the element of an item. */
  constructor(context, { label, row, perSecond = 50 }) {
    this.row = row;
    this.#window = new RateWindow({ perSecond, now: performance.now() });
    this.counts = element('p', { class: 'muted counts' });
    this.state = element('p', { role: 'status', class: 'state' });
    // What comes fast must not be read out; the state and what is refused are.
    this.rows = element('div', { class: 'log', role: 'log', 'aria-live': 'off', 'aria-label': label, tabindex: 0 });
    const pause = () => this.#pause(!this.#isPausedByUser);
    this.pauseButton = element('button', { type: 'button', 'aria-pressed': 'false', onclick: pause }, 'Pause');
    const rate = field({ label: 'Show at most', name: 'rate', value: perSecond, options: rates });
    rate.querySelector('select').addEventListener('change', ({ target }) => this.#setRate(Number(target.value)));
    const clear = element('button', { type: 'button', onclick: () => this.clear() }, 'Clear');
    const tools = element('div', { class: 'row log-tools' }, rate, this.pauseButton, clear);
    this.place = element('div', {}, tools, this.state, this.rows, this.counts);
    const timer = setInterval(() => this.#flush(), flushEvery);
    const look = () => this.#apply();
    document.addEventListener('visibilitychange', look);
    context.signal.addEventListener('abort', () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    });
    this.#apply();
    this.#count();
  }

  get numbers() {
    const { received, shown, hidden } = this.#window;
    return { received, shown, hidden };
  }

  push(item) {
    this.#window.push(item);
  }

  /** A line that is always shown, in its place among the items. */
  note(text, kind = '') {
    this.#flush();
    this.#append([element('div', { class: `note ${kind}` }, text)]);
  }

  say(text) {
    this.state.textContent = text;
  }

  clear() {
    this.rows.replaceChildren();
    this.#removed = 0;
    this.#count();
  }

  #pause(isPaused) {
    this.#isPausedByUser = isPaused;
    this.pauseButton.setAttribute('aria-pressed', `${isPaused}`);
    this.pauseButton.textContent = isPaused ? 'Resume' : 'Pause';
    this.#apply();
  }

  #apply() {
    if (this.#isPausedByUser || document.hidden) this.#window.pause();
    else this.#window.resume();
  }

  #setRate(perSecond) {
    this.#window.changeRate(perSecond);
    this.#flush();
  }

  #flush() {
    const { left, items } = this.#window.take(performance.now());
    const rows = items.map((item) => this.row(item));
    if (left > 0) rows.unshift(element('div', { class: 'note left-out' }, `${number(left)} not shown`));
    if (rows.length > 0) this.#append(rows);
    this.#count();
  }

  /** Follows the end, unless somebody has scrolled up to read. */
  #append(rows) {
    const { scrollHeight, scrollTop, clientHeight } = this.rows;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 30;
    this.rows.append(...rows);
    for (let excess = this.rows.childElementCount - rowsMax; excess > 0; excess--) {
      this.rows.firstElementChild.remove();
      this.#removed++;
    }
    if (isAtEnd) this.rows.scrollTop = this.rows.scrollHeight;
  }

  #count() {
    const { received, shown, hidden } = this.#window;
    const parts = [
      `${number(received)} received`,
      `${number(shown)} shown`,
      hidden > 0 && `${number(hidden)} not shown`,
      this.#removed > 0 && `the list keeps the newest ${number(rowsMax)} rows and has dropped ${counted(this.#removed, 'row')}`,
      this.#window.isPaused && 'paused: new ones are counted, not shown',
    ];
    const text = parts.filter(Boolean).join(' · ');
    if (this.counts.textContent !== text) this.counts.textContent = text;
  }
}
