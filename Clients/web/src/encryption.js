// End-to-end encryption (docs/encryption.md), with WebCrypto. A module of its own, so that nobody loads it who needs none.

import { RTMError } from './errors.js';
import { base64, four, hex, join, masterKey, modes, parameters, senderKey, subtle } from './keys.js';
import { types } from './names.js';
import { text, utf8 } from './wire.js';

const headerBytes = 30;
const tagBytes = 16;
// Limits: keys of senders that are remembered, senders whose messages are, and how far behind the newest one may come.
const sendersMax = 1024;
const windowsMax = 4096;
const windowWidth = 64;

const fromBase64 = (value) => {
  try {
    return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
  } catch {
    throw new Failure('notEncrypted');
  }
};

/** Why a content can't be decrypted. */
class Failure extends Error {
  constructor(reason, keyId) {
    super(reason);
    Object.assign(this, { reason, keyId: keyId && hex(keyId) });
  }
}

/** Which messages of one sender in one channel were delivered. */
class ReplayWindow {
  newest = -1;
  /** By what is left of a counter when it is divided by the width: whether that one of the window was seen. */
  seen = new Uint8Array(windowWidth);

  accepts(counter) {
    const { newest, seen } = this;
    if (counter > newest) {
      for (let passed = Math.max(newest + 1, counter - windowWidth); passed < counter; passed++) seen[passed % windowWidth] = 0;
      this.newest = counter;
    } else if (counter <= newest - windowWidth || seen[counter % windowWidth]) return false;
    seen[counter % windowWidth] = 1;
    return true;
  }
}

/** The value that was used lately, or a new one; the oldest is forgotten. */
function remembered(table, key, max, make) {
  const value = table.get(key) ?? make();
  table.delete(key);
  table.set(key, value);
  if (table.size > max) table.delete(table.keys().next().value);
  return value;
}

/** The keys of one client. It encrypts with the first, and decrypts with any. */
export class Encryption {
  #keys;
  #sender;
  #counter = 0;
  #senders = new Map();
  #windows = new Map();
  #sealing = Promise.resolve();

  constructor(keys, { sender } = {}) {
    this.#sender = sender;
    this.useKeys(keys);
  }

  useKeys(keys) {
    const invalid = (reason) => new RTMError(-10020, reason, { operation: 'encryption' });
    if (!subtle()) throw invalid('there is no WebCrypto here: a page needs HTTPS, or localhost');
    if (keys.length < 1 || keys.length > 16) throw invalid('1 to 16 keys are needed');
    for (const { secret, salt, mode = 'AES-256-GCM' } of keys) {
      if (!secret || salt?.length !== 32 || !(mode in modes)) throw invalid('a key has a secret, a salt of 32 bytes, and a mode');
    }
    this.#keys = Promise.all(keys.map(masterKey));
    this.#keys.catch(() => {});
  }

  /** The client that it belongs to. Two clients would be one sender with one counter. */
  begin({ appId, userId }) {
    if (this.appId) throw new RTMError(-10020, 'an Encryption belongs to one client', { operation: 'init' });
    Object.assign(this, { appId, userId });
  }

  // MARK: Sealing

  async #seal(content, place, at = undefined) {
    if (at === undefined) {
      if (this.#sender === undefined || this.#counter === 2 ** 32) {
        this.#sender = crypto.getRandomValues(new Uint8Array(16));
        this.#counter = 0;
      }
      at = { sender: this.#sender, counter: this.#counter++ };
    }
    const [key] = await this.#keys;
    const isText = typeof content === 'string';
    const mode = Uint8Array.of(0xf9, key.mode | (isText ? 0 : 16));
    const header = join(mode, key.id, at.sender, four(at.counter));
    const sender = await this.#senderKey(key, at.sender, place);
    const how = parameters(sender, at.counter, header, { publisher: this.userId, ...place }, this.appId);
    return join(header, new Uint8Array(await subtle().encrypt(how, sender.key, isText ? utf8(content) : content)));
  }

  #senderKey(key, sender, { type, name }) {
    const id = `${hex(key.id)} ${hex(sender)} ${type} ${name}`;
    return remembered(this.#senders, id, sendersMax, () => senderKey(key, sender, type, name));
  }

