// Tokens that end: who is told, and where the next one comes from.

// How soon a provider that fails is asked again, and how seldom at last.
const pauses = { first: 1000, last: 30_000 };

export class Tokens {
  #session;
  #isNeeded = false;
  #announcedFor;

  constructor(session) {
    this.#session = session;
  }

  /** Replaces the token of the session, or that of a stream channel. */
  async renew(token, channel = '') {
    await this.#session.requests.ask([-10026, -10025], 'renewToken', { token, channel });
    if (!channel) this.#session.link.token = token;
  }

  /** Before a connection: a token that was refused is replaced. */
  async refresh(connection) {
    const { link, config } = this.#session;
    if (!this.#isNeeded) return;
    const token = await config.tokenProvider();
    if (this.#session.connection !== connection) return;
    link.token = token;
    this.#isNeeded = false;
    connection.isTokenFresh = true;
  }

  /** With a provider an expired token is no reason to give up. */
  judge(loss, { isTokenFresh }) {
    if (loss.fatal !== 'tokenExpired' || !this.#session.config.tokenProvider || isTokenFresh) return loss;
    this.#isNeeded = true;
    return { ...loss, fatal: undefined };
  }

  tokenWillExpire({ remainingMs, channel }) {
    const { link, config } = this.#session;
    // Once per token (S-50).
    if (!channel && this.#announcedFor === link.token) return;
    if (!channel) this.#announcedFor = link.token;
    this.#session.emit({ type: 'tokenWillExpire', remaining: remainingMs, channelName: channel || undefined });
    if (!channel && config.tokenProvider) this.#renewByProvider(pauses.first);
  }

  async #renewByProvider(pause) {
    const session = this.#session;
    const { connection } = session;
    try {
      await this.renew(await session.config.tokenProvider());
    } catch {
      if (session.connection !== connection) return;
      session.requests.later('token', pause, () => this.#renewByProvider(Math.min(2 * pause, pauses.last)));
    }
  }

  onForget() {
    this.#isNeeded = false;
  }
}
