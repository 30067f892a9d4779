import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "#cli/run.ts";
import { fakeIo, type FakeIo, temporaryFolder } from "./fake-io.ts";

const ORIGIN = "https://tifo.example.com";
const SITE = "5eed00000000000000000001";
const CHANNEL = "5eed0000000000000000c001";
const OPTIONS = ["--origin", ORIGIN, "--site", SITE, "--channel", CHANNEL];

const deployment = () => fakeIo(() => Response.json({ version: "1.2.3" }));

test.each([
  ["plain", "index.html"],
  ["vite", "src/tifo.config.ts"],
  ["next", "tifo.config.ts"],
])("init writes a %s project with the origin, the site and the channel", async (template, file) => {
  const folder = join(temporaryFolder(), "My match!");
  expect(await run(["init", folder, "--template", template, ...OPTIONS], deployment())).toBe(0);
  const text = readFileSync(join(folder, file), "utf8");
  for (const value of [ORIGIN, SITE, CHANNEL]) expect(text).toContain(value);
  if (template === "plain") return;
  const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect(manifest).toMatchObject({ name: "my-match", dependencies: { "@tifo/web": `${ORIGIN}/sdk/tifo-web-1.2.3.tgz` } });
});

test("init changes nothing in a folder that isn't empty", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "index.html"), "mine");
  expect(await run(["init", folder, "--template", "plain", ...OPTIONS], deployment())).toBe(2);
  expect(readFileSync(join(folder, "index.html"), "utf8")).toBe("mine");
});

test.each([
  ["an unknown template", ["--template", "constructor", ...OPTIONS]],
  ["a channel that isn't an id", ["--template", "plain", "--origin", ORIGIN, "--site", SITE, "--channel", '"><script>']],
  ["no channel", ["--template", "plain", "--origin", ORIGIN, "--site", SITE]],
])("init rejects %s before it writes a file", async (_, options) => {
  const folder = join(temporaryFolder(), "new");
  expect(await run(["init", folder, ...options], deployment())).toBe(2);
  expect(existsSync(folder)).toBe(false);
});

/** A deployment that needs two more looks to finish an export. */
function exporter(end: object): FakeIo {
  let looks = 0;
  const io = fakeIo(({ url }) => {
    if (url.endsWith("/file/token")) return new Response("{}\n");
    const state = { _id: "e1", rows: 5, bytes: 3, message: null, url: `${ORIGIN}/site/v1/export/file/token` };
    return Response.json({ ...state, status: "exporting", ...(looks++ >= 2 && end) });
  });
  Object.assign(io.env, { TIFO_ORIGIN: ORIGIN, TIFO_SITE_ID: SITE, TIFO_DEVELOPER_KEY: "tifo_dev_test" });
  return io;
}

test("export waits for the archive, and downloads it without credentials into a file of the user's own", async () => {
  const io = exporter({ status: "complete" });
  const file = join(temporaryFolder(), "backup.ndjson");
  expect(await run(["export", "--output", file, "--json"], io)).toBe(0);
  expect(io.shown.map((line): unknown => JSON.parse(line))).toEqual([{ file, exportId: "e1", rows: 5, bytes: 3 }]);
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777, io.slept]).toEqual(["{}\n", 0o600, 2000]);
  expect(io.requests.at(-1)?.headers.get("Tifo-Developer-Key")).toBe(null);
});

test("export leaves no file when it fails", async () => {
  const io = exporter({ status: "failed", message: "No space" });
  const file = join(temporaryFolder(), "backup.ndjson");
  expect(await run(["export", "--output", file], io)).toBe(1);
  expect(io.notes).toContain("Error: The export failed: No space");
  expect(existsSync(file)).toBe(false);
});

test("export doesn't replace a file, and then doesn't start", async () => {
  const io = exporter({ status: "complete" });
  const file = join(temporaryFolder(), "backup.ndjson");
  writeFileSync(file, "mine");
  expect(await run(["export", "--output", file], io)).toBe(2);
  expect([readFileSync(file, "utf8"), io.requests.length]).toEqual(["mine", 0]);
});
