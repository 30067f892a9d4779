import { rm } from "node:fs/promises";
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { RECORDED_MATCH } from "#db/demo/recorded-match.ts";
import type { Server } from "#scripts/lib/server.ts";
import { launchBrowser } from "./browser.ts";
import { CHANNEL, Deployment, SITE } from "./sdk-page.ts";
import { startServer, temporaryState } from "./server.ts";
import { itemsOf, openRun } from "./studio-run-page.ts";

// A server of their own, because one test kills it.

// The demo's overlays.
const GOAL_TEMPLATE = "5eed0000000000000000a001";
const CARD_TEMPLATE = "5eed0000000000000000a002";
const SCORE_TEMPLATE = "5eed0000000000000000a004";
const SUBSTITUTION_TEMPLATE = "5eed0000000000000000a005";
/** Longer than the test, however slow the machine is. */
const SECONDS = "3600";
const TAKES = 12;

const Rundowns = z.object({ results: z.array(z.object({ _id: z.string(), name: z.string() })) });
const AsRun = z.object({ results: z.array(z.object({ _id: z.string(), name: z.string(), state: z.string() })) });
const Broadcasts = z.object({ results: z.array(z.object({ broadcastId: z.string() })) });

let state: string;
let server: Server;
let browser: Browser;

beforeAll(async () => {
  state = await temporaryState();
  [browser, server] = await Promise.all([launchBrowser(), startServer({ state })]);
});

afterAll(async () => {
  await browser.close();
  await server.stop();
  await rm(state, { recursive: true, force: true, maxRetries: 5 });
});

async function read(path: string): Promise<unknown> {
  const headers = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo" };
  return (await fetch(server.url + path, { headers })).json();
}

/** What the server has taken of a rundown, in order. */
async function takenOf(rundown: string): Promise<z.output<typeof AsRun>["results"]> {
  const { results } = Rundowns.parse(await read(`/rundown/v1?channelId=${CHANNEL}`));
  const id = results.find(({ name }) => name === rundown)?._id ?? "";
  return AsRun.parse(await read(`/rundown/v1/${id}/as-run?limit=200`)).results;
}

async function onAir(): Promise<string[]> {
  const { results } = Broadcasts.parse(await read(`/overlay/v1/broadcasts?channelId=${CHANNEL}&limit=200`));
  return results.map(({ broadcastId }) => broadcastId).sort();
}

const take = (page: Page) => page.getByRole("button", { name: "Take", exact: true });
const program = (page: Page) => page.getByRole("region", { name: "Program" });
const asRun = (page: Page) => page.getByRole("list", { name: "As run" }).getByRole("listitem");

interface MatchItem {
  overlayId: string;
  name: string;
  variables: Record<string, string>;
}

/** What a director shows of the recorded match, one item each. */
function matchItems(): MatchItem[] {
  return RECORDED_MATCH.flatMap(({ minute, kind, player = "", off = "" }): MatchItem[] => {
    const at = String(minute);
    if (kind === "goal") return [{ overlayId: GOAL_TEMPLATE, name: `Goal ${at}`, variables: { scorer: player, minute: at } }];
    if (kind === "card") return [{ overlayId: CARD_TEMPLATE, name: `Card ${at}`, variables: { player, minute: at } }];
    if (kind === "substitution")
      return [{ overlayId: SUBSTITUTION_TEMPLATE, name: `Change ${at}`, variables: { on: player, off, minute: at } }];
    return [];
  });
}

async function addItem(page: Page, { overlayId, name, variables }: MatchItem): Promise<void> {
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Add item" }).click();
  await dialog.getByLabel("Overlay").selectOption(overlayId);
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  for (const [label, value] of Object.entries(variables)) await dialog.getByLabel(label, { exact: true }).fill(value);
  await dialog.getByLabel("Seconds on screen").fill(SECONDS);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await itemsOf(page).filter({ hasText: name }).waitFor();
}

