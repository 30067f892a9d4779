import type { Page } from "playwright-core";
import { z } from "@hono/zod-openapi";
import { KIT } from "#worker/services/overlays/kit/catalogue.ts";
import { type Member, StudioSite } from "./studio-page.ts";

/** Screens of Studio whose address names nothing of the site. */
export const SCREENS: readonly string[] = [
  "",
  "/run",
  "/moderate",
  "/content/channels",
  "/content/channels/new",
  "/content/landing-pages",
  "/content/landing-pages/new",
  "/content/panels",
  "/content/panels/new",
  "/content/navigation",
  "/content/navigation/new",
  "/content/themes",
  "/content/themes/new",
  "/content/videos",
  "/content/videos/new",
  "/content/playlists",
  "/content/playlists/new",
  "/content/calendar",
  "/content/calendar/new",
  "/overlays",
  "/overlays/new",
  "/polls",
  "/polls/new",
  "/quests",
  "/quests/new",
  "/rules",
  "/rules/new",
  "/people",
  "/people/new",
  "/people/transfer",
  "/subscriptions",
  "/subscriptions/new",
  "/money",
  "/schedule",
  "/insights?range=month",
  "/developers/keys",
  "/developers/deliveries",
  "/developers/events",
  "/developers/requests",
  "/developers/limits",
];

export interface FullSite {
  site: StudioSite;
  admin: Member;
  /** All of Studio's, also those of what is on the site. */
  screens: readonly string[];
}

/** A name with nothing to break it at, and one of many words. */
const UNBROKEN = "Harbour".repeat(15).slice(0, 100);
const WORDY = "The quarter-final of the regional cup, second leg, with extra time and penalties if they are needed at all";
const ROWS = 12;
const IN_DAYS = 3;
const DAY = 86_400_000;

const Provider = z.object({ dataProviderId: z.string() });
const Rule = z.object({ id: z.string() });
const Poll = z.object({ answers: z.array(z.object({ _id: z.string() })) });

/** A site with rows in each list, under names that no layout likes. */
export async function createFullSite(url: string, slug: string): Promise<FullSite> {
  const site = await StudioSite.create(url, slug, { site: UNBROKEN, admin: UNBROKEN });
  const admin = await site.admin(slug);
  const content = await fillContent(site, admin);
  const fans: Member[] = [];
  for (const [index, name] of names(3).entries())
    fans.push(await site.member(name, `${UNBROKEN.slice(0, 50)}.${String(index)}@${slug}.example`));
  await fillDesk(site, content.channelId, fans);
  await vote(site, content.pollId, fans);
  await fillDevelopers(site, admin);
  const ruleId = await fillRules(site, content);
  await site.call("POST", "/rundown/v1", rundownOf(content), admin);
  await site.call("POST", `/overlay/v1/broadcast/${content.overlayId}`, { channelId: content.channelId });
  await site.call("POST", "/schedule/v1", { kind: "poll.open", targetId: content.pollId, in: 3600 });
  const screens = [
    ...SCREENS,
    `/run/${content.channelId}`,
    `/content/channels/${content.channelId}`,
    `/content/landing-pages/${content.landingId}`,
    `/content/panels/${content.panelId}`,
    `/content/navigation/${content.navigationId}`,
    `/content/themes/${content.themeId}`,
    `/content/videos/${content.videoId}`,
    `/content/playlists/${content.playlistId}`,
    `/content/calendar/${content.eventId}`,
    `/overlays/${content.overlayId}`,
    `/polls/${content.pollId}`,
    `/quests/${content.questId}`,
    `/rules/${ruleId}`,
    `/people/${fans[0]?.id ?? ""}`,
    `/people/${fans[0]?.id ?? ""}/access`,
    `/subscriptions/${content.subscriptionId}`,
  ];
  return { site, admin, screens };
}

/** Waits until a screen has what it reads. */
export async function loadedScreen(page: Page): Promise<void> {
  await page.getByRole("main").getByRole("heading", { level: 1 }).waitFor();
  await page.getByRole("button", { name: /^Account/ }).waitFor();
  const loading = page.getByRole("status").filter({ hasText: /^(Loading|Counting)/ });
  await page.getByRole("main").filter({ hasNot: loading }).waitFor();
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? UNBROKEN : `${String(index)} ${WORDY}`.slice(0, 100)));
}

interface Content {
  channelId: string;
  landingId: string;
  panelId: string;
  navigationId: string;
  themeId: string;
  videoId: string;
  playlistId: string;
  eventId: string;
  overlayId: string;
  pollId: string;
  questId: string;
  subscriptionId: string;
}

