import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createClient } from "#sdk/client/index.ts";
import { once } from "./once.ts";
import { request } from "./request.ts";

const answers = {
  lost: () => Promise.reject(new TypeError("Failed to fetch")),
  failed: () => Promise.resolve(Response.json({ code: "internal" }, { status: 500 })),
  given: () => Promise.resolve(Response.json({}, { status: 201 })),
};
type End = keyof typeof answers;

/** A client whose requests end as they are told to, and the keys that it sent. */
function clientOf(...ends: End[]) {
  const sent: (string | null)[] = [];
  const fetch = (request: Request): Promise<Response> => {
    sent.push(request.headers.get("Idempotency-Key"));
    return answers[ends[sent.length - 1] ?? "given"]();
  };
  const client = createClient({ origin: "https://demo.example", clientId: "site", fetch, retry: { attempts: 1 } });
  const create = (name: string) =>
    client.api.POST("/rundown/v1", { body: { channelId: "channel", name, items: [] }, ...once }).catch((error: unknown) => error);
  return { client, create, sent, fetch };
}

describe("a creation", () => {
  test("that was never answered is repeated with its key, and nothing else is", async () => {
    const { create, sent } = clientOf("lost", "given", "given");
    for (const name of ["Derby", "Cup", "Derby", "Derby"]) await create(name);
    const [lost, other, repeated, later] = sent;
    expect(repeated).toBe(lost);
    expect(new Set([lost, other, later]).size).toBe(3);
  });

  test("is repeated with its key if the server could not answer", async () => {
    const { create, sent } = clientOf("failed");
    for (const name of ["Derby", "Derby"]) await create(name);
    expect(sent[1]).toBe(sent[0]);
  });
});

test("forms repeat a creation that was never answered with its key, and nothing else", async () => {
  const { client, sent, fetch } = clientOf("failed");
  vi.stubGlobal("fetch", fetch);
  vi.stubGlobal("location", { origin: "https://demo.example" });
  onTestFinished(() => void vi.unstubAllGlobals());
  const post = (path: string) =>
    request({ siteId: "site", client }, { method: "POST", path, parameters: [] }, { body: {} }).catch(() => null);
  for (const path of ["/overlay/v1", "/overlay/v1", "/poll/v3", "/overlay/v1"]) await post(path);
  const [lost, repeated, other, later] = sent;
  expect(lost).toMatch(/^[0-9a-f-]{36}$/);
  expect(repeated).toBe(lost);
  expect(new Set([lost, other, later]).size).toBe(3);
});
