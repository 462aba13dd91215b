import type { RTMClient } from './index.js';

/**
 * Publishes above the rates of the server wait for their turn, in the order of the calls. Without it the server refuses
 * them with -11025, and says when to come back. It is made before the login.
 */
export declare class Pacing {
  constructor(client: RTMClient);
}
