// The part of RFC 6455 that a viewer needs.

const EMPTY: Buffer = Buffer.alloc(0);

/** Parses the server's bytes as they arrive, and passes on complete frames. A payload is only valid during the call. */
export class FrameReader {
  #rest = EMPTY;
  readonly #onFrame: (opcode: number, payload: Buffer) => void;

  constructor(onFrame: (opcode: number, payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  read(chunk: Buffer): void {
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let at = 0;
    for (let frame = frameAt(data, at); frame; frame = frameAt(data, at)) {
      at = frame.end;
      this.#onFrame(frame.opcode, data.subarray(frame.start, frame.end));
    }
    // A copy, because the chunk's memory is reused for the next one.
    this.#rest = at === data.length ? EMPTY : Buffer.from(data.subarray(at));
  }
}

function frameAt(data: Buffer, at: number): { opcode: number; start: number; end: number } | null {
  if (data.length < at + 2) return null;
  const short = data.readUInt8(at + 1) & 0x7f;
  const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
  if (data.length < start) return null;
  const length = short < 126 ? short : short === 126 ? data.readUInt16BE(at + 2) : Number(data.readBigUInt64BE(at + 2));
  const end = start + length;
  return data.length < end ? null : { opcode: data.readUInt8(at) & 0x0f, start, end };
}

/** A client's text frame, masked with zeros; at most 125 bytes. */
export function encodeText(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length > 125) throw new RangeError("A viewer's message must be at most 125 bytes");
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