/** The id of the first one of each kind, whose name is the unbroken one. */
async function fillContent(site: StudioSite, admin: Member): Promise<Content> {
  const siteId = site.id;
  const all = async (path: string, bodyOf: (name: string, index: number) => unknown, count = ROWS): Promise<string> => {
    const ids: string[] = [];
    for (const [index, name] of names(count).entries()) ids.push(await site.create(path, bodyOf(name, index), admin));
    return ids[0] ?? "";
  };
  const tags = [UNBROKEN.slice(0, 50), "derby", "cup"];
  const channelId = await all("/page/v2", (name, index) => ({ type: "channel", slug: `channel-${String(index)}`, data: { name }, tags }));
  const videoId = await all("/video/v3", (title) => ({
    title,
    durationSeconds: 312,
    player: "file",
    type: "vod",
    url: `https://vod.example/${UNBROKEN}.m3u8`,
    tags,
  }));
  const { position, sample } = KIT.goal;
  const kit = { kind: "kit", template: "goal", position, variables: sample };
  const landingId = await all("/page/v2", (name, index) => ({ type: "landing", slug: `landing-${String(index)}`, data: { name }, tags }));
  const panelId = await all("/panel/v3", (name) => ({
    siteId,
    renderer: { panel_type: "chat", panel_name: name, icon_name: "chat", system_name: name },
  }));
  const navigationId = await all("/navigation/v1", (name, index) => ({
    ...{
      siteId,
      name,
      type: index === 0 ? "default" : "custom",
      parents: [
        { type: "channel", pageId: channelId },
        { type: "folder", name, children: [] },
      ],
    },
    externalLinks: [{ name, url: `https://tickets.example/${UNBROKEN}` }],
  }));
  const themeId = await all(
    "/themes/v1/custom",
    (name) => ({ name, mode: "dark", colors: { accent: "#4B3FD1", text100: "#777777", surface1: "#888888" } }),
    3,
  );
  const playlistId = await all("/playlist/v1", (title) => ({ title, description: WORDY, members: [{ id: videoId, schema: "video" }] }));
  const eventId = await all("/event/v1/event-calendar", (titleRaw) => ({
    titleRaw,
    date: { startTimestamp: Date.now() + IN_DAYS * DAY },
    channelId,
  }));
  const overlayId = await all("/overlay/v1", (name) => ({
    siteId,
    name,
    description: WORDY,
    type: "template",
    duration: 8,
    contents: [kit],
  }));
  const pollId = await all("/poll/v3", (name, index) => ({
    ...{ siteId, type: "prediction", name, question: name, open: index === 0 },
    answers: [{ answer: UNBROKEN }, { answer: WORDY }, { answer: "No" }],
  }));
  const questId = await all("/quest/v2", (title) => ({
    ...{
      siteId,
      title,
      description: WORDY,
      rewardType: "raffle",
      rewardDescription: UNBROKEN,
      claimedMessage: WORDY,
      channelIds: [channelId],
    },
    actions: [{ arrayId: "a1B2c3D4e", body: title, kind: "open:link", callToAction: "https://line-up.example/" }],
  }));
  const subscriptionId = await all("/subscription/v2", (name, index) => ({
    ...{ siteId, name, sku: `pass-${String(index)}`, subscriptionProvider: "stripe", recurrence: "once" },
    prices: [{ currency: "gbp", default: true, value: 1900 }],
  }));
  return {
    ...{ channelId, landingId, panelId, navigationId, themeId, videoId, playlistId, eventId, overlayId, pollId, questId, subscriptionId },
  };
}

function rundownOf({ channelId, overlayId }: Content): unknown {
  const items = names(ROWS).map((name, index) =>
    index % 2 === 0 ? { kind: "broadcast", name, overlayId, broadcast: {} } : { kind: "note", name, notes: WORDY },
  );
  return { channelId, name: UNBROKEN, items };
}

/** What moderators decide on. */
async function fillDesk(site: StudioSite, channelId: string, fans: readonly Member[]): Promise<void> {
  const [first, second, third] = fans;
  for (const text of names(4)) {
    const messageId = await site.create(`/chat/v1/${channelId}/messages`, { text }, first);
    await site.call("POST", `/chat/v1/${channelId}/messages/${messageId}/reports`, { reason: UNBROKEN }, second);
    await site.create(`/qna/v1/${channelId}/questions`, { text }, second);
  }
  await site.call("POST", "/chat/v1/bans", { kind: "ban", channelId, accountId: third?.id, reason: UNBROKEN });
}

async function vote(site: StudioSite, pollId: string, fans: readonly Member[]): Promise<void> {
  const [answer] = Poll.parse(await site.call("GET", `/poll/v3/${pollId}`)).answers;
  for (const fan of fans) await site.call("POST", `/poll/v3/${pollId}/responses`, { answerId: answer?._id }, fan);
}

async function fillDevelopers(site: StudioSite, admin: Member): Promise<void> {
  const key = { name: UNBROKEN, clientName: UNBROKEN, roles: ["overlay:write", "poll:read", "quest:read"] };
  await site.call("POST", "/site/v1/api-keys", key, admin);
  const webhookUrl = `https://hooks.invalid/${UNBROKEN}`;
  await site.call("PUT", "/webhooks/v1", { webhooks: { enabled: true, webhookUrl, webhookSubscriptions: { "overlay-service-v1": true } } });
}

/** Returns the id of the rule with the unbroken name. */
async function fillRules(site: StudioSite, { channelId, overlayId }: Content): Promise<string> {
  const properties = { match: { type: "object", properties: { [UNBROKEN.slice(0, 60)]: { type: "string" }, scorer: { type: "string" } } } };
  const owner = { ownerName: UNBROKEN, ownerEmail: "desk@pitchside.example", realtime: true };
  const { dataProviderId } = Provider.parse(
    await site.call("POST", "/dataprovider/v1/registration", {
      name: UNBROKEN,
      description: WORDY,
      schema: { type: "object", properties },
      ...owner,
    }),
  );
  const trigger = { dataProviderId, fact: `match.${UNBROKEN.slice(0, 60)}`, operator: "equals", value: UNBROKEN, behavior: "immediate" };
  const action = {
    type: "SEND_OVERLAY",
    targeting: { scope: "channel", segment: "viewers_all", priority: 10 },
    templateId: overlayId,
    variableMapping: {},
  };
  const created: unknown[] = [];
  for (const name of names(4)) {
    const rule = { name, jsonRule: { trigger, action }, channelId, active: false };
    created.push(await site.call("POST", "/personalization/v1/automation-rule", rule));
  }
  return Rule.parse(created[0]).id;
}
