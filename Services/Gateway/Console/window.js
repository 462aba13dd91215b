// Which items of a fast stream are shown. Pure: it gets the time.
//
// At most `perSecond` are shown; of what comes faster the newest are, and how many were left out before them is counted.
// So `received` is always the sum of `shown`, `hidden` and what waits.

export class RateWindow {
  received = 0;
  shown = 0;
  hidden = 0;
  #waiting = [];
  /** Where the oldest waiting item is, once the window is full: then it is a ring. */
  #first = 0;
  #left = 0;
  #isPaused = false;
  #perSecond;
  #allowance;
  #last;

  constructor({ perSecond, now }) {
    this.#perSecond = perSecond;
    this.#allowance = perSecond;
    this.#last = now;
  }

  get isPaused() {
    return this.#isPaused;
  }

  push(item) {
    this.received++;
    if (this.#isPaused) this.#leaveOut(1);
    else if (this.#waiting.length < this.#perSecond) this.#waiting.push(item);
    else {
      this.#waiting[this.#first] = item;
      this.#first = (this.#first + 1) % this.#perSecond;
      this.#leaveOut(1);
    }
  }

  changeRate(perSecond) {
    const ordered = this.#ordered();
    this.#waiting = ordered.slice(-perSecond);
    this.#first = 0;
    this.#leaveOut(ordered.length - this.#waiting.length);
    this.#perSecond = perSecond;
  }

  /** What comes from now on is only counted. What waited is counted, too, because it would come late. */
  pause() {
    this.#isPaused = true;
    this.#leaveOut(this.#waiting.length);
    this.#empty();
  }

  resume() {
    this.#isPaused = false;
  }

  /** What to show now: `left` items were left out before `items`, which are the newest. */
  take(now) {
    this.#allowance = Math.min(this.#perSecond, this.#allowance + (Math.max(0, now - this.#last) / 1000) * this.#perSecond);
    this.#last = now;
    const room = Math.floor(this.#allowance);
    if (this.#isPaused || room === 0) return { left: 0, items: [] };
    const ordered = this.#ordered();
    const items = ordered.slice(-room);
    this.#leaveOut(ordered.length - items.length);
    this.#empty();
    this.#allowance -= items.length;
    this.shown += items.length;
    const left = this.#left;
    this.#left = 0;
    return { left, items };
  }

  /** What waits, oldest first. */
  #ordered() {
    return [...this.#waiting.slice(this.#first), ...this.#waiting.slice(0, this.#first)];
  }

  #leaveOut(count) {
    this.hidden += count;
    this.#left += count;
  }

  #empty() {
    this.#waiting = [];
    this.#first = 0;
  }
}
