/** A part of a file. */
export interface ByteRange {
  offset: number;
  length: number;
}

/**
 * What a Range header asks of a file of this size (RFC 9110, section 14.1.2): one range of bytes, or null when the file
 * has none of it. A header of another form, or with several ranges, is ignored, as the RFC allows: the whole file answers it.
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

function suffix(wanted: number, size: number): ByteRange | null {
  const length = Math.min(wanted, size);
  return length > 0 ? { offset: size - length, length } : null;
}
