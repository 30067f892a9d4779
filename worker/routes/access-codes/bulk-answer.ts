import type { BulkInput } from "./schemas.ts";

type Chunks = AsyncIterable<string[]>;

/** The answer as JSON, in the shape of `BulkAnswer`, piece by piece. */
export async function* jsonText({ qty, sku }: BulkInput, chunks: Chunks): AsyncGenerator<string, void> {
  let before = `{"success":true,"qty":${qty},"sku":${JSON.stringify(sku)},"accessCodes":[`;
  for await (const codes of chunks) {
    yield before + codes.map((code) => `"${code}"`).join(",");
    before = ",";
  }
  yield "]}";
}

/** The same as CSV (RFC 4180), one code a line. */
export async function* csvText({ sku }: BulkInput, chunks: Chunks): AsyncGenerator<string, void> {
  yield "accessCode,sku\r\n";
  const field = csvField(sku);
  for await (const codes of chunks) yield codes.map((code) => `${code},${field}\r\n`).join("");
}

/** Quoted where it must be; a spreadsheet shall not take what begins like a formula for one. */
function csvField(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Text as a stream of bytes that is made only as fast as it is read. */
export function streamText(pieces: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await pieces.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await pieces.return();
    },
  });
}
