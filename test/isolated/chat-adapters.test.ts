import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { sandboxes } from "#db/schema/sandboxes.ts";
import { MessageIntake } from "#worker/durable-objects/chat-room/message-intake.ts";
import { MessageStore } from "#worker/durable-objects/chat-room/message-store.ts";
import { RoomTranslator, type Translation } from "#worker/durable-objects/chat-room/room-translator.ts";
import { Senders } from "#worker/durable-objects/chat-room/senders.ts";
import { ChatGuard } from "#worker/integrations/chat-guard.ts";
import { chatRoomOf } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { readRoomConfig } from "#worker/services/chat/room-config.ts";
import { ChatMessagePage, ChatQueue } from "#worker/services/chat/schemas.ts";
import { refreshSandbox } from "#worker/services/sandboxes/is-sandbox.ts";
import { Sandbox } from "#worker/services/sandboxes/schemas.ts";
import { newAiDeployment, newChatDeployment } from "../chat-service-calls.ts";
import { ORIGIN, type TestAccount, type TestSite } from "../harness.ts";
import { siteStore } from "../site-store.ts";
import { type ChatSite, enterChat, type Message, newChatSite, roomOf } from "./chatters.ts";

const db = createDb(siteStore);

let site: TestSite;
let ann: TestAccount;
let ben: TestAccount;
let newRoom: ChatSite["newRoom"];
let setSettings: ChatSite["setSettings"];

beforeAll(async () => {
  ({ site, ann, ben, newRoom, setSettings } = await newChatSite());
});

/** Sends JSON, if any, and returns the response's. */
async function callApi(path: string, body?: unknown, headers: Record<string, string> = {}, method = "POST"): Promise<unknown> {
  const json = body === undefined ? {} : { headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) };
  return (await exports.default.fetch(new URL(path, ORIGIN), { method, ...json })).json();
}

const ModelInput = z.object({ text: z.string().optional(), target_lang: z.string().optional() });

/** Connects the chat to these services until the end of the test. */
async function useServices(deployment: Env): Promise<void> {
  const names = ["TIFO_TRANSLATE_URL", "TIFO_CHAT_GUARD_URL", "TIFO_DEVELOPMENT", "AI"];
  const before = names.map((name) => [name, Reflect.get(env, name)] as const);
  for (const name of names) Reflect.set(env, name, Reflect.get(deployment, name));
  onTestFinished(() => {
    for (const [name, value] of before) Reflect.set(env, name, value);
  });
}

/** Viewers who read German, English and Spanish, in a room that translates into German and Spanish. */
async function enterInThreeLanguages() {
  const channelId = await newRoom();
  await setSettings(channelId, { languages: ["de", "es"] });
  return {
    channelId,
    german: await enterChat(site, channelId, ann, { language: "de-AT" }),
    english: await enterChat(site, channelId, null, { language: "en" }),
    spanish: await enterChat(site, channelId, ben, { language: "es-MX" }),
  };
}

const message = (text: string, language: string | null = null) => ({ id: newId(Date.now()), text, language });

describe("The translator", () => {
  test("translates each message once per language, except into its own, and leaves out what fails", async () => {
    const deployment = newChatDeployment();
    const translations: Translation[] = [];
    const translator = new RoomTranslator(
      deployment.env,
      () => ["es", "de"],
      (added) => translations.push(...added),
    );
    const [goal, tor] = [message("Goal", "en"), message("Tor", "de-AT")];
    translator.add(goal);
    translator.add(tor);
    await expect.poll(() => translations.length).toBe(3);
    expect(translations.map(({ language, text }) => `${language} ${text}`).sort()).toEqual(["de [de] Goal", "es [es] Goal", "es [es] Tor"]);
    await deployment.behave("fail");
    const calls = (await deployment.calls()).length;
    translator.add(message("Lost"));
    await expect.poll(async () => (await deployment.calls()).length).toBe(calls + 2);
    await deployment.behave("succeed");
    translator.add(message("Later", "de"));
    await expect.poll(() => translations.slice(3).map(({ text }) => text)).toEqual(["[es] Later"]);
  });

  test("is off unless the deployment has one", () => {
    const translator = new RoomTranslator(
      env,
      () => ["es"],
      () => {
        throw new Error("Translated");
      },
    );
    translator.add(message("Goal"));
  });
});

