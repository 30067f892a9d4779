import { csvField } from "#worker/lib/csv.ts";
import type { BulkInput } from "./schemas.ts";

type Chunks = AsyncIterable<string[]>;

/** The response body as JSON (`BulkResult`), chunk by chunk. */
export async function* jsonText({ qty, sku }: BulkInput, chunks: Chunks): AsyncGenerator<string, void> {
  let prefix = `{"success":true,"qty":${qty},"sku":${JSON.stringify(sku)},"accessCodes":[`;
  for await (const codes of chunks) {
    yield prefix + codes.map((code) => `"${code}"`).join(",");
    prefix = ",";
  }
  yield "]}";
}

/** The response body as CSV (RFC 4180), one code per line. */
export async function* csvText({ sku }: BulkInput, chunks: Chunks): AsyncGenerator<string, void> {
  yield "accessCode,sku\r\n";
  const field = csvField(sku);
  for await (const codes of chunks) yield codes.map((code) => `${code},${field}\r\n`).join("");
}
