/** Which of `shards` equal parts a key belongs to; always the same one. */
export function shardOf(key: string, shards: number): number {
  return hash(key) % shards;
}

/** FNV-1a, 32 bits. */
function hash(value: string): number {
  let result = 0x811c9dc5;
  for (let index = 0; index < value.length; index++) result = Math.imul(result ^ value.charCodeAt(index), 0x01000193);
  return result >>> 0;
}
