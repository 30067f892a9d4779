import { readFileSync, statSync, writeFileSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { describe, expect, test } from "vitest";
import { parseOrigin } from "#cli/lib/origin.ts";
import { run } from "#cli/run.ts";
import { solves } from "#test/proofs.ts";
import { fakeIo, type FakeIo } from "./fake-io.ts";

const ORIGIN = "https://tifo.example.com";
const SITE = "5eed00000000000000000001";
const KEY = "tifo_dev_secret";
const LOGIN = ["login", "--origin", ORIGIN, "--site", SITE];
const site = () => Response.json({ name: "Harbour \u001b[31mCity" });
const unauthorized = () => Response.json({ code: "unauthenticated", message: "Unknown key" }, { status: 401 });

const fileOf = (io: FakeIo) => join(io.env.TIFO_CONFIG_DIR ?? "", "credentials.json");

async function signedIn(): Promise<FakeIo> {
  const io = fakeIo(site, `${KEY}\n`);
  expect(await run([...LOGIN, "--key-stdin"], io)).toBe(0);
  io.requests.length = 0;
  return io;
}

describe("an origin", () => {
  test.each(["https://tifo.example.com", "http://localhost:8787", "http://127.0.0.1", "http://[::1]:8787", "http://demo.localhost"])(
    "is accepted: %s",
    (origin) => expect(parseOrigin(origin)).toBe(origin),
  );

  test.each([
    "http://tifo.example.com",
    "http://127.0.0.1.example.com",
    "http://localhost.example.com",
    "http://192.168.0.1",
    "ftp://localhost",
    "localhost:8787",
    "https://user:pass@tifo.example.com",
    "https://tifo.example.com/path",
  ])("is rejected: %s", (origin) => expect(() => parseOrigin(origin)).toThrow());
});

test("login sends nothing to a host that would receive the key unencrypted", async () => {
  const io = fakeIo(site, KEY);
  expect(await run(["login", "--origin", "http://tifo.example.com", "--site", SITE, "--key-stdin"], io)).toBe(2);
  expect(io.requests).toEqual([]);
});

test("login stores a key that works in a file that only the user can read, and never prints it", async () => {
  const io = fakeIo(site, `${KEY}\n`);
  expect(await run([...LOGIN, "--key-stdin"], io)).toBe(0);
  expect(io.requests.map(({ url, headers }) => [url, headers.get("Tifo-Developer-Key")])).toEqual([[`${ORIGIN}/site/v1`, KEY]]);
  expect(readFileSync(fileOf(io), "utf8")).toContain(KEY);
  expect(statSync(fileOf(io)).mode & 0o777).toBe(0o600);
  expect(await run(["whoami"], io)).toBe(0);
  expect([...io.shown, ...io.notes].join("\n")).not.toContain(KEY);
});

test("login stores no key of another site", async () => {
  const io = fakeIo(unauthorized, KEY);
  expect(await run([...LOGIN, "--key-stdin"], io)).toBe(3);
  expect(() => statSync(fileOf(io))).toThrow();
  expect(io.notes).toContain("Error: Unknown key");
});

test("a file of credentials that others could read is closed to them", async () => {
  const io = await signedIn();
  chmodSync(fileOf(io), 0o644);
  await run(["whoami"], io);
  expect(statSync(fileOf(io)).mode & 0o777).toBe(0o600);
});

test("a damaged file of credentials is reported without its contents", async () => {
  const io = await signedIn();
  writeFileSync(fileOf(io), `${KEY} {`);
  expect(await run(["whoami"], io)).toBe(1);
  expect(io.notes.join("")).not.toContain(KEY);
});

test("a key is never sent to another origin or as another site", async () => {
  const io = await signedIn();
  expect(await run(["tail", "--origin", "https://other.example.com", "--site", SITE], io)).toBe(3);
  expect(await run(["tail", "--site", "5eed00000000000000000002"], io)).toBe(3);
  expect(io.requests).toEqual([]);
});

test("a redirect isn't followed, because fetch would send the key along", async () => {
  const io = await signedIn();
  io.fetch = async (request) => {
    io.requests.push(request);
    return new Response(null, { status: 307, headers: { Location: "https://other.example.com/" } });
  };
  expect(await run(["whoami"], io)).toBe(1);
  expect(io.requests.map(({ url, redirect }) => [url, redirect])).toEqual([[`${ORIGIN}/site/v1`, "manual"]]);
});

test("a key in the environment requires the origin and the site that it is for", async () => {
  const io = await signedIn();
  io.env.TIFO_DEVELOPER_KEY = "tifo_dev_other";
  expect(await run(["whoami"], io)).toBe(2);
  expect(await run(["whoami", "--origin", ORIGIN, "--site", SITE], io)).toBe(0);
  expect(io.requests.map(({ headers }) => headers.get("Tifo-Developer-Key"))).toEqual(["tifo_dev_other"]);
});

test("logout deletes the login, and the next command asks to sign in", async () => {
  const io = await signedIn();
  expect(await run(["logout"], io)).toBe(0);
  expect(readFileSync(fileOf(io), "utf8")).not.toContain(KEY);
  expect(await run(["whoami"], io)).toBe(3);
});

test("an account's expired token is renewed, and the new ones are stored", async () => {
  const expired = `e30.${btoa('{"exp":1}')}.x`;
  const io = fakeIo(({ url }) => {
    if (url.endsWith("/login")) return Response.json({ jwt: expired, refreshToken: "first", service: "auth-service-v2" });
    if (url.endsWith("/refresh")) return Response.json({ jwt: "renewed", refreshToken: "second", service: "auth-service-v2" });
    return site();
  }, "demo-pass\n");
  expect(await run([...LOGIN, "--email", "admin@demo.example", "--password-stdin"], io)).toBe(0);
  expect(readFileSync(fileOf(io), "utf8")).not.toContain("demo-pass");
  expect(await run(["whoami"], io)).toBe(0);
  expect(io.requests.at(-1)?.headers.get("Authorization")).toBe("Bearer renewed");
  expect(readFileSync(fileOf(io), "utf8")).toContain("second");
});

test("text of the server can't control the terminal", async () => {
  const io = await signedIn();
  await run(["whoami"], io);
  await run(["whoami", "--json"], io);
  expect(io.shown.join("")).not.toContain("\u001b");
});

describe("login --sandbox", () => {
  const Proof = z.strictObject({ challenge: z.string(), solution: z.string() });
  const challenge = "6~1795166400000~nonce.signature";
  const sandbox = { site: { _id: SITE, name: "Sandbox" }, developerKey: KEY, channel: { _id: SITE }, expires: 1_795_166_400_000 };

  test.each([6, 0])("solves a challenge of %i bits before it creates the site", async (bits) => {
    let proof = "";
    const io = fakeIo(async (request) => {
      if (request.method === "GET") return Response.json({ challenge, bits, expires: 1_795_166_400_000 });
      proof = await request.text();
      return Response.json(sandbox, { status: 201 });
    });
    expect(await run(["login", "--origin", ORIGIN, "--sandbox"], io)).toBe(0);
    expect(io.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET ${ORIGIN}/site/v1/sandbox/challenge`,
      `POST ${ORIGIN}/site/v1/sandbox`,
    ]);
    if (bits === 0) expect(proof).toBe("");
    else expect(solves(challenge, Proof.parse(JSON.parse(proof)).solution, bits)).toBe(true);
  });
});
