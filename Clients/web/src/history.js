// Messages that were stored. A module of its own, so that nobody loads it who needs none.

import { schema } from './history-schema.js';
import { target } from './names.js';
import { patiently } from './patience.js';
import { sessionOf } from './session.js';
import { define, text } from './wire.js';

define(schema);
const codes = [-15003, -10025];

export class History {
  #session;

  constructor(client) {
    this.#session = sessionOf(client);
  }

  /** One page, and where the next one begins: 0 after the last. */
  async page(of, options) {
    const { count = 100, start = 0, end = 0 } = options ?? {};
    const { requests, encryption } = this.#session;
    const about = target(of);
    const request = { channelType: about.type, channel: about.name, count, startMs: start, endMs: end };
    const page = await requests.ask(codes, 'getHistory', request, 'history');
    const messages = page.messages.map(({ type, payload, customType, publisher, timestampMs, order }) => ({
      payload: type === 1 ? text(payload) : payload.slice(),
      publisher,
      customType,
      timestamp: timestampMs,
      ...(order && { order }),
    }));
    await encryption?.openHistory(about, messages);
    return { messages, newStart: page.newStartMs };
  }

  /** From newer to older, page by page. */
  async *messages(of, options) {
    const { end = 0, count = 100 } = options ?? {};
    let start = options?.start ?? 0;
    do {
      const page = await patiently(() => this.page(of, { count, start, end }));
      yield* page.messages;
      start = page.newStart;
    } while (start !== 0);
  }
}
