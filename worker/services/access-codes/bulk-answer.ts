import { csvField } from "#worker/lib/csv.ts";
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
