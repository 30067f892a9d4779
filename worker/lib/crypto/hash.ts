/** FNV-1a, 32 bits: spreads texts evenly, and the same text always to the same number. */
export function hash32(text: string, seed = 0x811c9dc5): number {
  let value = seed;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/** One of so many buckets for a key. With one bucket more, only the keys that move into it change theirs (jump consistent hash). */
export function bucketOf(key: string, buckets: number): number {
  // Twice over, since FNV leaves texts that differ at their end alone close to each other.
  let state = (BigInt(hash32(key)) << 32n) | BigInt(hash32(`${key}:${key}`));
  let bucket = -1;
  for (let next = 0; next < buckets;) {
    bucket = next;
    state = BigInt.asUintN(64, state * 2862933555777941757n + 1n);
    next = Math.floor((bucket + 1) * (2 ** 31 / (Number(state >> 33n) + 1)));
  }
  return bucket;
}
