import { z } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { url } from "./test-server.ts";

const Integrity = z.object({ pinned: z.string(), files: z.record(z.string(), z.string()) });

test("any page can load the release's files, of which only those at the pinned URL are immutable", async () => {
  const listed = await fetch(`${url}/sdk/integrity.json`);
  const { pinned, files } = Integrity.parse(await listed.json());
  const pinnedFiles = await Promise.all(Object.keys(files).map((file) => fetch(`${url}${pinned}/${file}`)));
  const latest = await fetch(`${url}/sdk/tifo.js`);
  for (const { status, headers } of [listed, latest, ...pinnedFiles]) {
    expect(status).toBe(200);
    expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
  }
  for (const { headers } of pinnedFiles) expect(headers.get("Cache-Control")).toContain("immutable");
  for (const { headers } of [listed, latest]) expect(headers.get("Cache-Control")).not.toContain("immutable");
});
