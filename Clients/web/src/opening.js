// How a connection becomes a session: Hello and Login, then everything is restored that an earlier connection of the same
// session had (docs/behaviour.md S-19). Locks come before the channels, so that the app gets the events of its lost locks before
// those of the channels (K-12).

import { isPage } from './page.js';
import { makeHeartbeat } from './time.js';

/** How often a page that can be seen sends a heartbeat, what it promises for the time when it can't, and what others promise. */
const pageInterval = 10_000;
const pagePromise = 75_000;
const usualPromise = 5000;

/** `instance` is the number of this client. */
export function makeOpening(session, instance) {
  const { config, link, subscriptions, requests, publisher, channels } = session;
  const { appId, userId } = config;
  const promised = config.heartbeatInterval ?? (isPage() ? pagePromise : usualPromise);

  return {
    /** Hello and login leave together, so that a login costs one round trip. */
    begin() {
      const { connection, sendFrame } = session;
      const token = link.token ?? appId;
      const offered = {};
      for (const entry of subscriptions.offer(token.length)) {
        const { list, request } = entry.way;
        (offered[list] ??= []).push({ ...request(entry), requestId: requests.newId(), entry });
      }
      sendFrame('hello', { versionMin: 1, versionMax: 1, client: 'heliograph web' });
      connection.offered = offered;
      connection.login = sendFrame('login', {
        appId,
        userId,
        token,
        heartbeatIntervalS: Math.round(promised / 1000),
        presenceTimeoutS: Math.round(config.presenceTimeout / 1000),
        inboxAfter: subscriptions.inbox.position,
        instance,
        attempt: connection.attempt,
        asked: link.pending !== null,
        ...offered,
      });
    },

    loggedIn(answer) {
      const { connection, now } = session;
      session.clockOffset = answer.serverTimeMs - Date.now();
      link.accepted(connection.attempt, now);
      const asked = answer.heartbeatIntervalS * 1000 || promised;
      const usual = isPage() && !config.heartbeatInterval ? pageInterval : asked;
      connection.heartbeat = makeHeartbeat({ interval: Math.min(asked, usual), now });
      connection.restoring = { left: 1, unrestored: [], interrupted: [], users: [], incomplete: false };
      channels.openInbox(answer.inboxPosition ?? { epoch: 0, offset: 0 }, answer.inboxGap);
      publisher.resume();
      session.tell('onLoggedIn', answer);
      // Of each list the server's answer counts those that it answers for.
      const taken = Object.entries(connection.offered).flatMap(([list, entries]) => entries.slice(0, answer[list]));
      channels.restoreAll(new Map(taken.map(({ entry, requestId }) => [entry, requestId])));
      session.restored();
    },
  };
}
