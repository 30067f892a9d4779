/** Parts of a multipart upload must be of equal size, the last one excepted. */
const PART_BYTES = 8 * 1024 * 1024;

/** Stores a stream of any length in the bucket, with one part in memory; returns its size. */
export async function storeStream(bucket: R2Bucket, key: string, body: ReadableStream<Uint8Array>, contentType: string): Promise<number> {
  const upload = await bucket.createMultipartUpload(key, { httpMetadata: { contentType } });
  try {
    const parts: R2UploadedPart[] = [];
    let bytes = 0;
    for await (const part of partsOf(body)) {
      bytes += part.byteLength;
      parts.push(await upload.uploadPart(parts.length + 1, part));
    }
    await upload.complete(parts);
    return bytes;
  } catch (error) {
    await upload.abort();
    throw error;
  }
}

async function* partsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const part = new Uint8Array(PART_BYTES);
  let filled = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.byteLength;) {
      const taken = chunk.subarray(at, at + PART_BYTES - filled);
      part.set(taken, filled);
      filled += taken.byteLength;
      at += taken.byteLength;
      if (filled < PART_BYTES) continue;
      yield part.slice();
      filled = 0;
    }
  }
  yield part.slice(0, filled);
}
