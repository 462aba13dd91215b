export interface EncryptionKey {
  /** A long random text that only those know who may read. */
  secret: string;
  /** 32 bytes, the same for the whole app. */
  salt: Uint8Array;
  mode?: 'AES-256-GCM' | 'AES-128-GCM';
}

/** The keys of one client, which encrypts with the first and decrypts with any: `new RTMClient({ encryption, … })`. */
export declare class Encryption {
  constructor(keys: EncryptionKey[]);
  useKeys(keys: EncryptionKey[]): void;
}
