import { createHmac } from "node:crypto";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { RECORDED_MATCH } from "#db/demo/recorded-match.ts";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { ANNOUNCER, type Member, SCRIPT, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

// Polls, quests and rules, on a site of their own, with the keyboard alone.

const SLUG = "studio-games";
const MATCH_SCHEMA = {
  type: "object",
  properties: {
    match: {
      type: "object",
      properties: { minute: { type: "number" }, goal: { type: "string" }, scorer: { type: "string" } },
    },
  },
};

const Provider = z.object({ dataProviderId: z.string(), secret: z.string() });
const Poll = z.object({
  open: z.boolean(),
  locksAt: z.number().nullable(),
  settled: z.number().nullable(),
  correctAnswerId: z.string().nullable(),
  answers: z.array(z.object({ _id: z.string(), answer: z.string() })),
});
const Quest = z.object({ actions: z.array(z.object({ arrayId: z.string() })) });
const QuestChannels = z.object({ _id: z.string(), channelIds: z.array(z.string()) });
const Claims = z.object({ results: z.array(z.object({ status: z.string() })) });
const CreatedRule = z.object({ id: z.string() });
const Rule = z.object({
  active: z.boolean(),
  jsonRule: z.object({ action: z.object({ targeting: z.object({ target: z.object({ value: z.array(z.string()) }) }) }) }),
});
const Shared = z.object({
  active: z.boolean(),
  jsonRule: z.object({ action: z.object({ name: z.object({ value: z.string() }) }) }),
});
const Broadcasts = z.object({ results: z.array(z.object({ overlayId: z.string() })) });

let browser: Browser;
let site: StudioSite;
let admin: Member;
let fans: Member[];

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
  fans = [await site.member(`Mallory ${SCRIPT}`, `mallory@${SLUG}.example`), await site.member("Robin", `robin@${SLUG}.example`)];
});

afterAll(() => browser.close());

/** Waits for the screen of what was created, and returns its id. */
async function createdIn(page: Page, screen: string): Promise<string> {
  const address = new RegExp(`/studio/${screen}/([0-9a-f]{24})`);
  await page.waitForURL(address);
  return address.exec(page.url())?.[1] ?? "";
}

test("a prediction is created, opened, locked and settled, while its counts are live", async () => {
  const { page, errors } = await site.open(browser, "/polls/new", admin);
  const user = new KeyboardUser(page);
  const live = page.getByRole("region", { name: "Live" });
  const press = (name: string) => user.press(live.getByRole("button", { name, exact: true }));
  const answers = page.getByRole("list", { name: "Results" }).getByRole("listitem");
  await user.type(page.getByLabel("Question"), `Who wins? ${SCRIPT}`);
  await user.choose(page.getByLabel("Type"), "Prediction");
  await user.type(page.getByLabel("Answer 1", { exact: true }), "Harbour City");
  await user.type(page.getByLabel("Answer 2", { exact: true }), `Old Dock ${SCRIPT}`);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await user.press(page.getByRole("button", { name: "Create", exact: true }));
  const id = await createdIn(page, "polls");
  const poll = async () => Poll.parse(await site.call("GET", `/poll/v3/${id}`));
  const [home] = (await poll()).answers;

  await press("Open");
  await live.getByRole("status").getByText("Open", { exact: true }).waitFor();
  for (const fan of fans) await site.call("POST", `/poll/v3/${id}/responses`, { answerId: home?._id }, fan);
  await live.getByText("2 responses").waitFor();
  await answers.filter({ hasText: "Harbour City" }).getByText("100 %").waitFor();
  await press("Lock in 5 min");
  await live.getByText("locks in").waitFor();
  expect((await poll()).locksAt).not.toBeNull();
  await press("Don't lock");
  await live.getByText("locks in").waitFor({ state: "detached" });
  await press("Close");
  await live.getByRole("status").getByText("Closed", { exact: true }).waitFor();
  expect(await poll()).toMatchObject({ open: false, locksAt: null, settled: null });

  await press("Settle…");
  const dialog = page.getByRole("dialog", { name: "Settle the poll" });
  await user.press(dialog.getByRole("radio", { name: /^Harbour City/ }), "Space");
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await user.press(dialog.getByRole("button", { name: "Settle", exact: true }));
  await live.getByRole("status").getByText("Settled", { exact: true }).waitFor();
  await answers.filter({ hasText: "Harbour City" }).getByText("Correct", { exact: true }).waitFor();
  const settled = await poll();
  expect(settled.correctAnswerId).toBe(home?._id);
  expect(settled.settled).not.toBeNull();
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  expect(errors).toEqual([]);
  await page.context().close();
});

