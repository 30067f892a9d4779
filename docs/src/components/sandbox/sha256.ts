/** The round constants and the initial state: fractional parts of the roots of the first primes (FIPS 180-4). */
const PRIMES = Array.from({ length: 312 }, (_, index) => index).filter(
  (number) => number > 1 && ![2, 3, 5, 7, 11, 13, 17].some((divisor) => divisor < number && number % divisor === 0),
);
const ROUNDS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const INITIAL = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

const BLOCK = 64;
const schedule = new Int32Array(BLOCK);

function fraction(root: number): number {
  return (root % 1) * 2 ** 32;
}

/**
 * The first 32 bits of a text's SHA-256 hash. `crypto.subtle` computes a hash per promise, which takes ten times as long, and doesn't
 * exist on pages without HTTPS.
 */
export function sha256Start(bytes: Uint8Array): number {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, bytes.length * 8);
  const state = INITIAL.slice();
  for (let at = 0; at < padded.length; at += BLOCK) addBlock(state, view, at);
  return state[0] ?? 0;
}

function addBlock(state: Int32Array, view: DataView, at: number): void {
  for (let index = 0; index < 16; index++) schedule[index] = view.getInt32(at + index * 4);
  for (let index = 16; index < BLOCK; index++) {
    const [near = 0, far = 0] = [schedule[index - 2], schedule[index - 15]];
    const mixed = (turn(near, 17) ^ turn(near, 19) ^ (near >>> 10)) + (turn(far, 7) ^ turn(far, 18) ^ (far >>> 3));
    schedule[index] = mixed + (schedule[index - 7] ?? 0) + (schedule[index - 16] ?? 0);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < BLOCK; index++) {
    const choice = (e & f) ^ (~e & g);
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + (ROUNDS[index] ?? 0) + (schedule[index] ?? 0)) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] ?? 0) + value;
}

/** A word rotated right. */
function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
