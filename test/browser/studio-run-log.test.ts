import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { type Member, StudioSite } from "./studio-page.ts";
import { url } from "./test-server.ts";

const SLUG = "studio-run-log";
const NOTES = 40;
const Rundown = z.object({ _id: z.string(), generation: z.number(), items: z.array(z.object({ _id: z.string() })) });

let browser: Browser;
let site: StudioSite;
let admin: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG, { site: "Log", admin: "Ada" });
  admin = await site.admin(SLUG);
});

afterAll(() => browser.close());

test("a long log stays where its reader is", async () => {
  const channelId = await site.create("/page/v2", { type: "channel", slug: "main", data: { name: "Main" } });
  const html = { kind: "html", html: "Goal", position: "center" };
  const overlay = { siteId: site.id, name: "Goal", description: "", type: "template", duration: 5, contents: [html] };
  const overlayId = await site.create("/overlay/v1", overlay);
  const items = [
    ...Array.from({ length: NOTES }, (_, index) => ({ kind: "note", name: `Note ${String(index)}` })),
    { kind: "broadcast", name: "Goal", overlayId, broadcast: {} },
  ];
  const id = await site.create("/rundown/v1", { channelId, name: "Show", items }, admin);
  const take = async (index: number): Promise<void> => {
    const { generation, items } = Rundown.parse(await site.call("GET", `/rundown/v1/${id}`, undefined, admin));
    await site.call("POST", `/rundown/v1/${id}/take`, { itemId: items[index]?._id, generation }, admin);
  };
  for (let index = 0; index < NOTES; index++) await take(index);

  const { page, errors } = await site.open(browser, `/run/${channelId}`, admin);
  await rowsOf(page).first().waitFor();
  // It is new, and shows what comes in.
  await take(0);
  await rowsOf(page).filter({ hasText: "Note 0" }).first().waitFor();
  expect(await log(page).evaluate(({ scrollTop }) => scrollTop)).toBe(0);

  for (const [back, next] of [
    [700, 1],
    [1500, NOTES],
  ] as const) {
    await log(page).evaluate((element, top) => element.scrollTo({ top }), back);
    const name = await firstInView(page);
    const before = await topOf(page, name);
    const total = await sizeOf(page);
    await take(next);
    await expect.poll(() => sizeOf(page)).toBe(total + 1);
    expect(Math.abs((await topOf(page, name)) - before)).toBeLessThanOrEqual(1);
  }
  expect(errors).toEqual([]);
});

const log = (page: Page) => page.getByRole("group", { name: "Takes" });
const rowsOf = (page: Page) => log(page).getByRole("listitem");

/** The number of takes that the log says it has. */
async function sizeOf(page: Page): Promise<number> {
  return Number(await rowsOf(page).first().getAttribute("aria-setsize"));
}

/** The name of the first take that is whole in view, once all rows in view have been drawn. */
async function firstInView(page: Page): Promise<string> {
  const names = () =>
    log(page).evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      const rows = [...element.querySelectorAll("li")].filter((row) => {
        const box = row.getBoundingClientRect();
        return box.top >= top && box.bottom <= bottom;
      });
      return rows
        .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
        .map((row) => row.querySelector("strong")?.textContent ?? "");
    });
  await expect.poll(async () => (await names()).length).toBeGreaterThan(2);
  return (await names())[0] ?? "";
}

function topOf(page: Page, name: string): Promise<number> {
  return rowsOf(page)
    .filter({ has: page.getByText(name, { exact: true }) })
    .evaluate((row) => row.getBoundingClientRect().top);
}
