import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { holdTimers, newAiDeployment, newChatDeployment } from "#test/chat-service-calls.ts";
import { ChatGuard } from "./chat-guard.ts";

const TIMEOUT_MS = 1_500;
const ROOM = { siteId: "5eed00000000000000000001", channel: "main" };
const THREAT = "There is a bomb";

let logged: MockInstance<typeof console.error>;

beforeEach(() => {
  logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** The events in the log. */
const events = () => logged.mock.calls.map(([line]) => /"event":"(\w+)"/.exec(String(line))?.[1]);

test("passes every text if no automatic moderator is configured", async () => {
  expect(await new ChatGuard(env, ROOM).check(THREAT)).toEqual({ hold: false });
});

describe("A moderation service", () => {
  test("holds the texts that it flags, with its category", async () => {
    const deployment = newChatDeployment();
    const guard = new ChatGuard(deployment.env, ROOM);
    expect(await guard.check("Hello")).toEqual({ hold: false });
    expect(await guard.check(THREAT)).toEqual({ hold: true, category: "violence" });
    expect((await deployment.calls()).map(({ body }) => body)).toEqual([{ text: "Hello" }, { text: THREAT }]);
    expect(events()).toEqual([]);
  });

  test("receives the key of the deployment as a bearer token", async () => {
    const deployment = newChatDeployment({ TIFO_CHAT_GUARD_KEY: "secret" });
    await new ChatGuard(deployment.env, ROOM).check("Hello");
    expect((await deployment.calls()).map(({ authorization }) => authorization)).toEqual(["Bearer secret"]);
  });

  test.each(["fail", "reject", "garbage", "flood", "redirect"] as const)("holds nothing if its response is: %s", async (behaviour) => {
    const deployment = newChatDeployment();
    const guard = new ChatGuard(deployment.env, ROOM);
    await deployment.behave(behaviour);
    expect(await guard.check(THREAT)).toEqual({ hold: false });
    expect(events()).toEqual(["chat_guard_failed"]);
    expect(String(logged.mock.calls[0])).not.toContain(THREAT);
    expect((await deployment.calls()).map(({ path }) => path)).toEqual(["guard"]);
    await deployment.behave("succeed");
    expect(await guard.check(THREAT)).toMatchObject({ hold: true });
  });

  test("holds nothing if it doesn't respond within 1.5 s", async () => {
    const deployment = newChatDeployment();
    await deployment.behave("hang");
    holdTimers(TIMEOUT_MS, async () => (await deployment.calls()).length > 0);
    expect(await new ChatGuard(deployment.env, ROOM).check(THREAT)).toEqual({ hold: false });
    expect(events()).toEqual(["chat_guard_failed"]);
  });

  test("holds a text even if its verdict comes late", async () => {
    const deployment = newChatDeployment();
    await deployment.behave("slow");
    holdTimers(TIMEOUT_MS, () => false);
    const verdict = new ChatGuard(deployment.env, ROOM).check(THREAT);
    await vi.waitUntil(async () => (await deployment.calls()).length > 0, { interval: 10 });
    await deployment.behave("succeed");
    expect(await verdict).toMatchObject({ hold: true });
  });
});

describe("The Workers AI model", () => {
  test.each([
    ["safe", { hold: false }],
    ["\n\nsafe\n", { hold: false }],
    ["\n\nunsafe\nS1,S10", { hold: true, category: "S1,S10" }],
    ["unsafe", { hold: true, category: null }],
    [{ safe: true }, { hold: false }],
    [
      { safe: false, categories: ["S1", "S10"] },
      { hold: true, category: "S1,S10" },
    ],
    [{ safe: false }, { hold: true, category: null }],
  ])("decides by its response %j", async (response, verdict) => {
    const deployed = newAiDeployment((model, input) => {
      expect(model).toBe("@cf/meta/llama-guard-3-8b");
      expect(input).toEqual({ messages: [{ role: "user", content: "Hello" }] });
      return Promise.resolve({ response });
    });
    expect(await new ChatGuard(deployed, ROOM).check("Hello")).toEqual(verdict);
    expect(events()).toEqual([]);
  });

  test.each([{ response: "I can't help with that: unsafe" }, { response: {} }, {}, null])(
    "holds nothing if it returns %j",
    async (result) => {
      const deployed = newAiDeployment(() => Promise.resolve(result));
      expect(await new ChatGuard(deployed, ROOM).check(THREAT)).toEqual({ hold: false });
      expect(events()).toEqual(["chat_guard_failed"]);
    },
  );

  test("is not asked while 64 verdicts are missing, which is logged once", async () => {
    let respond: () => void = () => undefined;
    const verdicts = new Promise((resolve) => {
      respond = () => resolve({ response: "unsafe\nS1" });
    });
    let runs = 0;
    const deployed = newAiDeployment(() => {
      runs++;
      return verdicts;
    });
    holdTimers(TIMEOUT_MS, () => false);
    const guard = new ChatGuard(deployed, ROOM);
    const asked = Array.from({ length: 64 }, () => guard.check(THREAT));
    expect(await Promise.all([guard.check(THREAT), guard.check(THREAT)])).toEqual([{ hold: false }, { hold: false }]);
    expect(events()).toEqual(["chat_guard_overloaded"]);
    respond();
    expect((await Promise.all(asked)).every(({ hold }) => hold)).toBe(true);
    expect(await guard.check(THREAT)).toMatchObject({ hold: true });
    expect(runs).toBe(65);
  });

  test("holds nothing without a binding", async () => {
    expect(await new ChatGuard({ ...env, TIFO_CHAT_GUARD_URL: "workers-ai" }, ROOM).check(THREAT)).toEqual({ hold: false });
    expect(events()).toEqual(["chat_guard_failed"]);
  });
});
