import { env } from "cloudflare:workers";
import { eq, getTableColumns, getTableName } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { loadDemo, SITE_A, SITE_B } from "#db/demo.ts";
import { outbox } from "#db/schema/events.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { addResource } from "#test/resources.ts";
import { exportSite, forged, importSite, removeSite, rowsOf, streamOf } from "#test/site-archives.ts";
import { tables } from "#test/tables.ts";
import { newId } from "#worker/lib/ids.ts";
import { ApiKeyWithSecret } from "#worker/services/sites/api-key-schemas.ts";
import { getImport, startExport, startImport } from "#worker/services/site-archives/archives.ts";
import { continueArchive } from "#worker/services/site-archives/jobs.ts";
import { SiteArchive } from "#worker/services/site-archives/schemas.ts";
import { ARCHIVED, LEFT_OUT, nameOf } from "#worker/services/site-archives/tables.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { siteStore } from "#test/site-store.ts";

/** Columns that look like secrets and aren't. */
const HARMLESS = ["accounts.password_version", "accounts.email_hash", "webhook_endpoints.previous_secret_expires"];

let site: TestSite;
let archive: string;

beforeAll(async () => {
  await loadDemo(env.DB, env.MEDIA, env);
  site = await newSite();
  await addResource(site, "poll");
  await addResource(site, "overlay");
  archive = await exportSite(site.id, site.developerKey);
});

/** The archive's rows of one table are those before its trailer, so lines are changed by their columns. */
const rowWith = (line: Record<string, unknown>, column: string): Record<string, unknown> | undefined => {
  const row = line.row;
  return typeof row === "object" && row !== null && column in row ? { ...row } : undefined;
};

