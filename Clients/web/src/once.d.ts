import type { RTMClient } from './index.js';

/**
 * Messages may have an id, `publish(…, { id })`, with which the call may be repeated whatever became of it: the message is
 * published once. It is made before the login; without it such a publish fails with -10014.
 */
export declare class Once {
  constructor(client: RTMClient);
}
