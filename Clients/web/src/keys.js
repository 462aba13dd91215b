// Keys of the encryption: what is derived of a secret, and what one content is sealed with (docs/encryption.md).

import { utf8 } from './wire.js';

/** Node 18 has it only when the program has put it there. */
export const subtle = () => globalThis.crypto?.subtle;
const label = 'heliograph/1 ';
export const modes = { 'AES-128-GCM': 1, 'AES-256-GCM': 2 };
const kinds = { message: 1, state: 2, metadata: 3 };

export const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
const named = (name) => {
  const bytes = utf8(name);
  return join(Uint8Array.of(bytes.length >> 8, bytes.length), bytes);
};
export const four = (number) => Uint8Array.of(number >>> 24, number >>> 16, number >>> 8, number);
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
export const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

async function hkdf(key, salt, info, length) {
  const material = await subtle().importKey('raw', key, 'HKDF', false, ['deriveBits']);
  return new Uint8Array(await subtle().deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, material, length * 8));
}

/** The key of a secret, with what is derived of it. */
export async function masterKey({ secret, salt, mode = 'AES-256-GCM' }) {
  const master = await hkdf(utf8(secret), salt, utf8(label + mode), 32);
  const hmac = await subtle().importKey('raw', master, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  // HKDF-Expand of one block.
  const block = await subtle().sign('HMAC', hmac, join(utf8(`${label}key id`), Uint8Array.of(1)));
  return { master, mode: modes[mode], id: new Uint8Array(block).slice(0, 8) };
}

export async function senderKey({ master, mode }, sender, type, name) {
  const length = mode === 1 ? 16 : 32;
  const info = join(utf8(`${label}sender`), Uint8Array.of(type), utf8(name));
  const material = await hkdf(master, sender, info, length + 12);
  return {
    key: await subtle().importKey('raw', material.subarray(0, length), 'AES-GCM', false, ['encrypt', 'decrypt']),
    salt: material.subarray(length),
  };
}

export function parameters({ salt }, counter, header, { kind, type, name, publisher, item }, appId) {
  const iv = salt.slice();
  four(counter).forEach((byte, index) => (iv[8 + index] ^= byte));
  const place = join(Uint8Array.of(kinds[kind], type), ...[appId, name, publisher, item].map(named));
  return { name: 'AES-GCM', iv, additionalData: join(header, place) };
}
