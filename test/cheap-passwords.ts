import nodeCrypto from "node:crypto";

/** The parameter of `worker/lib/crypto/crypto.ts`. */
const COST = 2 ** 14;

// Hashing a password is slow by design, and took up to a third of the time of the API's tests. Here, a hash at the current cost is nearly
// free, and names that cost nevertheless; the tests of `worker/lib/crypto` pay it.
const { scrypt } = nodeCrypto;
type Callback = (error: Error | null, key: Buffer) => void;
Object.assign(nodeCrypto, {
  scrypt: (password: string, salt: Uint8Array, length: number, options: { N: number }, callback: Callback) =>
    scrypt(password, salt, length, { ...options, N: options.N === COST ? 2 : options.N }, callback),
});
