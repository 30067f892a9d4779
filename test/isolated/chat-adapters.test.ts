import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { MessageIntake } from "#worker/durable-objects/chat-room/message-intake.ts";
import { MessageStore } from "#worker/durable-objects/chat-room/message-store.ts";
import { RoomTranslator, type Translation } from "#worker/durable-objects/chat-room/room-translator.ts";
import { Senders } from "#worker/durable-objects/chat-room/senders.ts";
import { ChatGuard } from "#worker/integrations/chat-guard.ts";
import { newId } from "#worker/lib/ids.ts";
import { readRoomConfig } from "#worker/services/chat/room-config.ts";
import { newChatDeployment } from "../chat-service-calls.ts";
import { newSite, type TestSite } from "../harness.ts";
import { enterChat, roomOf } from "./chatters.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

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
