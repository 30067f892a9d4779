import { z } from "@hono/zod-openapi";
import { expect, inject, test } from "vitest";

const url = inject("url");
const Integrity = z.object({ pinned: z.string(), files: z.record(z.string(), z.string()) });

test("any page may read which release there is and its files, of which those at the pinned address alone are kept for good", async () => {
  const listed = await fetch(`${url}/sdk/integrity.json`);
  const { pinned, files } = Integrity.parse(await listed.json());
  const kept = await Promise.all(Object.keys(files).map((file) => fetch(`${url}${pinned}/${file}`)));
  const following = await fetch(`${url}/sdk/tifo.js`);
  for (const { status, headers } of [listed, following, ...kept]) {
    expect(status).toBe(200);
    expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
  }
  for (const { headers } of kept) expect(headers.get("Cache-Control")).toContain("immutable");
  for (const { headers } of [listed, following]) expect(headers.get("Cache-Control")).not.toContain("immutable");
});
