// Where tokens come from, and who learns that one ends (docs/behaviour.md S-50, S-53).

import { noConnection, RTMError } from './errors.js';
import { loss } from './losses.js';
import { frame } from './wire.js';

// How soon a provider that fails is asked again, and how seldom at last.
const firstPause = 1000;
const lastPause = 30_000;

const operation = 'renewToken';
export const renewCodes = [-10026, -10025];

/** What no frame can carry would end the session instead of the call that renews a token. */
export function checkToken(token) {
  try {
    frame('RenewToken', { token });
  } catch ({ message }) {
    throw new RTMError(-10014, message, { operation });
  }
}

export function makeTokens(session) {
  const { requests, link, config } = session;
  let announcedFor;
  /** The connection whose token is being renewed, in an object of its own for each round. */
  let round;
  let renewedAt = -Infinity;

  async function provided() {
    const token = await config.tokenProvider();
    if (token && typeof token === 'string') return token;
    throw new Error(`it returned '${token && typeof token}'`);
  }

  /** A lost session comes back with this token; this ends with the return. */
  function comeBack(token) {
    return new Promise((resolve, reject) => {
      const failed = (error) => {
        const code = error.code === -10011 ? renewCodes[0] : error.code;
        reject(new RTMError(code, error.reason, { ...error, code, operation }));
      };
      session.perform(link.renew({ resolve, reject: failed }, token, session.now));
    });
  }

  /** Replaces the token of the session. A lost one comes back with it. */
  async function renew(token) {
    requests.checkLogin(operation);
    checkToken(token);
    return new Promise((resolve, reject) => {
      const request = {
        codes: renewCodes,
        operation,
        resolve: () => {
          // A warning for the new token may stand right behind the answer, so it is the session's from here on.
          link.token = token;
          renewedAt = session.now;
          round = undefined;
          resolve();
        },
        reject,
        // What becomes of the link is decided first.
        lost: async () => {
          await undefined;
          if (link.isAway) resolve(comeBack(token));
          else reject(noConnection(request));
        },
      };
      requests.send(operation, { token }, request);
    });
  }

  /** Asks the provider after a pause, and once more after the next one if there is no new token by then. */
  function renewLater(connection, pause, nextPause = firstPause) {
    const own = (round = { connection });
    const isCurrent = () => round === own && session.connection === connection;
    const again = () => isCurrent() && renewLater(connection, nextPause, Math.min(2 * nextPause, lastPause));
    requests.later('token', pause, async () => {
      if (!isCurrent()) return;
      requests.later('token', config.requestTimeout, () => own.token || again());
      try {
        const token = await provided();
        // What comes too late is thrown away.
        if (!isCurrent()) return;
        own.token = token;
        // The same token again would only bring the same warning again.
        if (token === link.token) again();
        else await renew(token);
      } catch {
        again();
      }
    });
  }

  return {
    renew,
    comeBack,

    /** Asks the provider for an attempt. The link passes over what comes after the attempt's end. */
    async ask(attempt) {
      const actions = await provided().then(
        (token) => link.provided(attempt, token, session.now),
        (error) => link.ended(attempt, loss('error', `the token provider failed: ${error?.message ?? error}`), session.now),
      );
      session.perform(actions);
    },

    tokenWillExpire({ remainingMs, channel }) {
      // That of a stream channel is no matter of the session.
      if (channel) return;
      // Once per token (S-50).
      if (announcedFor !== link.token) session.emit({ type: 'tokenWillExpire', remaining: remainingMs, channelName: undefined });
      announcedFor = link.token;
      link.expires(remainingMs, session.now);
      if (!config.tokenProvider || round?.connection === session.connection) return;
      // Tokens that live for less than the time of a warning are not renewed in a loop.
      const pause = renewedAt + Math.max(remainingMs / 2, firstPause) - session.now;
      renewLater(session.connection, Math.max(0, pause));
    },
  };
}
