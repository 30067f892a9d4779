/** FNV-1a, 32 bits: a fast, stable, evenly distributed hash. */
export function hash32(text: string, seed = 0x811c9dc5): number {
  let value = seed;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/** The bucket of a key. Adding a bucket only moves keys into the new one (jump consistent hash). */
export function bucketOf(key: string, buckets: number): number {
  // Hashed twice, because FNV gives texts that only differ at the end similar values.
  let state = (BigInt(hash32(key)) << 32n) | BigInt(hash32(`${key}:${key}`));
  let bucket = -1;
  for (let next = 0; next < buckets;) {
    bucket = next;
    state = BigInt.asUintN(64, state * 2862933555777941757n + 1n);
    next = Math.floor((bucket + 1) * (2 ** 31 / (Number(state >> 33n) + 1)));
  }
  return bucket;
}
