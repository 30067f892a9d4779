import { createWriteStream, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ok, type Schemas } from "../../sdk/client/index.ts";
import { type Command, JSON_OPTION, SITE_OPTIONS } from "../lib/command.ts";
import { EXIT, Failure, wrongUsage } from "../lib/failure.ts";
import { unwritable } from "../lib/files.ts";
import { type Io, jsonLine, plain } from "../lib/io.ts";
import { isRecord } from "../lib/json.ts";
import { openSite, type Site } from "../lib/session.ts";

const POLL_MS = 1000;

export const exportSite: Command = {
  name: "export",
  summary: "Export everything that the database has of a site to a file.",
  details:
    "Requires a developer key with the role site:write and the read roles of all areas. The file contains personal data; only you can read it.",
  options: {
    ...SITE_OPTIONS,
    output: { type: "string", value: "<path>", description: "The file, which must not exist. Default: tifo-<site>-<date>.ndjson" },
    ...JSON_OPTION,
  },
  examples: ["tifo export", "tifo export --output backup.ndjson --json"],
  async run(values, io) {
    const site = openSite(values, io);
    const date = new Date(io.now()).toISOString().slice(0, 10);
    const file = values.text("output") ?? `tifo-${site.siteId}-${date}.ndjson`;
    // Created first, so that a name that is taken fails before the server does any work.
    const stream = await createFile(file);
    try {
      const archive = await completed(site, io);
      await download(archive, stream, io);
      const { _id, rows, bytes } = archive;
      io.out(values.flag("json") ? jsonLine({ file, exportId: _id, rows, bytes }) : `Exported ${rows} rows (${bytes} bytes) to ${file}.`);
    } catch (error) {
      stream.destroy();
      rmSync(file, { force: true });
      throw error;
    }
  },
};

async function createFile(path: string) {
  const stream = createWriteStream(path, { flags: "wx", mode: 0o600 });
  await new Promise<void>((resolve, reject) => stream.once("open", () => resolve()).once("error", reject)).catch((error: unknown) => {
    if (isRecord(error) && error.code === "EEXIST") {
      throw wrongUsage(`${path} exists.`, { reason: "An export never replaces a file.", fix: "Choose another name with --output." });
    }
    throw unwritable(path, error, "Choose another path with --output.");
  });
  return stream;
}

/** Starts the export, or joins the one that is running, and waits for its end. */
async function completed({ client }: Site, io: Io): Promise<Schemas["SiteArchive"]> {
  let archive = await ok(client.api.POST("/site/v1/export", { signal: io.signal }));
  while (archive.status !== "complete") {
    if (archive.status === "failed") {
      throw new Failure(`The export failed: ${plain(archive.message ?? "no reason was given")}`, EXIT.failed, {
        reason: "The server couldn't write the archive.",
        fix: "Run tifo export again. If it keeps failing, give the message to the operator.",
      });
    }
    io.progress(`${archive.status}: ${archive.rows} rows, ${archive.bytes} bytes`);
    await io.sleep(POLL_MS);
    archive = await ok(client.api.GET("/site/v1/export/{exportId}", { params: { path: { exportId: archive._id } }, signal: io.signal }));
  }
  return archive;
}

/** The URL contains its own authorization, so that the request has no credentials. */
async function download({ url, bytes }: Schemas["SiteArchive"], target: NodeJS.WritableStream, io: Io): Promise<void> {
  if (url === null) throw expired("The export has no file.");
  const response = await io.fetch(new Request(url, { signal: io.signal }));
  if (!response.ok || response.body === null) {
    throw expired(`The file can't be downloaded: the server returned ${response.status}.`);
  }
  await pipeline(chunksOf(response.body, bytes, io), target);
}

function expired(message: string): Failure {
  return new Failure(message, EXIT.failed, { reason: "Files of exports are deleted after a while.", fix: "Run tifo export again." });
}

async function* chunksOf(body: ReadableStream<Uint8Array>, bytes: number, io: Io): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let received = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    received += part.value.byteLength;
    io.progress(`downloading: ${received} of ${bytes} bytes`);
    yield part.value;
  }
}
