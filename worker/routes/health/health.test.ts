import { afterEach, expect, test, vi } from "vitest";
import { newSite } from "#test/harness.ts";
import { siteStore } from "#test/site-store.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("health can be checked without credentials", async () => {
  const response = await (await newSite()).call("getHealth", { as: "nobody" });
  expect(response.body).toMatchObject({ status: "ok" });
});

test("a database that does not respond is reported as a 503 without internal details", async () => {
  const site = await newSite();
  vi.spyOn(siteStore, "prepare").mockImplementation(() => {
    throw new Error("D1_ERROR: secret detail");
  });
  const response = await site.call("getHealth", { as: "nobody" });
  expect(response.problem).toMatchObject({ status: 503, code: "unavailable", message: "The database did not respond" });
  expect(response.text).not.toContain("secret detail");
  expect(response.log.cause).toContain("secret detail");
});