test("a quest without a title says so at the field and beside the button, which a phone doesn't show together", async () => {
  const { page } = await site.open(browser, "/quests/new", admin);
  await page.setViewportSize({ width: 375, height: 667 });
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByLabel("Title").and(page.locator("[aria-invalid=true]")).waitFor();
  const alert = page.getByRole("alert").filter({ hasText: "The quest has no title." });
  const place = await alert.boundingBox();
  expect(place?.y).toBeGreaterThan(0);
  expect(place?.y).toBeLessThan(667);
  await page.context().close();
});

test("what is missing in a poll gets the focus, and so does what the server objects to", async () => {
  const { page } = await site.open(browser, "/polls/new", admin);
  const create = () => page.getByRole("button", { name: "Create", exact: true }).click();
  const question = page.getByLabel("Question").and(page.locator(":focus"));
  await create();
  await page.getByText("Enter a question.").waitFor();
  await question.waitFor();
  for (const [label, text] of [
    ["Question", "Who wins?"],
    ["Answer 1", "Harbour City"],
    ["Answer 2", "Old Dock"],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(text);
  const issues = [{ path: "question", message: "Not this one" }];
  const json = { success: false, status: 400, code: "invalid_request", message: "The body is not valid", issues };
  await page.route("**/poll/v3", (route) => route.fulfill({ status: 400, json }));
  await create();
  await page.getByText("Not this one").waitFor();
  await question.waitFor();
  await page.context().close();
});

test("a raffle is created by form and drawn, and its proof is repeated in the browser", async () => {
  const { page, errors } = await site.open(browser, "/quests/new", admin);
  const user = new KeyboardUser(page);
  const press = (name: string) => user.press(page.getByRole("button", { name, exact: true }));
  await user.type(page.getByLabel("Title"), `Signed shirt ${SCRIPT}`);
  await press("Add task");
  await user.choose(page.getByLabel("What viewers do"), "Look at a quest");
  await user.type(page.getByLabel("Text", { exact: true }), "Look at it");
  await user.type(page.getByLabel("What it is"), "A shirt");
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await press("Create");
  const id = await createdIn(page, "quests");
  const [task] = Quest.parse(await site.call("GET", `/quest/v2/${id}`, undefined, admin)).actions;
  for (const fan of fans) {
    await site.call("POST", `/quest/v2/${id}/actions/${task?.arrayId ?? ""}`, {}, fan);
    await site.call("POST", `/quest/v2/${id}/claim`, undefined, fan);
  }

  await page.reload();
  const raffle = page.getByRole("region", { name: "Raffle" });
  await raffle.getByText("2 entries").waitFor();
  await press("Draw…");
  await page.getByRole("dialog").getByText("1 of 2 entries win.", { exact: false }).waitFor();
  await user.press(page.getByRole("dialog").getByRole("button", { name: "Draw", exact: true }));
  await expect.poll(() => raffle.getByRole("list", { name: "Proof" }).getByRole("listitem").allInnerTexts()).toHaveLength(2);
  for (const check of await raffle.getByRole("list", { name: "Proof" }).getByRole("listitem").allInnerTexts())
    expect(check).toContain("True:");
  const winners = raffle.getByRole("list", { name: "Winners" }).getByRole("listitem");
  await winners.getByText(/^(Mallory|Robin)/).waitFor();
  expect(await winners.count()).toBe(1);
  const { results } = Claims.parse(await site.call("GET", `/claimstatus/v3?questId=${id}`));
  expect(results.filter(({ status }) => status === "PENDING")).toHaveLength(0);
  const [proof] = await Promise.all([page.waitForEvent("download"), press("Download the proof")]);
  expect(proof.suggestedFilename()).toBe(`draw-${id}.json`);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  expect(errors).toEqual([]);
  await page.context().close();
});

test("a channel that has been deleted is taken off a quest", async () => {
  const gone = await newChannel("Gone garden");
  const texts = { title: "Two stages", description: "", rewardDescription: "", claimedMessage: "" };
  const quest = { siteId: site.id, ...texts, rewardType: "prize", channelIds: [gone] };
  const { _id: id } = QuestChannels.parse(await site.call("POST", "/quest/v2", quest, admin));
  await site.call("DELETE", `/page/v2/${gone}`, undefined, admin);
  const { page, errors } = await site.open(browser, `/quests/${id}`, admin);
  const user = new KeyboardUser(page);
  const missing = page.getByRole("checkbox", { name: `Not in the list: ${gone}` });
  expect(await missing.isChecked()).toBe(true);
  await user.press(missing, "Space");
  await user.press(page.getByRole("button", { name: "Save" }));
  const channels = async () => QuestChannels.parse(await site.call("GET", `/quest/v2/${id}`, undefined, admin)).channelIds;
  await expect.poll(channels).toEqual([]);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  expect(errors).toEqual([]);
  await page.context().close();
});

test("a rule is built by form, tried on a recorded match, and switched on from there", async () => {
  await site.create("/page/v2", { type: "channel", slug: "main", data: { name: "Main" } });
  const contents = [{ kind: "html", html: "{{scorer}} {{minute}}", position: "center" }];
  const overlay = { siteId: site.id, name: "Goal", description: "", type: "template", duration: 3600, contents };
  const overlayId = await site.create("/overlay/v1", overlay);
  const owner = { ownerName: "Pitchside", ownerEmail: "desk@pitchside.example", realtime: true, ttl: 7200 };
  const input = { name: `Match ${SCRIPT}`, description: "", schema: MATCH_SCHEMA, ...owner };
  const provider = Provider.parse(await site.call("POST", "/dataprovider/v1/registration", input));
  const send = async (event: object) => {
    const text = JSON.stringify(event);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", provider.secret).update(`${timestamp}.${text}`).digest("hex");
    const headers = { "Tifo-Client-Id": site.id, "Tifo-Timestamp": timestamp, "Tifo-Signature": signature };
    const url = `${site.url}/dataprovider/v1/${provider.dataProviderId}/events`;
    const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: text });
    expect(response.ok).toBe(true);
  };
  const onAir = async () => Broadcasts.parse(await site.call("GET", "/overlay/v1/broadcasts")).results;

  const { page, errors } = await site.open(browser, "/rules/new", admin);
  const user = new KeyboardUser(page);
  await user.type(page.getByLabel("Name", { exact: true }), `Home goal ${SCRIPT}`);
  await user.choose(page.getByLabel("Events from"), "Match");
  await user.choose(page.getByLabel("Fact", { exact: true }), "match.goal");
  await user.type(page.getByLabel("Value", { exact: true }), "home");
  await user.choose(page.getByLabel("Template"), "Goal");
  for (const name of ["scorer", "minute"]) {
    await user.press(page.getByRole("button", { name: `Set ${name}` }));
    expect(await page.getByLabel(`Fact for ${name}`).inputValue()).toBe(`match.${name}`);
  }
  await user.choose(page.getByLabel("Where"), "Every channel");
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await user.press(page.getByRole("button", { name: "Create" }));
  await createdIn(page, "rules");

  const dryRun = page.getByRole("region", { name: "Dry run" });
  const lines = RECORDED_MATCH.map(({ minute, kind, side, player }) => {
    const scored = kind === "goal" ? { goal: side, scorer: player } : { goal: "none" };
    return JSON.stringify({ match: { minute, ...scored } });
  });
  const buffer = Buffer.from(lines.join("\n"));
  await user.reach(dryRun.getByLabel("Open a recorded match…"));
  await dryRun.getByLabel("Open a recorded match…").setInputFiles({ name: "derby.jsonl", mimeType: "application/x-ndjson", buffer });
  await dryRun.getByText(`2 of ${String(lines.length)} events fire something.`).waitFor();
  await user.press(dryRun.getByLabel("Only these"), "Space");
  const rows = dryRun.getByRole("table").getByRole("row");
  await expect.poll(() => rows.count()).toBe(3);
  for (const [row, goal] of [
    [1, "scorer: Ada Moreno · minute: 17"],
    [2, "scorer: Emre Tan · minute: 83"],
  ] as const)
    expect(await rows.nth(row).innerText()).toContain(goal);
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  // Nothing was sent, and nothing is before the rule is on.
  await send({ match: { minute: 1, goal: "home", scorer: "Early" } });
  expect(await onAir()).toEqual([]);

  await user.press(page.getByRole("switch", { name: "On", exact: true }), "Space");
  await page.getByText(/” is on\.$/).waitFor();
  await send({ match: { minute: 16, goal: "none" } });
  await send({ match: { minute: 17, goal: "home", scorer: "Ada Moreno" } });
  await expect.poll(onAir).toEqual([{ overlayId }]);
  expect(errors).toEqual([]);
  await page.context().close();
});

