// Metadata and locks of a channel are shown whole at first. When events of them were lost, or the server could not give them,
// they are asked for, until they come.

/** What asks for one of them. `take` gets the answer. */
export class Refreshes {
  #session;
  #codes;
  #kind;
  #body;
  #take;

  constructor(session, codes, kind, body, take) {
    this.#session = session;
    this.#codes = codes;
    this.#kind = kind;
    this.#body = body;
    this.#take = take;
  }

  ask(entry) {
    const { subscriptions, link, requests } = this.#session;
    if (subscriptions.get(entry.key) !== entry || link.state === 'disconnected') return;
    requests.send(this.#kind, this.#body(entry), {
      codes: this.#codes,
      operation: 'refresh',
      resolve: this.#take,
      reject: ({ retryAfter }) => this.later(entry, retryAfter),
      lost() {},
    });
  }

  later(entry, pause = 2000) {
    this.#session.requests.later(`${this.#kind} ${entry.key}`, pause, () => this.ask(entry));
  }
}
