// Reads what players hand out without types, or with other ones in each version.

export function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** The entries of a list of the DOM's kind, with a length and numbered properties. */
export function elementsOf(list: unknown): unknown[] {
  const length = Number(at(list, "length") ?? 0);
  return Array.from({ length }, (_, index) => at(list, String(index)));
}

export function textAt(value: unknown, key: string): string | null {
  const text = at(value, key);
  return typeof text === "string" && text !== "" ? text : null;
}

/** A number of seconds; null if there is none, or it never ends. */
export function secondsAt(value: unknown, key: string): number | null {
  const seconds = at(value, key);
  return typeof seconds === "number" && Number.isFinite(seconds) ? seconds : null;
}

export function bytesIn(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : null;
}
