// Compiled, never run: what apps write has to fit the types.

import { RTMClient, RTMError, type RTMEvent } from 'heliograph';
import { ErrorCode } from 'heliograph/codes';
import { Encryption } from 'heliograph/encryption';
import { History } from 'heliograph/history';
import { Once } from 'heliograph/once';
import { Pacing } from 'heliograph/pacing';
import { Locks } from 'heliograph/locks';
import { Presence } from 'heliograph/presence';
import { Storage } from 'heliograph/storage';
import { StreamChannel } from 'heliograph/streams';
import AgoraRTM, { type RTMClient as RTMClientOfAgora, type RTMEvents } from 'heliograph/agora-rtm';

export async function modern(): Promise<void> {
  const encryption = new Encryption([{ secret: 'x', salt: new Uint8Array(32) }]);
  const client = new RTMClient({
    server: ['wss://a/rtm'],
    appId: 'dev',
    userId: 'alice',
    encryption,
    tokenProvider: async () => 'token',
  });
  new Pacing(client);
  new Once(client);
  await client.login();
  await client.subscribe('lobby', { metadata: true });
  const receipt: number = (await client.publish({ user: 'bob' }, 'hi', { storeInHistory: true, id: 'greeting-1' })).offset;
  for await (const event of client.events()) show(event, receipt);
  for await (const { payload } of new History(client).messages('lobby')) console.log(payload);
  try {
    await new Storage(client).edit('lobby', (values) => ({ count: String(Number(values.get('count') ?? 0) + 1) }));
  } catch (error) {
    if (error instanceof RTMError && error.code === ErrorCode.storageOutdatedRevision) {
      console.log(error.conflict?.revision, error.retryAfter);
    }
  }
  const { fencingToken } = await new Locks(client).acquire('lobby', 'turn', { wait: true });
  await new Presence(client).setState('lobby', { turn: String(fencingToken) });
  const stage = new StreamChannel(client, 'stage');
  await stage.join({ token: 'token', locks: true });
  const { failed } = await stage.subscribe('chat', { users: ['bob'] });
  console.log(failed.length);
  // @ts-expect-error there is no such option
  await client.subscribe('lobby', { everything: true });
  // @ts-expect-error a message is text or bytes
  await client.publish('lobby', 7);
}

function show(event: RTMEvent, seen: number): void {
  switch (event.type) {
    case 'message':
      return console.log(event.offset > seen, event.payload);
    case 'presence':
      if (event.change === 'snapshot') console.log(event.users.map(({ userId }) => userId));
      else if (event.change === 'interval') console.log(event.interval.joined);
      else if (event.change === 'stateChanged') console.log(event.states['mood']);
      return;
    case 'topic':
      return console.log(event.change === 'snapshot' ? event.topics.length : event.userId);
    case 'overflow':
      return console.log(event.dropped);
  }
}

export async function compatible(): Promise<void> {
  const { RTM } = AgoraRTM;
  const rtm: RTMClientOfAgora = new RTM(
    'dev',
    'alice',
    {
      presenceTimeout: 30,
      encryptionMode: 'NONE',
      logLevel: 'debug',
      privateConfig: { accessPointHosts: ['rtm.example.org'] },
    },
  );
  const listener = (event: RTMEvents.MessageEvent): void => console.log(event.message, event.publishTime);
  rtm.addEventListener('message', listener);
  rtm.addEventListener('presence', ({ snapshot, stateChanged }) => console.log(snapshot?.length, stateChanged));
  rtm.removeEventListener('message', listener);
  await rtm.login({ token: 'token' });
  const { occupants } = await rtm.presence.getOnlineUsers('lobby', 'MESSAGE', { includedState: true });
  await rtm.storage.setChannelMetadata(
    'lobby',
    'MESSAGE',
    [{ key: 'k', value: 'v', revision: -1 }],
    { addUserId: true },
  );
  const stage = rtm.createStreamChannel('stage');
  await stage.join({ token: 'token', withPresence: true });
  console.log(occupants[0]?.states, stage.getSubscribedUserList('chat').subscribed);
}
