// A program of the web client for the conformance suite, whose servers speak TCP:
//
//   node conformance-client.js receive HOST:PORT USER CHANNEL          shows the messages of the channel
//   node conformance-client.js publish HOST:PORT USER CHANNEL TEXT     ends when the text is published

import { connect } from 'node:net';
import { RTMClient } from '../../../Clients/web/src/index.js';

/** As much of a WebSocket as the client uses, over TCP. */
class TCPSocket {
  bufferedAmount = 0;
  #received = Buffer.alloc(0);

  constructor(address) {
    const [host, port] = address.split(':');
    this.socket = connect(Number(port), host, () => this.onopen?.());
    this.socket.setNoDelay();
    this.socket.on('data', (data) => this.#take(data));
    this.socket.on('error', () => {});
    this.socket.on('close', () => this.onclose?.());
  }

  #take(data) {
    this.#received = Buffer.concat([this.#received, data]);
    while (this.#received.length >= 4) {
      const end = 4 + this.#received.readUInt32BE();
      // What is longer is no frame of a server.
      if (end > 4 + 2 ** 20) return this.close();
      if (this.#received.length < end) return;
      const frame = this.#received.subarray(0, end);
      this.#received = this.#received.subarray(end);
      this.onmessage?.({ data: Uint8Array.from(frame).buffer });
    }
  }

  send(bytes) {
    this.socket.write(Uint8Array.from(bytes));
  }

  close() {
    this.socket.destroy();
  }
}

const [what, server, userId, channel, text] = process.argv.slice(2);
const client = new RTMClient({ server, appId: 'dev', userId, WebSocket: TCPSocket });
client.listen((event) => {
  if (event.type === 'message') console.log(typeof event.payload === 'string' ? event.payload : '(bytes)');
  if (event.type === 'gap') console.log(`gap in ${event.channelName}`);
  if (event.type === 'linkState' && event.currentState === 'failed') process.exit(1);
});
// A publish that came too often was not published; it is a new message when its time has come.
async function publish() {
  try {
    await client.publish(channel, text);
  } catch (error) {
    if (error.code !== -11025 || !error.retryAfter) throw error;
    await new Promise((resolve) => setTimeout(resolve, error.retryAfter));
    await publish();
  }
}

try {
  await client.login();
  if (what === 'receive') await client.subscribe(channel);
  else {
    await publish();
    client.close();
  }
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
