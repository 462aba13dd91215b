// The listeners of the vendor's client, which has the members of Node's EventEmitter.

import { RTMBaseError } from './agora-common.js';

export class Listeners {
  #listeners = new Map();

  #add(operation, name, listener, where = 'push') {
    if (typeof listener !== 'function') {
      throw new RTMBaseError(operation, { code: -10004, reason: 'a listener is a function' });
    }
    // A new list: who is called at the moment keeps the old one.
    const listeners = [...(this.#listeners.get(name) ?? [])];
    listeners[where](listener);
    this.#listeners.set(name, listeners);
    return this;
  }

  #once(name, listener) {
    if (typeof listener !== 'function') return listener;
    const once = (...values) => {
      this.removeEventListener(name, once);
      listener(...values);
    };
    return Object.assign(once, { listener });
  }

  /** With an object in the place of a name: a listener for each event that it names. */
  #each(method, listeners) {
    for (const [name, listener] of Object.entries(listeners)) if (listener) this[method](name, listener);
    return this;
  }

  addEventListener(name, listener) {
    if (name && typeof name === 'object') return this.#each('addEventListener', name);
    return this.#add('addEventListener', name, listener);
  }

  addListener(name, listener) {
    return this.#add('addListener', name, listener);
  }

  on(name, listener) {
    return this.#add('on', name, listener);
  }

  once(name, listener) {
    return this.#add('once', name, this.#once(name, listener));
  }

  prependListener(name, listener) {
    return this.#add('prependListener', name, listener, 'unshift');
  }

  prependOnceListener(name, listener) {
    return this.#add('prependOnceListener', name, this.#once(name, listener), 'unshift');
  }

  /** Who was added twice has to be removed twice, the one that was added last at first. */
  removeEventListener(name, listener) {
    if (name && typeof name === 'object') return this.#each('removeEventListener', name);
    const listeners = this.#listeners.get(name) ?? [];
    const last = listeners.map((other) => other === listener || other.listener === listener).lastIndexOf(true);
    const left = listeners.filter((_, index) => index !== last);
    if (left.length > 0) this.#listeners.set(name, left);
    else this.#listeners.delete(name);
    return this;
  }

  removeListener(name, listener) {
    return this.removeEventListener(name, listener);
  }

  off(name, listener) {
    return this.removeEventListener(name, listener);
  }

  removeAllListeners(name) {
    if (name) this.#listeners.delete(name);
    else this.#listeners.clear();
    return this;
  }

  emit(name, ...values) {
    const listeners = this.#listeners.get(name) ?? [];
    for (const listener of listeners) {
      try {
        listener.apply(this, values);
      } catch (error) {
        (globalThis.reportError ?? console.error)(error);
      }
    }
    return listeners.length > 0;
  }

  rawListeners(name) {
    return [...(this.#listeners.get(name) ?? [])];
  }

  listeners(name) {
    return this.rawListeners(name).map((listener) => listener.listener ?? listener);
  }

  listenerCount(name) {
    return this.rawListeners(name).length;
  }

  eventNames() {
    return [...this.#listeners.keys()];
  }

  /** There is no limit, and so no warning. */
  setMaxListeners() {
    return this;
  }

  getMaxListeners() {
    return 0;
  }
}
