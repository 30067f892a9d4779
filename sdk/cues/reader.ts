/** Reads bits and bytes of a stream's metadata. Throws `RangeError` past its end, however long the data claim to be. */
export class Reader {
  readonly #bytes: Uint8Array;
  /** In bits. */
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, from = 0, to = bytes.length) {
    this.#bytes = bytes;
    this.#at = from * 8;
    this.#end = Math.min(to, bytes.length) * 8;
  }

  /** Bytes that are left. */
  get left(): number {
    return Math.floor((this.#end - this.#at) / 8);
  }

  /** At most 48 bits, as a number. */
  bits(count: number): number {
    if (this.#at + count > this.#end) throw new RangeError("The data end too early");
    let value = 0;
    for (let read = 0; read < count; read++, this.#at++) {
      const byte = this.#bytes[this.#at >> 3] ?? 0;
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1);
    }
    return value;
  }

  flag(): boolean {
    return this.bits(1) === 1;
  }

  skip(bits: number): void {
    if (this.#at + bits > this.#end) throw new RangeError("The data end too early");
    this.#at += bits;
  }

  bytes(count: number): Uint8Array {
    const from = this.#at >> 3;
    this.skip(count * 8);
    return this.#bytes.subarray(from, from + count);
  }

  /** A reader of the next bytes, which this one continues after. */
  part(count: number): Reader {
    const from = this.#at >> 3;
    this.skip(count * 8);
    return new Reader(this.#bytes, from, from + count);
  }
}

/** Bytes in hexadecimal, two digits each. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of a text in hexadecimal (with or without `0x`) or in base64; null if it is neither, or too long. */
export function bytesOf(text: string, max: number): Uint8Array | null {
  if (text.length > max * 2 + 2) return null;
  const hex = /^0x/i.test(text) ? text.slice(2) : text;
  if (hex.length % 2 === 0 && /^[0-9a-f]*$/i.test(hex))
    return Uint8Array.from({ length: hex.length / 2 }, (_, index) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16));
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
