import { beforeEach, expect, test, vi } from "vitest";
import { DEMO, fill, storedCredentials } from "../key/credentials.ts";
import { forgetSandbox, keepSandbox, sandboxIn, storedSandbox } from "./sandbox.ts";

const RESPONSE = {
  site: { _id: "0123456789ab5a4db0012345" },
  developerKey: "tifo_dev_mine",
  channel: { _id: "0123456789abc00000000001", slug: "main-stage", name: "Main stage" },
  pollId: "0123456789abc00000000002",
  overlayId: "0123456789abc00000000003",
  admin: { accountId: "1", email: "admin@sandbox-1.example" },
  viewer: { accountId: "2", email: "viewer@sandbox-1.example" },
  password: "a password",
  claimToken: "tifo_claim_1",
  expires: 2000,
};

class MemoryStorage {
  readonly #items = new Map<string, string>();
  getItem = (key: string) => this.#items.get(key) ?? null;
  setItem = (key: string, value: string) => void this.#items.set(key, value);
  removeItem = (key: string) => void this.#items.delete(key);
}

beforeEach(() => {
  vi.stubGlobal("localStorage", new MemoryStorage());
  vi.stubGlobal("sessionStorage", new MemoryStorage());
});

test("a sandbox is kept until it expires or is forgotten", () => {
  const sandbox = sandboxIn(RESPONSE);
  keepSandbox(sandbox);
  expect(storedSandbox(1999)).toEqual(sandbox);
  expect(storedSandbox(2000)).toBeUndefined();
  expect(storedSandbox(1999)).toBeUndefined();
  keepSandbox(sandbox);
  forgetSandbox();
  expect(storedSandbox(1)).toBeUndefined();
});

test("what isn't a sandbox is neither taken from a response nor from the storage", () => {
  expect(() => sandboxIn({ ...RESPONSE, channel: null })).toThrow("channel._id");
  localStorage.setItem("tifo.sandbox", '{"siteId":1}');
  expect(storedSandbox(1)).toBeUndefined();
  localStorage.setItem("tifo.sandbox", "{");
  expect(storedSandbox(1)).toBeUndefined();
});

test("samples have the sandbox's key, ids and accounts, unless the reader has entered others", () => {
  const sample = `curl ${DEMO.origin}/page/v2/5eed0000000000000000c001 -H 'Tifo-Client-Id: ${DEMO.clientId}' -u admin@demo.example:demo-admin-pass`;
  keepSandbox({ ...sandboxIn(RESPONSE), expires: Date.now() + 60_000 });
  expect(fill(sample, storedCredentials())).toBe(
    `curl ${DEMO.origin}/page/v2/0123456789abc00000000001 -H 'Tifo-Client-Id: 0123456789ab5a4db0012345' -u admin@sandbox-1.example:a password`,
  );
  sessionStorage.setItem("tifo.credentials", JSON.stringify({ clientId: "0".repeat(24) }));
  expect(fill(sample, storedCredentials())).toContain(`5eed0000000000000000c001 -H 'Tifo-Client-Id: ${"0".repeat(24)}'`);
});
