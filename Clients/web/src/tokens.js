// Where tokens come from, and who learns that one ends (docs/behaviour.md S-50, S-53).

import { loss } from './losses.js';

// How soon a provider that fails is asked again, and how seldom at last.
const firstPause = 1000;
const lastPause = 30_000;

export function makeTokens(session) {
  const { requests, link, config } = session;
  const { tokenProvider } = config;
  let announcedFor;
  /** The connection whose token is being renewed. */
  let renewing;

  /** Replaces the token of the session, or that of a stream channel. */
  async function renew(token, channel = '') {
    await requests.ask([-10026, -10025], 'renewToken', { token, channel });
    if (!channel) link.token = token;
  }

  async function renewByProvider(connection, pause) {
    const isCurrent = () => session.connection === connection;
    try {
      const token = await tokenProvider();
      // What comes too late for this connection is thrown away.
      if (!isCurrent()) return;
      await renew(token);
      if (renewing === connection) renewing = undefined;
    } catch {
      if (isCurrent()) requests.later('token', pause, () => renewByProvider(connection, Math.min(2 * pause, lastPause)));
    }
  }

  return {
    renew,

    /** Asks the provider for an attempt. The link passes over what comes after the attempt's end. */
    async ask(attempt) {
      let token;
      let failure;
      try {
        token = await tokenProvider();
      } catch (error) {
        failure = loss('error', `the token provider failed: ${error?.message ?? error}`);
      }
      session.perform(failure ? link.ended(attempt, failure, session.now) : link.provided(attempt, token, session.now));
    },

    tokenWillExpire({ remainingMs, channel }) {
      // Once per token (S-50).
      if (channel || announcedFor !== link.token) {
        session.emit({ type: 'tokenWillExpire', remaining: remainingMs, channelName: channel || undefined });
      }
      if (channel) return;
      announcedFor = link.token;
      link.expires(remainingMs, session.now);
      if (!tokenProvider || renewing === session.connection) return;
      renewing = session.connection;
      renewByProvider(renewing, firstPause);
    },
  };
}