test("a rule shows what it names although that has been deleted, and can be turned off and repaired", async () => {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  const overlay = { siteId: site.id, description: "", type: "template", duration: 8, contents };
  const [goneTemplate] = [
    await site.create("/overlay/v1", { ...overlay, name: "Gone" }),
    await site.create("/overlay/v1", { ...overlay, name: "New goal" }),
  ];
  const [gone, kept] = [await newChannel("Gone stage"), await newChannel("Kept stage")];
  const trigger = await newTrigger();
  const targeting = { scope: "specific_channels", target: { type: "static", value: [kept, gone] }, segment: "viewers_all", priority: 0 };
  const action = { type: "SEND_OVERLAY", targeting, templateId: goneTemplate, variableMapping: {} };
  const { id } = CreatedRule.parse(
    await site.call("POST", "/personalization/v1/automation-rule", { name: "Broken", jsonRule: { trigger, action } }),
  );
  await site.call("DELETE", `/overlay/v1/${goneTemplate}`, undefined, admin);
  await site.call("DELETE", `/page/v2/${gone}`, undefined, admin);

  const { page, errors } = await site.open(browser, `/rules/${id}`, admin);
  const user = new KeyboardUser(page);
  const template = page.getByLabel("Template");
  await template.getByRole("option", { name: `Not in the list: ${goneTemplate}` }).waitFor({ state: "attached" });
  expect(await template.inputValue()).toBe(goneTemplate);
  const missing = page.getByRole("checkbox", { name: `Not in the list: ${gone}` });
  expect(await missing.isChecked()).toBe(true);
  await user.press(page.getByRole("switch", { name: "On", exact: true }), "Space");
  await page.getByText(/” is off\.$/).waitFor();

  await user.choose(template, "New goal");
  await user.press(page.getByRole("button", { name: "Save" }));
  await page.getByRole("group", { name: "Channels" }).getByText("The site has no channel with this id").waitFor();
  await user.press(missing, "Space");
  await user.press(page.getByRole("button", { name: "Save" }));
  const read = async () => Rule.parse(await site.call("GET", `/personalization/v1/automation-rule/${id}`));
  await expect.poll(read).toMatchObject({ active: false, jsonRule: { action: { targeting: { target: { value: [kept] } } } } });
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  expect(errors).toEqual([]);
  await page.context().close();
});

