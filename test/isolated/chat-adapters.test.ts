import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { MessageIntake } from "#worker/durable-objects/chat-room/message-intake.ts";
import { MessageStore } from "#worker/durable-objects/chat-room/message-store.ts";
import { RoomTranslator, type Translation } from "#worker/durable-objects/chat-room/room-translator.ts";
import { Senders } from "#worker/durable-objects/chat-room/senders.ts";
import { isFlagged } from "#worker/integrations/chat-guard.ts";
import { translate } from "#worker/integrations/translator.ts";
import { newId } from "#worker/lib/ids.ts";
import { readRoomConfig } from "#worker/services/chat/room-config.ts";
import { newSite, type TestSite } from "../harness.ts";
import { enterChat, roomOf } from "./chatters.ts";

const server = inject("languageServer");
const own = { ...env, TIFO_DEVELOPMENT: "true" };
const translating = { ...own, TIFO_TRANSLATE_URL: `${server}/translate` };
const guarded = { ...own, TIFO_CHAT_GUARD_URL: `${server}/guard` };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const message = (text: string, language: string | null = null) => ({ id: newId(Date.now()), text, language });

describe("The translator", () => {
  test("translates texts over HTTP, and reports a failure", async () => {
    expect(await translate(translating, [message("Goal"), message("Save")], "es-MX")).toEqual(["es: Goal", "es: Save"]);
    await expect(translate(translating, [message("fail")], "es")).rejects.toThrow("500");
  });

  test("translates each message once per language, except into its own, and leaves out what fails", async () => {
    const translations: Translation[] = [];
    const translator = new RoomTranslator(
      translating,
      () => ["es", "de"],
      (added) => translations.push(...added),
    );
    const [goal, tor] = [message("Goal", "en"), message("Tor", "de-AT")];
    translator.add(goal);
    translator.add(tor);
    await expect.poll(() => translations.length).toBe(3);
    expect(translations.map(({ language, text }) => `${language} ${text}`).sort()).toEqual(["de de: Goal", "es es: Goal", "es es: Tor"]);
    translator.add(message("fail"));
    // Messages in one call with it stay untranslated too; later ones don't.
    await expect
      .poll(() => {
        translator.add(message("Later", "de"));
        return translations.some(({ text }) => text === "es: Later");
      })
      .toBe(true);
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

test("a translation reaches the viewers who read that language, and the original the others", async () => {
  const channel = await site.addChannel(`room-${newId(Date.now())}`);
  const [spanish, english] = [
    await enterChat(site, channel, site.accounts.viewer, { language: "es-MX" }),
    await enterChat(site, channel, null, { language: "en" }),
  ];
  const id = await spanish.says("Goal!");
  await english.sees(id);
  await runInDurableObject(roomOf(site, channel), (_, state) => {
    new MessageStore(state.storage).addTranslations([{ id, language: "es", text: "¡Gol!" }]);
  });
  const back = await enterChat(site, channel, null, { language: "es" });
  expect(back.history.messages).toMatchObject([{ text: "Goal!", translation: { language: "es", text: "¡Gol!" } }]);
  const other = await enterChat(site, channel, null, { language: "de" });
  expect(other.history.messages).toMatchObject([{ text: "Goal!", translation: null }]);
});

describe("The automatic moderator", () => {
  test("flags texts over HTTP, and reports a failure or a timeout", async () => {
    expect(await isFlagged(guarded, "doubtful")).toBe(true);
    expect(await isFlagged(guarded, "harmless")).toBe(false);
    await expect(isFlagged(guarded, "fail")).rejects.toThrow("500");
    await expect(isFlagged(guarded, "hang")).rejects.toThrow();
  });

  test("holds a message but never rejects one, and lets messages through when it fails or hangs", async () => {
    const channelId = await site.addChannel(`room-${newId(Date.now())}`);
    const outcomes = await runInDurableObject(roomOf(site, channelId), async (_, state) => {
      const store = new MessageStore(state.storage);
      const facts = { name: "Ann", roles: [], isExempt: false, moderator: false, isMember: false };
      const senders = new Senders(async (ids) => new Map(ids.map((id) => [id, facts])));
      const load = () => readRoomConfig(guarded, site.id, channelId, Date.now());
      const intake = new MessageIntake(guarded, { channelId, store, senders }, load, () => undefined);
      const request = { accountId: site.accounts.viewer.id, replyTo: null, language: null, fresh: false };
      const texts = ["harmless", "doubtful", "fail", "hang"];
      return Promise.all(texts.map((text) => intake.send({ ...request, requestId: text, text })));
    });
    expect(outcomes.map((outcome) => (outcome.ok ? outcome.state : outcome.code))).toEqual(["visible", "held", "visible", "visible"]);
  });
});
