/** A part of a file. */
export interface ByteRange {
  offset: number;
  length: number;
}

/**
 * Parses a Range header for a file of this size (RFC 9110, section 14.1.2): one byte range, or null if it is not
 * satisfiable. A malformed header or one with several ranges is ignored, as the RFC allows: the whole file is sent.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | null | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "");
  if (!match) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "") return last === "" ? undefined : suffix(Number(last), size);
  const offset = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < offset) return undefined;
  return offset < size ? { offset, length: end - offset + 1 } : null;
}

function suffix(requested: number, size: number): ByteRange | null {
  const length = Math.min(requested, size);
  return length > 0 ? { offset: size - length, length } : null;
}