test("a rule that somebody else changes meanwhile is neither replaced unseen nor reverted by its switch", async () => {
  const jsonRule = { trigger: await newTrigger(), action: { type: "CREATE_CHANNEL", name: { type: "static", value: "First" } } };
  const { id } = CreatedRule.parse(await site.call("POST", "/personalization/v1/automation-rule", { name: "Shared", jsonRule }));
  const path = `/personalization/v1/automation-rule/${id}`;
  const change = (value: string) =>
    site.call("PUT", path, { jsonRule: { ...jsonRule, action: { ...jsonRule.action, name: { type: "static", value } } } });
  const read = async () => {
    const { active, jsonRule: now } = Shared.parse(await site.call("GET", path));
    return [active, now.action.name.value];
  };

  const { page, errors } = await site.open(browser, "/rules", admin);
  const user = new KeyboardUser(page);
  await page.getByRole("switch", { name: "Shared is on" }).waitFor();
  await change("Second");
  await user.press(page.getByRole("switch", { name: "Shared is on" }), "Space");
  await page.getByText("“Shared” is off.").waitFor();
  expect(await read()).toEqual([false, "Second"]);

  await page.goto(`${site.url}/studio/rules/${id}`);
  await user.type(page.getByLabel("Value of Name of the channel"), "Mine");
  // Just before the server would replace it, which no reading can see.
  let isFirst = true;
  await page.route(`**${path}`, async (route) => {
    if (isFirst && route.request().method() === "PUT") {
      isFirst = false;
      await change("Third");
    }
    await route.continue();
  });
  await user.press(page.getByRole("button", { name: "Save" }));
  await page.getByText("Somebody else has changed this rule.").waitFor();
  expect(await read()).toEqual([false, "Third"]);
  await user.press(page.getByRole("switch", { name: "On", exact: true }), "Space");
  await page.getByText("The rule is on: what you save applies at once.").waitFor();
  await user.press(page.getByRole("button", { name: "Save" }));
  await expect.poll(read).toEqual([true, "Mine"]);
  expect(errors).toEqual([]);
  await page.context().close();
});

async function newTrigger() {
  const owner = { ownerName: "Pitchside", ownerEmail: "desk@pitchside.example", realtime: true };
  const input = { name: "Facts", description: "", schema: MATCH_SCHEMA, ...owner };
  const { dataProviderId } = Provider.parse(await site.call("POST", "/dataprovider/v1/registration", input));
  return { dataProviderId, fact: "match.goal", operator: "equals", value: "home", behavior: "immediate" };
}

function newChannel(name: string): Promise<string> {
  return site.create("/page/v2", { type: "channel", slug: name.toLowerCase().replace(" ", "-"), data: { name } });
}
