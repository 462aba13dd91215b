// Each module of a feature has one part in the session, an object whose methods are called where it has them:
//
//   onLoggedIn(answer)           before the channels are restored; `restoring.left` counts what has to be answered
//   onConnected()                the app knows that the link is connected, and not yet what arrived meanwhile
//   onSubscribed(entry, answer)  a subscription is there, for the first time or again
//   onUnsubscribed(entry)        it is over
//   onUnrestored(entry, restoring, error)   it is over because it could not be restored
//   onGap(entry, position)       events were lost; what follows continues after the position
//   onForget()                   the session is over
//   onSend(kind, body)           a frame is about to be sent, with what the part adds to it
//   translate(event)             the events that the app gets for this one; undefined for itself
//   and a method by the name of each kind of frame, or content of a publication, that the server sends of its own accord

export function makeParts(session) {
  const parts = new Map();

  /** That of this class, which is made the first time. */
  session.part = (Part) => {
    if (!parts.has(Part)) parts.set(Part, new Part(session));
    return parts.get(Part);
  };

  session.tell = (what, ...values) => {
    for (const part of parts.values()) part[what]?.(...values);
  };

  return {
    add: (part) => parts.set(part, part),
    translate: (event) =>
      [...parts.values()].reduce((events, part) => events.flatMap((one) => part.translate?.(one) ?? one), [event]),
  };
}
