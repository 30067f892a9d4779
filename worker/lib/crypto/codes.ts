// Codes that people read and type: capital letters and digits without those that are taken for one another (0 O, 1 I L, U V).
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
const BYTES_PER_CODE = 8;

/** Letters of the codes that `codesOf` makes: two halves of 6, each of 29.4 bits. */
export const CODE_LENGTH = 12;

/** Matches a code of `length` letters as people type it: in any case, with spaces and hyphens between. */
export function typedCode(length: number): RegExp {
  return new RegExp(`^[\\s-]*(?:[${ALPHABET}${ALPHABET.toLowerCase()}][\\s-]*){${length}}$`);
}

/** A typed code as it was made. */
export function normalizeCode(typed: string): string {
  return typed.replace(/[\s-]/g, "").toUpperCase();
}

/** A code of `length` letters, or text of another alphabet of at most 256 characters; each is as likely as the others. */
export function randomCode(length: number, alphabet = ALPHABET): string {
  const fair = 256 - (256 % alphabet.length);
  let code = "";
  while (code.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < fair && code.length < length) code += alphabet[byte % alphabet.length];
    }
  }
  return code;
}

/**
 * `count` codes of the endless row that follows from a seed of 16 random bytes, from number `offset` on: unguessable
 * (58 bits each), and the same ones whenever they are asked for. The row is the key stream of AES-CTR.
 */
export async function codesOf(seed: Uint8Array<ArrayBuffer>, offset: number, count: number): Promise<string[]> {
  const key = await crypto.subtle.importKey("raw", seed, "AES-CTR", false, ["encrypt"]);
  // Two codes take one block of the cipher: an odd offset begins in its middle.
  const skip = offset % 2;
  const counter = new Uint8Array(16);
  new DataView(counter.buffer).setUint32(12, (offset - skip) / 2);
  const zeros = new Uint8Array((count + skip) * BYTES_PER_CODE);
  const stream = new DataView(await crypto.subtle.encrypt({ name: "AES-CTR", counter, length: 32 }, key, zeros));
  return Array.from({ length: count }, (_, index) => {
    const at = (index + skip) * BYTES_PER_CODE;
    return half(stream.getUint32(at)) + half(stream.getUint32(at + 4));
  });
}

// Every pair of letters: three look-ups make a half, which matters to 100,000 codes.
const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second));

/** Six letters of a 32-bit number: 30^6 goes five times into 2^32, so no half is likelier than 6 in 2^32. */
function half(number: number): string {
  const rest = Math.floor(number / PAIRS.length);
  return `${PAIRS[number % PAIRS.length]}${PAIRS[rest % PAIRS.length]}${PAIRS[Math.floor(rest / PAIRS.length) % PAIRS.length]}`;
}
