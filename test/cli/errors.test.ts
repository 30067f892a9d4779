import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS, run } from "#cli/run.ts";
import { fakeIo, type FakeIo, temporaryFolder } from "./fake-io.ts";

const ORIGIN = "https://tifo.example.com";
const SITE = "5eed00000000000000000001";
const ID = "5eed0000000000000000a001";
const CHANNEL = "5eed0000000000000000c001";

/** What a command needs to send its first request. */
const COMPLETE: Record<string, string[]> = {
  whoami: ["whoami"],
  tail: ["tail", "--count", "1"],
  "trigger broadcast": ["trigger", "broadcast", ID, "--site-wide"],
  "trigger event": ["trigger", "event", "--provider", ID, "--data", "{}"],
  "trigger webhook": ["trigger", "webhook"],
  record: ["record", CHANNEL, "--from", "1h"],
  "login with a key": ["login", "--key-stdin"],
  "login with a password": ["login", "--email", "ada@demo.example", "--password-stdin"],
  "login to a sandbox": ["login", "--sandbox"],
};

function signedIn(respond: (request: Request) => Response | Promise<Response>): FakeIo {
  const io = fakeIo(respond, "secret");
  Object.assign(io.env, { TIFO_ORIGIN: ORIGIN, TIFO_SITE_ID: SITE, TIFO_DEVELOPER_KEY: "tifo_dev_demo", TIFO_PROVIDER_SECRET: "secret" });
  return io;
}

const problem = (status: number, code: string, message: string, more: Record<string, unknown> = {}) =>
  Response.json({ success: false, status, code, message, ...more }, { status, headers: { "Tifo-Request-Id": "8f14e45fceea167a" } });

/** What was reported, by the words before the colons. */
function reported(io: FakeIo): Record<string, string> {
  return Object.fromEntries(
    io.notes.flatMap((note) => {
      const [, word, text] = /^(Error|Cause|Fix|See): (.*)$/s.exec(note) ?? [];
      return word === undefined || text === undefined ? [] : [[word, text]];
    }),
  );
}

const requesting = Object.entries(COMPLETE);

describe("an error says what went wrong, its cause and how to fix it", () => {
  test.each(requesting)("%s, if the credentials are rejected", async (name, argv) => {
    const io = signedIn(() => problem(401, "unauthenticated", "Unknown key"));
    expect(await run(argv, io)).toBe(3);
    expect(reported(io)).toMatchObject({ Error: "Unknown key (request 8f14e45fceea167a)" });
    expect(reported(io).Cause, name).toMatch(/\w+/);
    expect(reported(io).Fix, name).toMatch(/\w+/);
    expect(reported(io).See).toBe(`${ORIGIN}/errors#unauthenticated`);
  });

  test.each(requesting.filter(([name]) => name !== "tail"))("%s, if the server can't be reached", async (name, argv) => {
    const io = signedIn(() =>
      Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) })),
    );
    expect(await run(argv, io)).toBe(4);
    expect(reported(io), name).toEqual({
      Error: `${ORIGIN} can't be reached (ECONNREFUSED).`,
      Cause: "Nothing listens at this host and port.",
      Fix: "Start the server, or check the address: --origin, TIFO_ORIGIN, or that of tifo whoami.",
    });
  });

  test.each([
    [403, "forbidden", 3, "doesn't have a role"],
    [404, "not_found", 1, "has no such id"],
    [409, "conflict", 1, "Something else"],
    [413, "payload_too_large", 1, "larger than"],
    [429, "rate_limited", 1, "quota"],
    [500, "internal", 1, "unexpected error"],
    [503, "unavailable", 1, "overloaded"],
  ])("for a response of status %s", async (status, code, exitCode, cause) => {
    const io = signedIn(() => problem(status, code, "No"));
    expect(await run(["trigger", "webhook"], io)).toBe(exitCode);
    expect(reported(io).Cause).toContain(cause);
    expect(reported(io).Fix).toMatch(/\.$/);
  });

  test("with the fields that the server names", async () => {
    const io = signedIn(() =>
      problem(400, "invalid_request", "duration: is too large", { issues: [{ path: "duration", message: "is too large" }] }),
    );
    expect(await run(["trigger", "broadcast", ID, "--site-wide", "--duration", "999999"], io)).toBe(1);
    expect(reported(io).Error).toContain("\n  duration: is too large");
    expect(reported(io).Fix).toContain("Correct");
  });

  test("for a host that doesn't exist, and for a certificate that isn't trusted", async () => {
    for (const [code, cause] of [
      ["ENOTFOUND", "The host doesn't exist, or DNS can't be reached."],
      ["DEPTH_ZERO_SELF_SIGNED_CERT", "The server's certificate isn't trusted."],
    ] as const) {
      const io = signedIn(() => Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code }) })));
      expect(await run(["whoami"], io)).toBe(4);
      expect(reported(io).Cause).toBe(cause);
    }
  });

  test("for files that can't be read or written", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "folder"));
    const reads = [
      ["trigger", "event", "--provider", ID, "--file", join(folder, "absent.json")],
      ["trigger", "event", "--provider", ID, "--file", join(folder, "folder")],
      ["replay", join(folder, "absent.jsonl"), "--channel", CHANNEL],
    ];
    for (const argv of reads) {
      const io = signedIn(() => problem(500, "internal", "No"));
      expect(await run(argv, io)).toBe(2);
      expect(reported(io).Error).toMatch(/can't be read\.$/);
      expect(reported(io).Cause).toMatch(/^(It doesn't exist|It is a folder)\.$/);
      expect(io.requests).toEqual([]);
    }
    const io = signedIn(() => problem(500, "internal", "No"));
    expect(await run(["export", "--output", join(folder, "absent", "export.ndjson")], io)).toBe(2);
    expect(reported(io).Error).toMatch(/can't be written\.$/);
    expect(reported(io).Cause).toBe("Its folder doesn't exist.");
  });

  test("for a recording with a damaged line", async () => {
    const file = join(temporaryFolder(), "match.jsonl");
    writeFileSync(file, '{"type":"welcome"}\n{"at":\n');
    const io = signedIn(() => problem(500, "internal", "No"));
    expect(await run(["replay", file, "--channel", CHANNEL], io)).toBe(2);
    expect(reported(io).Error).toContain("Line 2");
    expect(reported(io).Fix).toContain("tifo record");
  });

  test("for a folder that isn't empty", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "index.html"), "");
    const io = signedIn(() => problem(500, "internal", "No"));
    expect(await run(["init", folder, "--template", "plain", "--channel", CHANNEL], io)).toBe(2);
    expect(reported(io)).toMatchObject({ Error: `${folder} isn't empty.`, Fix: "Name a new folder: tifo init <folder>." });
  });

  test("if nobody has signed in", async () => {
    const io = fakeIo(() => problem(500, "internal", "No"));
    for (const command of ["whoami", "tail", "logout", "export"]) {
      io.notes.length = 0;
      expect(await run([command], io)).toBe(3);
      expect(reported(io)).toMatchObject({
        Error: "You aren't signed in.",
        Fix: "Run tifo login, or set TIFO_ORIGIN, TIFO_SITE_ID and TIFO_DEVELOPER_KEY.",
      });
    }
  });
});

