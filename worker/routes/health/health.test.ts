import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { newSite } from "#test/harness.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("health is known to anybody", async () => {
  const answer = await (await newSite()).call("getHealth", { as: "nobody" });
  expect(answer.body).toMatchObject({ status: "ok" });
});

test("a database that does not answer is a 503 that says no more than that", async () => {
  const site = await newSite();
  vi.spyOn(env.DB, "prepare").mockImplementation(() => {
    throw new Error("D1_ERROR: secret detail");
  });
  const answer = await site.call("getHealth", { as: "nobody" });
  expect(answer.problem).toMatchObject({ status: 503, code: "unavailable", message: "The database did not answer" });
  expect(answer.text).not.toContain("secret detail");
  expect(answer.log.cause).toContain("secret detail");
});
