export { RTMClient } from './client.js';
export { RTMError } from './errors.js';
