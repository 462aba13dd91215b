// Which subscriptions ended because a token doesn't allow them any more (docs/behaviour.md A-16).

const denied = -11038;

/** A part of the session: the app gets one event for all of them, behind that of the link. */
export class Permissions {
  #session;
  #revoked = [];

  constructor(session) {
    this.#session = session;
  }

  onUnrestored({ type, name }, restoring, { code }) {
    if (code === denied && type < 3) this.#revoked.push({ type, name });
  }

  onConnected() {
    const revoked = this.#revoked.splice(0);
    const names = (wanted) => revoked.filter(({ type }) => type === wanted).map(({ name }) => name);
    if (revoked.length === 0) return;
    this.#session.emit({
      type: 'permissionRevoked',
      messageChannels: names(1),
      streamChannels: names(2),
      users: names(0),
      timestamp: this.#session.time,
    });
  }

  onForget() {
    this.#revoked = [];
  }
}