  /** In the order of the calls, because messages keep their order. */
  #inOrder(seal, code) {
    const result = this.#sealing.then(seal).catch((error) => {
      throw new RTMError(code, `the content could not be encrypted: ${error.message}`, { operation: 'encryption' });
    });
    this.#sealing = result.catch(() => {});
    return result;
  }

  sealMessage({ type, name }, message, item) {
    const content = message instanceof ArrayBuffer ? new Uint8Array(message) : message;
    return this.#inOrder(() => this.#seal(content, { kind: 'message', type, name, item }), -11023);
  }

  sealStates({ type, name }, states) {
    return this.#inOrder(async () => {
      const sealed = {};
      for (const [item, value] of Object.entries(states)) {
        sealed[item] = base64(await this.#seal(value, { kind: 'state', type, name, item }));
      }
      return sealed;
    }, -13013);
  }

  /** A reader may not learn from the server who wrote an item, so the writer's name travels with it. */
  sealItems(type, name, items) {
    const author = utf8(this.userId);
    const seal = async ({ key, value, ...rest }) => {
      const sealed = await this.#seal(String(value), { kind: 'metadata', type, name, item: key });
      return { key, value: base64(join(Uint8Array.of(author.length), author, sealed)), ...rest };
    };
    return this.#inOrder(async () => {
      const sealed = [];
      for (const item of items) sealed.push(await seal(item));
      return sealed;
    }, -12001);
  }

  // MARK: Opening

  async #open(sealed, place, isDelivered = false) {
    const isSealed = sealed instanceof Uint8Array && sealed.length >= headerBytes + tagBytes && sealed[0] === 0xf9;
    if (!isSealed) throw new Failure('notEncrypted');
    const [header, id, sender] = [sealed.slice(0, headerBytes), sealed.slice(2, 10), sealed.slice(10, 26)];
    const mode = header[1] & ~16;
    const counter = new DataView(header.buffer).getUint32(26);
    if (mode !== 1 && mode !== 2) throw new Failure('newerVersion');
    const key = (await this.#keys).find((key) => hex(key.id) === hex(id) && key.mode === mode);
    if (!key) throw new Failure('unknownKey', id);
    const senderKey = await this.#senderKey(key, sender, place);
    let plain;
    try {
      const how = parameters(senderKey, counter, header, place, this.appId);
      plain = new Uint8Array(await subtle().decrypt(how, senderKey.key, sealed.subarray(headerBytes)));
    } catch {
      throw new Failure('notAuthentic', id);
    }
    if (isDelivered) {
      const from = `${hex(id)} ${hex(sender)} ${place.type} ${place.name}`;
      const window = remembered(this.#windows, from, windowsMax, () => new ReplayWindow());
      if (!window.accepts(counter)) throw new Failure('replayed', id);
    }
    return header[1] & 16 ? plain : text(plain);
  }

  async #openValue(value, place) {
    const opened = await this.#open(fromBase64(value), place);
    return typeof opened === 'string' ? opened : text(opened);
  }

  async #openItem({ key, value, author }, type, name) {
    const bytes = fromBase64(value);
    const end = 1 + (bytes[0] ?? 0);
    if (bytes.length <= end) throw new Failure('notEncrypted');
    const publisher = text(bytes.subarray(1, end));
    const place = { kind: 'metadata', type, name, publisher, item: key };
    const opened = await this.#open(bytes.slice(end), place);
    // The server may name no author, but not another one.
    if (author && author !== publisher) throw new Failure('notAuthentic');
    return opened;
  }

  /** Opens the states of users in place. Returns the failures. */
  async openUsers({ type, name }, users) {
    const failures = [];
    for (const { userId, states } of users) {
      for (const [item, value] of Object.entries(states)) {
        try {
          states[item] = await this.#openValue(value, { kind: 'state', type, name, publisher: userId, item });
        } catch (error) {
          states[item] = '';
          failures.push({ content: 'state', publisher: userId, ...failed(error) });
        }
      }
    }
    return failures;
  }

  async openItems(type, name, { items }) {
    const failures = [];
    for (const item of items) {
      try {
        item.value = await this.#openItem(item, type, name);
      } catch (error) {
        item.value = '';
        item.decryptionFailure = failed(error).reason;
        failures.push({ content: 'metadata', publisher: item.author, ...failed(error) });
      }
    }
    return failures;
  }

  async openHistory({ type, name }, messages) {
    for (const message of messages) {
      const { publisher, customType: item } = message;
      try {
        message.payload = await this.#open(message.payload, { kind: 'message', type, name, publisher, item });
      } catch (error) {
        message.payload = new Uint8Array(0);
        message.decryptionFailure = failed(error).reason;
      }
    }
  }

  /** The event with what it carries in the clear, and an event for what can't be decrypted. */
  /** What opens events and delivers them. That takes time, and they keep their order. */
  opener(deliver) {
    let opening = Promise.resolve();
    return (event) => {
      opening = opening.then(async () => (await this.openEvent(event)).forEach(deliver));
    };
  }

  async openEvent(event) {
    const { channelType, channelName } = event;
    const about = { type: types.indexOf(channelType), name: channelName };
    let failures = [];
    let isShown = true;
    if (event.type === 'message') {
      const { publisher, customType: item } = event;
      try {
        event = { ...event, payload: await this.#open(event.payload, { kind: 'message', ...about, publisher, item }, true) };
      } catch (error) {
        isShown = false;
        failures = [{ content: 'message', publisher, ...failed(error) }];
      }
    } else if (event.type === 'presence' && channelType !== 'topics') {
      const users = event.users ?? event.interval?.states ?? (event.states ? [event] : []);
      failures = await this.openUsers(about, users);
    } else if (event.type === 'storage') {
      failures = await this.openItems(channelType === 'user' ? 0 : about.type, channelName, event.metadata);
    }
    const reports = new Map();
    for (const failure of failures) {
      const key = `${failure.reason} ${failure.keyId} ${failure.publisher}`;
      const report = reports.get(key) ?? { type: 'undecryptable', channelType, channelName, ...failure, count: 0 };
      report.count++;
      reports.set(key, report);
    }
    return [...(isShown ? [event] : []), ...reports.values()];
  }

  /** For tests with known answers: as a sender of this counter would seal. */
  sealAt(content, place, at) {
    return this.#seal(content, place, at);
  }
}

function failed(error) {
  if (!(error instanceof Failure)) throw error;
  return { reason: error.reason, keyId: error.keyId };
}
