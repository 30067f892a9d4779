// Codes that people read and type: capital letters and digits, without those that look alike (0 O, 1 I L, U V).
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
const BYTES_PER_CODE = 8;

/** Length of the codes that `codesOf` generates: two halves of 6 letters, each with 29.4 bits. */
export const CODE_LENGTH = 12;

/** Matches a code of `length` letters as people type it: in any case, with spaces and hyphens. */
export function typedCode(length: number): RegExp {
  return new RegExp(`^[\\s-]*(?:[${ALPHABET}${ALPHABET.toLowerCase()}][\\s-]*){${length}}$`);
}

/** A typed code in its canonical form. */
export function normalizeCode(typed: string): string {
  return typed.replace(/[\s-]/g, "").toUpperCase();
}

/** A random code of `length` letters from an alphabet of at most 256 characters, uniformly distributed. */
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
 * `count` codes from `offset` on, of the endless sequence defined by a seed of 16 random bytes: unguessable (58 bits each) and
 * reproducible. The sequence is the key stream of AES-CTR.
 */
export async function codesOf(seed: Uint8Array<ArrayBuffer>, offset: number, count: number): Promise<string[]> {
  const key = await crypto.subtle.importKey("raw", seed, "AES-CTR", false, ["encrypt"]);
  // Two codes share one block of the cipher: an odd offset starts in its middle.
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

// Every pair of letters: three lookups per half, which matters for 100,000 codes.
const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second));

/** Six letters from a 32-bit number: 30^6 fits five times into 2^32, so no half is likelier than 6 in 2^32. */
function half(number: number): string {
  const rest = Math.floor(number / PAIRS.length);
  return `${PAIRS[number % PAIRS.length]}${PAIRS[rest % PAIRS.length]}${PAIRS[Math.floor(rest / PAIRS.length) % PAIRS.length]}`;
}