describe("A live room", () => {
  test("translates what is said for each viewer's language, by an HTTP service", async () => {
    const deployment = newChatDeployment();
    await useServices(deployment.env);
    const { channelId, german, english, spanish } = await enterInThreeLanguages();
    const [hello, answer] = [await german.says("Schau auf evil.com"), await spanish.says("Hola")];
    const isTranslated = (message: Message | undefined) => message !== undefined && message.translation !== null;
    expect(await spanish.sees(hello, isTranslated)).toMatchObject({
      text: "Schau auf [link]",
      translation: { language: "es", text: "[es] Schau auf [link]" },
    });
    expect(await german.sees(answer, isTranslated)).toMatchObject({ text: "Hola", translation: { language: "de", text: "[de] Hola" } });
    // Nobody gets a translation into their own language, nor into one that the room doesn't offer.
    expect([german.screen.get(hello)?.translation, (await english.sees(hello))?.translation]).toEqual([null, null]);
    const calls = (await deployment.calls()).flatMap(({ path, body }) => (path === "translate" ? [body] : []));
    expect(calls).toEqual([
      { q: ["Schau auf [link]"], source: "auto", target: "es", format: "text" },
      { q: ["Hola"], source: "auto", target: "de", format: "text" },
    ]);
    const page = await site.call("listChatMessages", {
      as: "client",
      params: { channelId },
      headers: { "Accept-Language": "es-MX,en;q=0.5" },
    });
    expect(page.as(ChatMessagePage).results.map(({ translation }) => translation?.language)).toEqual([undefined, "es"]);
  });

  test("translates and holds with the models of Workers AI", async () => {
    const runs: [model: string, input: unknown][] = [];
    await useServices(
      newAiDeployment((model, input) => {
        runs.push([model, input]);
        const { text, target_lang } = ModelInput.parse(input);
        if (text === undefined) return Promise.resolve({ response: JSON.stringify(input).includes("bomb") ? "unsafe\nS1" : "safe" });
        return Promise.resolve({ translated_text: `[${target_lang}] ${text}` });
      }),
    );
    const { channelId, german, spanish } = await enterInThreeLanguages();
    const id = await german.says("Guter Pass");
    await spanish.sees(id, (message) => message?.translation?.text === "[es] Guter Pass");
    expect(runs).toEqual([
      ["@cf/meta/llama-guard-3-8b", { messages: [{ role: "user", content: "Guter Pass" }] }],
      ["@cf/meta/m2m100-1.2b", { text: "Guter Pass", source_lang: "de", target_lang: "es" }],
    ]);
    expect(await spanish.say("There is a bomb")).toMatchObject({ ok: true, state: "held" });
    const queue = async () => (await site.call("listChatQueue", { query: { channelIds: channelId } })).as(ChatQueue).results;
    await expect.poll(queue).toMatchObject([{ text: "There is a bomb", category: "S1", reports: [] }]);
  });
});

describe("The room of a sandbox, which anybody can create", () => {
  test("uses neither of the operator's services until the sandbox is claimed", async () => {
    const deployment = newChatDeployment();
    await useServices(deployment.env);
    const sandbox = Sandbox.parse(await callApi("/site/v1/sandbox"));
    const [siteId, channelId] = [sandbox.site._id, sandbox.channel._id];
    const client = { "Tifo-Client-Id": siteId };
    await callApi(
      `/chat/v1/${channelId}/settings`,
      { languages: ["de"] },
      { ...client, "Tifo-Developer-Key": sandbox.developerKey },
      "PUT",
    );
    const login = { email: sandbox.viewer.email, password: sandbox.password, siteId };
    const { jwt } = z.object({ jwt: z.string() }).parse(await callApi("/auth/v2/login", login));
    const send = () =>
      callApi(`/chat/v1/${channelId}/messages`, { text: "There is a bomb" }, { ...client, Authorization: `Bearer ${jwt}` });
    expect(await send()).toMatchObject({ state: "visible" });
    expect(await deployment.calls()).toEqual([]);
    const languages = async () => (await readRoomConfig(env, siteId, channelId, Date.now()))?.settings.languages;
    expect(await languages()).toEqual([]);

    await db.delete(sandboxes).where(eq(sandboxes.siteId, siteId));
    refreshSandbox(siteId);
    expect(await languages()).toEqual(["de"]);
    await chatRoomOf(env, siteId, channelId).refresh();
    expect(await send()).toMatchObject({ state: "held" });
  });
});

describe("The automatic moderator", () => {
  test("holds a message but never rejects one, and lets messages through when it fails", async () => {
    const channelId = await site.addChannel(`room-${newId(Date.now())}`);
    const deployment = newChatDeployment();
    const outcomes = await runInDurableObject(roomOf(site, channelId), async (_, state) => {
      const store = new MessageStore(state.storage);
      const facts = { name: "Ann", roles: [], isExempt: false, moderator: false, isMember: false };
      const senders = new Senders(async (ids) => new Map(ids.map((id) => [id, facts])));
      const load = () => readRoomConfig(env, site.id, channelId, Date.now());
      const guard = new ChatGuard(deployment.env, { siteId: site.id, channel: channelId });
      const intake = new MessageIntake(guard, { store, senders }, load, () => undefined);
      const request = { accountId: site.accounts.viewer.id, replyTo: null, language: null, fresh: false };
      const send = (requestId: string, text: string) => intake.send({ ...request, requestId, text });
      const checked = [await send("1", "Hello"), await send("2", "There is a bomb")];
      await deployment.behave("fail");
      return [...checked, await send("3", "There is a bomb")];
    });
    expect(outcomes.map((outcome) => (outcome.ok ? outcome.state : outcome.code))).toEqual(["visible", "held", "visible"]);
  });
});
