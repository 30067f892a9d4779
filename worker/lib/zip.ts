import { Failure, invalid } from "#worker/lib/errors.ts";
import { clip } from "#worker/lib/well-formed.ts";

// Reads archives that others made. What a small archive could become is bounded before and while it is decompressed.

export interface ZipLimits {
  files: number;
  /** Of all files together, decompressed. */
  bytes: number;
  /** Of one file, decompressed. */
  fileBytes: number;
  /** Decompressed bytes per compressed one, for files of more than `RATIO_FROM` bytes. */
  ratio: number;
}

export interface ZippedFile {
  path: string;
  content: Uint8Array<ArrayBuffer>;
}

/** Small files of one letter compress better than any ratio, and don't matter. */
const RATIO_FROM = 100_000;
const MAX_PATH_LENGTH = 200;
const MAX_SEGMENTS = 10;
/** What operating systems add. */
const IGNORED = /^__MACOSX\/|(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$/;
/** Letters, digits and marks of any script, and what file names usually contain; no control characters, backslashes or colons. */
const SEGMENT = /^[\p{L}\p{M}\p{N} !#$&'()+,;=@[\]^_`{}~.-]+$/u;

/** The files of an archive. Throws a 400 for `field` that says what is wrong with it. */
export async function readZip(archive: Blob, field: string, limits: ZipLimits): Promise<ZippedFile[]> {
  // Loaded only by Workers that receive an archive.
  const { BlobReader, configure, ZipReader } = await import("@zip.js/zip.js/lib/zip-core-custom.js");
  configure({ useWebWorkers: false });
  const reader = new ZipReader(new BlobReader(archive), { strictness: "strict", checkSignature: true, checkOverlappingEntry: true });
  try {
    const files: ZippedFile[] = [];
    const seen = new Set<string>();
    let left = limits.bytes;
    let count = 0;
    for await (const entry of reader.getEntriesGenerator()) {
      const { filename: path } = entry;
      if (++count > limits.files * 2) throw invalid(field, `At most ${limits.files} files`);
      if (entry.directory || IGNORED.test(path)) continue;
      requirePath(path, field);
      if (entry.encrypted) throw invalid(field, `${path} is encrypted`);
      if (entry.symlink) throw invalid(field, `${path} is a symbolic link`);
      // Names that differ by case alone are one file to some systems.
      const folded = path.normalize("NFC").toLowerCase();
      if (seen.has(folded)) throw invalid(field, `It contains ${path} twice`);
      seen.add(folded);
      if (seen.size > limits.files) throw invalid(field, `At most ${limits.files} files`);
      requireSize(path, entry.uncompressedSize, entry.compressedSize, left, field, limits);
      const content = new Uint8Array(entry.uncompressedSize);
      await entry.getData(fixedSizeSink(content, () => invalid(field, `${path} is larger than the archive says`)));
      left -= content.byteLength;
      files.push({ path, content });
    }
    return files;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw invalid(field, `Not a readable zip archive: ${error instanceof Error ? error.message : "unknown error"}`);
  } finally {
    await reader.close();
  }
}

/** Ends decompression as soon as there is more than fits: an archive may state a smaller size than its contents have. */
function fixedSizeSink(target: Uint8Array, overflow: () => Error): WritableStream<Uint8Array<ArrayBuffer>> {
  let length = 0;
  return new WritableStream({
    write(chunk: Uint8Array) {
      if (length + chunk.byteLength > target.byteLength) throw overflow();
      target.set(chunk, length);
      length += chunk.byteLength;
    },
  });
}

/** A relative path that means the same everywhere. */
function requirePath(path: string, field: string): void {
  const segments = path.split("/");
  const isPlain = segments.every((segment) => SEGMENT.test(segment) && !/^\.+$/.test(segment) && !segment.endsWith(" "));
  if (!isPlain || path.length > MAX_PATH_LENGTH || segments.length > MAX_SEGMENTS)
    throw invalid(field, `It contains a file with an unsafe name: ${JSON.stringify(clip(path, 100))}`);
}

function requireSize(path: string, size: number, compressed: number, left: number, field: string, limits: ZipLimits): void {
  if (size > limits.fileBytes) throw invalid(field, `${path} has more than ${limits.fileBytes} bytes`);
  if (size > left) throw invalid(field, `Its files have more than ${limits.bytes} bytes together`);
  if (size > RATIO_FROM && size > compressed * limits.ratio)
    throw invalid(field, `${path} is compressed too strongly to be a graphic's file`);
}
