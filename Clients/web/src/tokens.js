// Tokens that end: who learns of it, and where the next one comes from.

// How soon a provider that fails is asked again, and how seldom at last.
const firstPause = 1000;
const lastPause = 30_000;

export function makeTokens(session) {
  const { requests, link, config } = session;
  const { tokenProvider } = config;
  let isNeeded = false;
  let announcedFor;

  /** Replaces the token of the session, or that of a stream channel. */
  async function renew(token, channel = '') {
    await requests.ask([-10026, -10025], 'renewToken', { token, channel });
    if (!channel) link.token = token;
  }

  async function renewByProvider(pause) {
    const { connection } = session;
    try {
      await renew(await tokenProvider());
    } catch {
      if (session.connection !== connection) return;
      requests.later('token', pause, () => renewByProvider(Math.min(2 * pause, lastPause)));
    }
  }

  return {
    renew,
    onForget: () => (isNeeded = false),

    /** Before a connection: a token that was refused is replaced. */
    async refresh(connection) {
      if (!isNeeded) return;
      const token = await tokenProvider();
      if (session.connection !== connection) return;
      link.token = token;
      isNeeded = false;
      connection.isTokenFresh = true;
    },

    /** With a provider an expired token is no reason to give up. */
    judge(loss, { isTokenFresh }) {
      if (loss.fatal !== 'tokenExpired' || !tokenProvider || isTokenFresh) return loss;
      isNeeded = true;
      return { ...loss, fatal: undefined };
    },

    tokenWillExpire({ remainingMs, channel }) {
      // Once per token (S-50).
      if (!channel && announcedFor === link.token) return;
      if (!channel) announcedFor = link.token;
      session.emit({ type: 'tokenWillExpire', remaining: remainingMs, channelName: channel || undefined });
      if (!channel && tokenProvider) renewByProvider(firstPause);
    },
  };
}