test("a show from an empty rundown continues after its server was killed, with nothing doubled or lost", async () => {
  const { page } = await openRun(browser, server.url, "admin");
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  const match = matchItems();
  const names = match.map(({ name }) => name);
  const lost = page.getByRole("alert").filter({ hasText: "The connection is lost." });
  const isShown = (name: string) => program(page).getByText(name, { exact: true });
  /** Takes what is next, if it hasn't been taken yet. */
  const takeNext = async (name: string) => {
    await itemsOf(page).filter({ hasText: name }).filter({ hasText: "Next" }).waitFor();
    await take(page).click();
    await asRun(page).filter({ hasText: name }).waitFor();
  };

  await page.getByRole("button", { name: "New rundown" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Derby");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await page.getByText("The rundown is empty.").waitFor();
  for (const item of match) await addItem(page, item);
  for (const name of names.slice(0, 3)) await takeNext(name);

  // What was pressed without a network isn't taken when it comes back.
  await page.context().setOffline(true);
  await take(page).click();
  await page.getByRole("log", { name: "Notifications" }).getByText("The server can't be reached.").waitFor();
  await page.context().setOffline(false);
  await expect.poll(() => lost.count()).toBe(0);
  expect((await takenOf("Derby")).map(({ name }) => name)).toEqual(names.slice(0, 3));

  // In the middle of a take, which the server has recorded or not.
  await itemsOf(page).filter({ hasText: "Goal 58" }).filter({ hasText: "Next" }).waitFor();
  await Promise.all([take(page).click(), server.kill()]);
  await lost.waitFor();
  await program(page).getByText("Connecting…").waitFor();
  const { port } = new URL(server.url);
  server = await startServer({ state, port: Number(port) });
  await program(page).getByText("Live", { exact: true }).waitFor();
  await lost.waitFor({ state: "detached" });
  // Studio repeats the take until the server answers.
  await take(page).and(page.locator(":enabled")).waitFor();

  const taken = await takenOf("Derby");
  expect(taken.map(({ name }) => name)).toEqual(names.slice(0, taken.length));
  for (const name of names.slice(taken.length)) await takeNext(name);
  const log = await takenOf("Derby");
  expect(log.map(({ name, state }) => [name, state])).toEqual(names.map((name) => [name, "done"]));
  expect(await onAir()).toEqual(log.map(({ _id }) => _id).sort());
  expect(await asRun(page).locator("strong").allTextContents()).toEqual(names.toReversed().slice(0, await asRun(page).count()));
  expect(await asRun(page).first().getAttribute("aria-setsize")).toBe(String(names.length));
  // The latest of each place.
  for (const name of ["Emre Tan", "Lou Marsh"]) await expect.poll(() => isShown(name).count()).toBe(1);
  for (const name of ["Ada Moreno", "Pia Solberg"]) await expect.poll(() => isShown(name).count()).toBe(0);
  expect(errors).toEqual([]);
  await page.context().close();
});

test("a take whose answer is lost says that it waits, fails after ten seconds, and isn't repeated by the next press", async () => {
  const deployment = new Deployment(server.url);
  await deployment.clear();
  const items = ["First", "Second"].map((moment) => ({
    kind: "broadcast",
    name: moment,
    overlayId: SCORE_TEMPLATE,
    broadcast: { duration: Number(SECONDS), variables: { moment } },
  }));
  await deployment.post("/rundown/v1", { channelId: CHANNEL, name: "Unanswered", items });
  const { page } = await openRun(browser, server.url, "admin");
  // The server takes the item, and its answer is lost.
  const reached = Promise.withResolvers<void>();
  await page.route("**/rundown/v1/*/take", (route) => route.fetch().then(() => reached.resolve()), { times: 1 });
  await take(page).click();
  await reached.promise;
  await page.getByText("Waiting for the server…").waitFor();
  await page.getByRole("log", { name: "Notifications" }).getByText("The server can't be reached.").waitFor();
  await itemsOf(page).filter({ hasText: "Second" }).filter({ hasText: "Next" }).waitFor();
  await page.getByText("Waiting for the server…").waitFor({ state: "detached" });
  await take(page).click();
  await asRun(page).filter({ hasText: "Second" }).waitFor();
  expect((await takenOf("Unanswered")).map(({ name }) => name)).toEqual(["First", "Second"]);
  await page.context().close();
});

test("an overlay of the quick bar whose answer is lost is shown once by the next press", async () => {
  await new Deployment(server.url).clear();
  const { page } = await openRun(browser, server.url, "admin", CHANNEL, async (opened) => {
    await opened.addInitScript(([key, value]) => localStorage.setItem(key, value), [
      `tifo.studio.run.favourites.${CHANNEL}`,
      JSON.stringify([SCORE_TEMPLATE]),
    ] as const);
  });
  const bar = page.getByRole("region", { name: "Quick bar" });
  const show = bar.getByRole("button", { name: "Show" });
  const said = page.getByRole("log", { name: "Notifications" });
  const reached = Promise.withResolvers<void>();
  await page.route("**/overlay/v1/broadcast/*", (route) => route.fetch().then(() => reached.resolve()), { times: 1 });
  await bar.getByRole("button", { name: "Score" }).click();
  await show.click();
  await reached.promise;
  await said.getByText("The server can't be reached.").waitFor();
  await show.click();
  await said.getByText("“Score” was already shown: only the answer was lost.").waitFor();
  expect(await onAir()).toHaveLength(1);
  // Now that it is answered, the same is a broadcast of its own.
  await bar.getByRole("button", { name: "Score" }).click();
  await show.click();
  await said.getByText("“Score” is on air.").waitFor();
  expect(await onAir()).toHaveLength(2);
  await page.context().close();
});

/** Holds the takes of both operators until both have pressed, so that they reach the server at the same instant. */
async function pressTogether(pages: readonly Page[]): Promise<void> {
  const held = new Map<number, (() => void)[]>();
  for (const page of pages) {
    const sent = new Set<number>();
    await page.route("**/rundown/v1/*/take", async (route: Route) => {
      const { generation } = z.object({ generation: z.number() }).parse(route.request().postDataJSON());
      // A repeated request belongs to the same press.
      if (!sent.has(generation)) {
        sent.add(generation);
        const waiting = held.get(generation) ?? [];
        held.set(generation, waiting);
        await new Promise<void>((release) => {
          waiting.push(release);
          if (waiting.length === pages.length) for (const one of waiting) one();
        });
      }
      await route.continue();
    });
  }
}

test(`two operators press Take at the same instant ${TAKES} times: each is one broadcast, and both screens show the same`, async () => {
  const deployment = new Deployment(server.url);
  await deployment.clear();
  const names = Array.from({ length: TAKES }, (_, index) => `Take ${String(index + 1)}`);
  const items = names.map((moment) => ({
    kind: "broadcast",
    name: moment,
    overlayId: SCORE_TEMPLATE,
    broadcast: { duration: Number(SECONDS), variables: { moment } },
  }));
  await deployment.post("/rundown/v1", { channelId: CHANNEL, name: "Together", items });
  const operators = [await openRun(browser, server.url, "admin"), await openRun(browser, server.url, "creator")];
  const pages = operators.map(({ page }) => page);
  await pressTogether(pages);
  await Promise.all(pages.map((page) => take(page).and(page.locator(":enabled")).waitFor()));

  for (const name of names) {
    await Promise.all(pages.map((page) => page.keyboard.press("Space")));
    await Promise.all(
      pages.map(async (page) => {
        await asRun(page).first().getByText(name, { exact: true }).waitFor();
        await program(page).locator(".tk-scorebug").getByText(name, { exact: true }).waitFor();
        if (name !== names.at(-1)) await take(page).and(page.locator(":enabled")).waitFor();
      }),
    );
  }

  const log = await takenOf("Together");
  expect(log.map(({ name }) => name)).toEqual(names);
  expect(await onAir()).toEqual(log.map(({ _id }) => _id).sort());
  for (const page of pages) {
    expect(await asRun(page).first().getAttribute("aria-setsize")).toBe(String(TAKES));
    expect(await program(page).locator(".tk-scorebug").count()).toBe(1);
  }
  expect(operators.flatMap(({ problems }) => problems)).toEqual([]);
});