describe("a wrong command line exits with 2 and names the command's help", () => {
  test.each(COMMANDS.map(({ name }) => name))("tifo %s with an unknown option", async (name) => {
    const io = signedIn(() => problem(500, "internal", "No"));
    expect(await run([...name.split(" "), "--nonsense"], io)).toBe(2);
    expect(reported(io).Error).toContain("--nonsense");
    expect(reported(io).Fix).toBe(`tifo ${name} --help lists the options.`);
    expect(io.requests).toEqual([]);
  });

  test("suggests the command that was meant", async () => {
    for (const [typed, meant] of [
      ["whoam", "whoami"],
      ["trail", "tail"],
      ["trigger boradcast", "trigger broadcast"],
    ] as const) {
      const io = signedIn(() => problem(500, "internal", "No"));
      expect(await run(typed.split(" "), io)).toBe(2);
      expect(reported(io)).toMatchObject({ Error: `There is no command "${typed}".`, Fix: `Did you mean: tifo ${meant}` });
    }
    const io = signedIn(() => problem(500, "internal", "No"));
    expect(await run(["xyzzy"], io)).toBe(2);
    expect(reported(io).Fix).toBe("tifo --help lists the commands.");
  });
});

test("with --json, an error is one line of JSON with its cause and fix", async () => {
  const io = signedIn(() => problem(401, "unauthenticated", "Unknown key"));
  expect(await run(["whoami", "--json"], io)).toBe(3);
  expect(io.notes).toHaveLength(1);
  expect(JSON.parse(io.notes[0] ?? "")).toEqual({
    error: {
      message: "Unknown key",
      cause: "The key or the sign-in is wrong, has expired, or belongs to another site or deployment.",
      fix: "Sign in again with tifo login. In scripts, check TIFO_ORIGIN, TIFO_SITE_ID and TIFO_DEVELOPER_KEY.",
      exitCode: 3,
      status: 401,
      code: "unauthenticated",
      requestId: "8f14e45fceea167a",
      issues: [],
    },
  });
});

test("an unexpected error says that it is one, without a stack", async () => {
  const io = signedIn(() => Response.json(null));
  expect(await run(["whoami"], io)).toBe(1);
  expect(reported(io).Fix).toContain("tifo --version");
  expect(io.notes.join("\n")).not.toContain("    at ");
});
