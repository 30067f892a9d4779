import { hexOf, Reader } from "./reader.ts";

/** Bytes and frames of a tag that are read at most. */
export const MAX_ID3_BYTES = 65_536;
const MAX_FRAMES = 64;

/** A frame of an ID3 tag: a text (`TIT2`), a text with a description (`TXXX`), a link (`WXXX`) or private data (`PRIV`). */
export interface Id3Frame {
  key: string;
  /** The description of a `TXXX` or `WXXX`, the owner of a `PRIV`; otherwise empty. */
  info: string;
  /** Text; of a `PRIV` and of unknown frames hexadecimal. */
  value: string;
}

/** Reads the frames of an ID3 tag (v2.3 or v2.4), as far as it is intact. Compressed and encrypted frames are left out. */
export function parseId3(bytes: Uint8Array): Id3Frame[] {
  const frames: Id3Frame[] = [];
  try {
    readTag(bytes.subarray(0, MAX_ID3_BYTES), frames);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return frames;
}

function readTag(bytes: Uint8Array, frames: Id3Frame[]): void {
  const reader = new Reader(bytes);
  if (reader.bits(24) !== 0x494433) return;
  const version = reader.bits(8);
  reader.skip(8);
  const flags = reader.bits(8);
  const tag = reader.part(Math.min(sizeOf(reader, true), reader.left));
  if ((version !== 3 && version !== 4) || flags & 0x80) return;
  // The size of the extended header includes itself in v2.4 only.
  if (flags & 0x40) tag.skip((sizeOf(tag, version === 4) - (version === 4 ? 4 : 0)) * 8);
  while (tag.left >= 10 && frames.length < MAX_FRAMES) {
    const key = textOf(tag.bytes(4), 0);
    if (!/^[A-Z0-9]{4}$/.test(key)) return;
    const size = sizeOf(tag, version === 4);
    const format = tag.bits(16);
    const content = tag.bytes(size);
    if ((format & 0xff) === 0) frames.push(frameOf(key, content));
  }
}

/** Four bytes; in "synchsafe" ones the first bit is unused. */
function sizeOf(reader: Reader, synchsafe: boolean): number {
  if (!synchsafe) return reader.bits(32);
  let size = 0;
  for (let index = 0; index < 4; index++) size = size * 128 + (reader.bits(8) & 0x7f);
  return size;
}

function frameOf(key: string, content: Uint8Array): Id3Frame {
  if (key === "PRIV") {
    const end = content.indexOf(0);
    const owner = end < 0 ? content : content.subarray(0, end);
    return { key, info: textOf(owner, 0), value: end < 0 ? "" : hexOf(content.subarray(end + 1)) };
  }
  const encoding = content[0] ?? 0;
  const text = content.subarray(1);
  if (key === "TXXX" || key === "WXXX") {
    const end = endOf(text, encoding);
    const rest = text.subarray(end + widthOf(encoding));
    return { key, info: textOf(text.subarray(0, end), encoding), value: textOf(rest, key === "WXXX" ? 0 : encoding) };
  }
  return { key, info: "", value: key.startsWith("T") ? textOf(text, encoding) : hexOf(content) };
}

function widthOf(encoding: number): number {
  return encoding === 1 || encoding === 2 ? 2 : 1;
}

/** Where a text ends: at a zero character, or where the content does. */
function endOf(bytes: Uint8Array, encoding: number): number {
  const width = widthOf(encoding);
  for (let at = 0; at + width <= bytes.length; at += width) if (bytes[at] === 0 && (width === 1 || bytes[at + 1] === 0)) return at;
  return bytes.length;
}

const ENCODINGS = ["iso-8859-1", "utf-16", "utf-16be", "utf-8"];

function textOf(bytes: Uint8Array, encoding: number): string {
  const text = new TextDecoder(ENCODINGS[encoding] ?? "utf-8").decode(bytes.subarray(0, endOf(bytes, encoding)));
  return text;
}