describe("an archive", () => {
  test("covers every table of the database, or says why it doesn't", () => {
    const archived = ARCHIVED.map((each) => nameOf(each));
    const all = tables.map((table) => getTableName(table));
    expect([...archived, ...Object.keys(LEFT_OUT)].sort()).toEqual(all.sort());
  });

  test("seals every column that looks like a secret", () => {
    const looks = ARCHIVED.flatMap((each) =>
      Object.values(getTableColumns(each.table))
        .filter(({ name }) => /hash|sealed|secret|seed|password/.test(name) && !each.secret.some((column) => column.name === name))
        .map(({ name }) => `${nameOf(each)}.${name}`),
    );
    expect(looks.filter((name) => !HARMLESS.includes(name))).toEqual([]);
    // The header names all columns; no row has these.
    for (const secret of ["$scrypt$", '"password_hash":', '"secret_sealed":', '"hash":']) expect(archive).not.toContain(secret);
  });

  test("restores a site row for row, with its secrets, where it was removed", async () => {
    const text = await exportSite(SITE_A, "tifo_dev_demo");
    const before = await rowsOf(SITE_A);
    const rival = await rowsOf(SITE_B);
    expect(Object.keys(before).length).toBeGreaterThan(35);
    await removeSite(SITE_A);
    const job = await importSite(SITE_A, text);
    expect(job).toMatchObject({ status: "complete", message: null, skipped: 0 });
    const withoutGlobal = before.accounts?.map((account) => ({ ...account, global_account_id: null }));
    const sorted = (rows: object[] = []) => rows.map((row) => JSON.stringify(row)).sort();
    const after = await rowsOf(SITE_A);
    expect(sorted(after.accounts)).toEqual(sorted(withoutGlobal));
    expect({ ...after, accounts: [] }).toEqual({ ...before, accounts: [] });
    expect(await rowsOf(SITE_B)).toEqual(rival);
    await siteDb(env, SITE_A).delete(outbox).where(eq(outbox.siteId, SITE_A));
  });

  test("adds what a site is missing, and changes nothing that it has", async () => {
    const poll = (await rowsOf(site.id)).polls?.[0];
    await siteStore.prepare("delete from polls where site_id = ?").bind(site.id).run();
    await siteStore.prepare("update overlays set name = 'Newer' where site_id = ?").bind(site.id).run();
    const job = await importSite(site.id, archive);
    expect(job.status).toBe("complete");
    expect(job.skipped).toBe(job.rows - 1);
    const after = await rowsOf(site.id);
    expect([after.polls, after.overlays?.map(({ name }) => name)]).toEqual([[poll], ["Newer"]]);
  });

  test("doesn't bring back what was deleted to end somebody's access", async () => {
    const own = await newSite();
    const channelId = await addResource(own, "channel");
    const { _id, key } = (await own.call("createApiKey", { body: { name: "An agency's", roles: ["overlay:read"] } })).as(ApiKeyWithSecret);
    await own.call("createOutput", { params: { channelId }, body: { name: "Mixer" } });
    const text = await exportSite(own.id, own.developerKey);
    const before = await rowsOf(own.id);
    expect(before.outputs).toHaveLength(1);
    expect((await own.call("revokeApiKey", { params: { id: _id } })).status).toBe(204);
    await siteStore.prepare("delete from outputs where site_id = ?").bind(own.id).run();
    const job = await importSite(own.id, text);
    expect(job).toMatchObject({ status: "complete", skipped: job.rows });
    const after = await rowsOf(own.id);
    expect([after.api_keys?.map(({ id }) => id), after.outputs]).toEqual([
      before.api_keys?.map(({ id }) => id).filter((id) => id !== _id),
      undefined,
    ]);
    const headers = { "Tifo-Client-Id": own.id, "Tifo-Developer-Key": key };
    expect((await own.call("listOverlays", { as: "nobody", headers })).status).toBe(401);
  });

  test("of another deployment brings no passwords, keys or authenticators, and new secrets for the rest", async () => {
    const text = await exportSite(SITE_A, "tifo_dev_demo");
    const before = await rowsOf(SITE_A);
    await removeSite(SITE_A);
    const foreign = await forged(text, (line) => ("sealed" in line ? { sealed: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" } : line));
    expect(await importSite(SITE_A, foreign)).toMatchObject({ status: "complete" });
    const after = await rowsOf(SITE_A);
    expect(after.accounts?.every((account) => account.password_hash === null)).toBe(true);
    expect([after.api_keys, after.playback_keys, after.invites]).toEqual([undefined, undefined, undefined]);
    for (const [table, column] of [
      ["data_providers", "secret_sealed"],
      ["stream_providers", "authorization_hash"],
      ["webhook_endpoints", "secret_sealed"],
    ] as const) {
      const secrets = before[table]?.map((row) => row[column]);
      expect(after[table]?.length, table).toBe(before[table]?.length);
      for (const row of after[table] ?? []) expect(secrets, table).not.toContain(row[column]);
    }
    await removeSite(SITE_A);
    await loadDemo(env.DB, env.MEDIA, env);
  });
});

describe("an import", () => {
  let absent: string;
  let text: string;

  beforeAll(async () => {
    const source = await newSite();
    await addResource(source, "poll");
    text = await exportSite(source.id, source.developerKey);
    absent = source.id;
    await removeSite(absent);
  });

  async function rejects(forgery: string | Uint8Array<ArrayBuffer>): Promise<string | null> {
    const { status, message } = await importSite(absent, forgery);
    expect([status, await rowsOf(absent)]).toEqual(["failed", {}]);
    return message;
  }

  test("is for the deployment's operator alone", async () => {
    for (const [as, status] of [
      ["developer", 403],
      ["admin", 403],
      ["nobody", 401],
    ] as const) {
      expect((await site.call("importSite", { as, query: { siteId: site.id } })).status).toBe(status);
      expect((await site.call("getSiteImport", { as, params: { id: newId(1) } })).status).toBe(status);
    }
  });

  test("rejects an archive of another site", async () => {
    expect(await rejects(archive)).toBe("It is of another site");
    expect(await rejects(await forged(text, (line) => ("format" in line ? { ...line, siteId: site.id } : line)))).toBe(
      "It is of another site",
    );
  });

  test("rejects rows of another site, and writes none of the others", async () => {
    const forgery = await forged(text, (line) => {
      const row = rowWith(line, "question");
      return row ? { row: { ...row, site_id: site.id } } : line;
    });
    expect(await rejects(forgery)).toBe("A row of polls belongs to another site");
  });

  test("can't take another site's ids, or write into its polls", async () => {
    const [poll] = (await rowsOf(site.id)).polls ?? [];
    const stolen = await forged(text, (line) => {
      const row = rowWith(line, "question");
      return row ? { row: { ...row, id: poll?.id } } : line;
    });
    expect(await rejects(stolen)).toContain("1 rows of polls conflict with another site");
    expect((await rowsOf(site.id)).polls).toEqual([poll]);
  });

  test("rejects secrets in the open, unknown columns and values of another type", async () => {
    const withField = (field: Record<string, unknown>) =>
      forged(text, (line) => {
        const row = rowWith(line, "normalized_name");
        return row ? { row: { ...row, ...field } } : line;
      });
    expect(await rejects(await withField({ password_hash: "$scrypt$" }))).toBe("accounts has no column password_hash");
    expect(await rejects(await withField({ global_account_id: newId(1) }))).toBe("accounts has no column global_account_id");
    expect(await rejects(await withField({ surprise: 1 }))).toBe("accounts has no column surprise");
    expect(await rejects(await withField({ created: "now" }))).toBe("accounts.created has an invalid value");
    expect(await rejects(await withField({ roles: "[" }))).toBe("accounts.roles has an invalid value");
  });

  test("rejects what is cut off, reordered, changed, too long or no archive at all", async () => {
    const lines = text.trimEnd().split("\n");
    expect(await rejects(`${lines.slice(0, -1).join("\n")}\n`)).toBe("It has no end");
    expect(await rejects(text.slice(0, -40))).toMatch(/^The part at byte \d+ is too large or incomplete$/);
    expect(await rejects(text.replace("Test key", "Best key").replace("Harbour", "Barbour"))).toMatch(/^Piece \d+ has another digest$/);
    expect(await rejects("{broken\n")).toBe("A line of the part at byte 0 isn't JSON");
    expect(await rejects('{"row":{}}\n')).toBe("It doesn't start with the header of an archive");
    expect(await rejects(`{"row":{"a":"${"a".repeat(4_000_001)}"}}\n`)).toBe("A line of the part at byte 0 is too long");
    expect(await rejects("a".repeat(9_000_000))).toBe("The part at byte 0 is too large or incomplete");
    const newer = await forged(text, (line) => ("format" in line ? { ...line, tables: { polls: ["id", "of_tomorrow"] } } : line));
    expect(await rejects(newer)).toBe("It was written by a newer release: this one has no polls.of_tomorrow");
    const gap = await forged(text, (line) => (line.piece === 1 ? { ...line, piece: 2 } : line));
    expect(await rejects(gap)).toBe("Piece 1 is missing");
  });

  test("rejects lines in the wrong place, of no kind, or that contradict each other", async () => {
    const [header = "", ...rest] = text.trimEnd().split("\n");
    const whole = (lines: string[]) => `${lines.join("\n")}\n`;
    expect(await rejects(whole([header, header, ...rest]))).toBe("A header in the middle");
    const lastTrailer = rest.findLastIndex((line) => line.startsWith('{"piece"'));
    expect(await rejects(whole([header, ...rest.toSpliced(lastTrailer, 1)]))).toBe("A piece has no digest");
    expect(await rejects(whole([header, '{"strange":1}', ...rest]))).toMatch(/^A line of the part at byte \d+ is none of an archive$/);
    const bytes = new Uint8Array(new TextEncoder().encode(text));
    bytes[text.indexOf("Harbour")] = 0xff;
    expect(await rejects(bytes)).toBe("It isn't UTF-8");
    expect(await rejects(text.replace(/("table":)"\w+"(,"rows")/, '$1"nothing"$2'))).toBe("Piece 0 is of an unknown table");
    expect(await rejects(text.replace(/("table":"\w+","rows":)\d+/, "$199"))).toBe("Piece 0 has another number of rows");
    expect(await rejects(text.replace(/("end":.*"pieces":)\d+/, "$199"))).toBe("Pieces are missing");
    const withoutQuestion = await forged(text, (line) => {
      const { question, ...row } = rowWith(line, "question") ?? {};
      return question === undefined ? line : { row };
    });
    expect(await rejects(withoutQuestion)).toBe("polls.question is missing");
  });

  test("rejects a site whose slug another one has", async () => {
    const taken = await forged(text, (line) => {
      const row = rowWith(line, "collections");
      return row ? { row: { ...row, slug: site.slug } } : line;
    });
    expect(await rejects(taken)).toBe("Another site has this slug");
  });

  test("rejects files that the bucket doesn't have, or not with this content", async () => {
    const demo = await exportSite(SITE_A, "tifo_dev_demo");
    const changed = (change: (line: Record<string, unknown>) => Record<string, unknown>) =>
      forged(demo, (line) => (typeof line.file === "string" && "md5" in line ? { ...line, ...change(line) } : line));
    const before = await rowsOf(SITE_A);
    for (const [change, message] of [
      [({ file }: Record<string, unknown>) => ({ file: `${String(file)}-gone` }), /^The bucket has no file .*-gone; copy the files first$/],
      [({ bytes }: Record<string, unknown>) => ({ bytes: Number(bytes) + 1 }), /^The bucket has another file /],
      [() => ({ md5: "0".repeat(32) }), /^The bucket has another file /],
    ] as const) {
      const job = await importSite(SITE_A, await changed(change));
      expect(job.status).toBe("failed");
      expect(job.message).toMatch(message);
    }
    expect(await rowsOf(SITE_A)).toEqual(before);
    expect((await site.call("getSiteImport", { as: "super", params: { id: newId(1) } })).status).toBe(404);
  });

  test("of a site is the only one at a time", async () => {
    const send = vi.spyOn(env.JOBS, "send").mockResolvedValue({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });
    onTestFinished(() => send.mockRestore());
    const own = newId(Date.now());
    const ctx = systemCtx({ env, db: createDb(siteStore), now: Date.now() }, "", "test");
    await startImport(ctx, own, streamOf(text));
    await expect(startImport(ctx, own, streamOf(text))).rejects.toThrow("An import of this site is already running");
    await siteStore.prepare("delete from site_archives where site_id = ?").bind(own).run();
  });

  test("continues after a crash in any of its steps, and repeats nothing", async () => {
    const db = createDb(siteStore);
    const send = vi.spyOn(env.JOBS, "send").mockResolvedValue({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });
    onTestFinished(() => send.mockRestore());
    const ctx = systemCtx({ env, db, now: Date.now() }, "", "test");
    const job = await startImport(ctx, absent, streamOf(text));
    let crashes = 0;
    const failing = new Proxy(env, {
      get: (target, name): unknown => {
        if (name === "MEDIA" && crashes++ % 2 === 0) throw new Error("the bucket is down");
        return Reflect.get(target, name);
      },
    });
    for (let later = 0; later < 12; later++) {
      const message = { kind: "siteArchive" as const, siteId: absent, archiveId: job.id };
      const step = () => continueArchive({ env: failing, db }, message, () => Date.now() + later * 60_000).catch(() => undefined);
      await Promise.all([step(), step()]);
    }
    expect(crashes).toBeGreaterThan(2);
    expect((await getImport(ctx, job.id)).status).toBe("complete");
    expect((await rowsOf(absent)).polls).toHaveLength(1);
    await removeSite(absent);
  });
});

describe("an export", () => {
  test("needs a key that may read everything, and its link ends with the key", async () => {
    const headers = { "Tifo-Developer-Key": await site.addKey(["site:write"]) };
    expect((await site.call("exportSite", { as: "client", headers })).status).toBe(403);
    const started = (await site.call("exportSite")).as(SiteArchive);
    const read = async () => (await site.call("getSiteExport", { params: { exportId: started._id } })).as(SiteArchive);
    const { url } = await vi.waitUntil(async () => {
      const job = await read();
      return job.status === "complete" ? job : false;
    });
    const token = url?.split("/").at(-1) ?? "";
    const download = () => site.call("downloadSiteExport", { as: "nobody", params: { token } });
    expect((await download()).status).toBe(200);
    const other = await newSite();
    expect((await other.call("getSiteExport", { params: { exportId: started._id } })).status).toBe(404);
    await siteStore.prepare("update api_keys set expires = 1 where site_id = ?").bind(site.id).run();
    expect((await download()).status).toBe(404);
    await siteStore.prepare("update api_keys set expires = null where site_id = ?").bind(site.id).run();
  });

  test("that runs is returned again, and continues after a crash without a gap or a repeated row", async () => {
    const own = await newSite();
    for (let index = 0; index < 3; index++) await addResource(own, "overlay");
    const db = createDb(siteStore);
    const ctx = systemCtx({ env, db, now: Date.now() }, own.id, "test");
    const caller = async () => ({ kind: "developer" as const, id: newId(1), roles: ["*"] });
    let crashes = 0;
    const failing = new Proxy(env, {
      get: (target, name): unknown => {
        if (name === "MEDIA" && crashes++ % 3 === 0) throw new Error("the bucket is down");
        return Reflect.get(target, name);
      },
    });
    const send = vi.spyOn(env.JOBS, "send").mockResolvedValue({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });
    const job = await startExport({ ...ctx, caller });
    expect((await startExport({ ...ctx, caller })).id).toBe(job.id);
    const message = { kind: "siteArchive" as const, siteId: own.id, archiveId: job.id };
    for (let later = 0; later < 60; later++) {
      const step = () => continueArchive({ env: failing, db }, message, () => Date.now() + later * 60_000).catch(() => undefined);
      await Promise.all([step(), step()]);
    }
    expect(crashes).toBeGreaterThan(2);
    send.mockRestore();
    const [row] = await siteStore.prepare("select rows, status from site_archives where id = ?").bind(job.id).raw();
    const expected = Object.values(await rowsOf(own.id)).reduce((sum, rows) => sum + rows.length, 0);
    expect(row).toEqual([expected, "complete"]);
  });
});
