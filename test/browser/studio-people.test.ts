import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { DEMO_SUPER_KEY } from "#scripts/lib/state.ts";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { ANNOUNCER, SCRIPT, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

const EMAIL = "importer@studio.example";
const PASSWORD = "studio-importer-pass";
const SUPPORTER = "5eed0000000000000000a020";
const DEMO = "5eed00000000000000000001";
const MEMBERS = 1000;

const Tokens = z.object({ jwt: z.string(), refreshToken: z.string() });
const Created = z.object({ site: z.object({ _id: z.string() }), developerKey: z.string() });
const Entitlements = z.object({ results: z.array(z.object({ status: z.string() })) });
const List = z.object({ pagination: z.object({ totalCount: z.number() }) });

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  expect(response.ok).toBe(true);
  return response.json();
}

async function openAs(account: { siteId: string; email: string; password: string }, path: string): Promise<Page> {
  const tokens = Tokens.parse(await post("/auth/v2/login", account));
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.addInitScript(
    ([siteId, session]) => {
      localStorage.setItem(`tifo.studio.session.${siteId}`, session);
      localStorage.setItem("tifo.studio.site", siteId);
    },
    [account.siteId, JSON.stringify(tokens)] as const,
  );
  await page.goto(`${url}/studio${path}`);
  return page;
}

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

async function statesOf(site: StudioSite, accountId: string): Promise<string[]> {
  const { results } = Entitlements.parse(await site.call("GET", `/subscription/v2/account/${accountId}`));
  return results.map(({ status }) => status);
}

test("imports 1,000 members, names the rows that it can't, and refunds only what was paid, with the keyboard alone", async () => {
  const admin = { email: EMAIL, password: PASSWORD, name: "Ida" };
  const created = Created.parse(
    await post("/site/v1", { name: "Import", slug: "studio-import", admin }, { "Tifo-Super-Key": DEMO_SUPER_KEY }),
  );
  const siteId = created.site._id;
  const page = await openAs({ siteId, email: EMAIL, password: PASSWORD }, "/people/transfer");
  const importer = new KeyboardUser(page);
  const rows = Array.from(
    { length: MEMBERS },
    (_, index) => `fan-${String(index)}@fans.example,${quoted(`Fan ${String(index)} ${SCRIPT}`)}`,
  );
  const text = ["email,name", ...rows, `${quoted(`nobody ${SCRIPT}`)},Ned`].join("\n");
  await importer.reach(page.getByLabel("CSV file"));
  await page.getByLabel("CSV file").setInputFiles({ name: "members.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await importer.press(page.getByRole("button", { name: "Import 1,000 members" }));
  await page.getByText("Done: 1,000 of 1,000. 1 rows were rejected.").waitFor();
  await page.getByRole("rowheader", { name: "1002", exact: true }).waitFor();
  const headers = { "Tifo-Client-Id": siteId, "Tifo-Developer-Key": created.developerKey };
  const listed = List.parse(await (await fetch(`${url}/account/v3?limit=1`, { headers })).json());
  expect(listed.pagination.totalCount).toBe(MEMBERS + 1);
  expect(await page.evaluate("window.ran")).toBeUndefined();
  await page.context().close();

  const person = await openAs({ siteId: DEMO, email: "admin@demo.example", password: "demo-admin-pass" }, `/people/${SUPPORTER}/access`);
  const refunder = new KeyboardUser(person);
  await refunder.press(person.getByRole("button", { name: "Refund… R-2026-4QX7M2KD" }));
  const dialog = person.getByRole("dialog", { name: "Refund" });
  const amount = dialog.getByLabel("Amount in GBP");
  await refunder.type(amount, "89.01");
  await dialog.getByText("At most £89.00 can be refunded.").waitFor();
  await refunder.type(amount, "4.50");
  // The demo's payments don't exist at Stripe, so the server rejects the refund, and the dialog says why.
  await refunder.press(dialog.getByRole("button", { name: "Refund £4.50" }));
  await dialog.getByRole("alert").waitFor();
  await person.context().close();
});

test("a refund that was declined can be corrected, and one whose answer was lost has the same key when it is repeated", async () => {
  const page = await openAs({ siteId: DEMO, email: "admin@demo.example", password: "demo-admin-pass" }, `/people/${SUPPORTER}/access`);
  const sent: { key: string | undefined; amount: number }[] = [];
  const answers: ((route: Route) => Promise<void>)[] = [];
  const answer = (status: string, errorMessage: string | null) => (route: Route) =>
    route.fulfill({ json: { success: errorMessage === null, errorMessage, refundId: null, status, amount: null } });
  await page.route("**/billing/v1/refund", async (route) => {
    const { amount } = z.object({ amount: z.number() }).parse(route.request().postDataJSON());
    sent.push({ key: route.request().headers()["idempotency-key"], amount });
    await (answers.shift() ?? ((one: Route) => one.abort()))(route);
  });
  await page.getByRole("button", { name: "Refund… R-2026-4QX7M2KD" }).click();
  const dialog = page.getByRole("dialog", { name: "Refund" });
  const refund = async (amount: string) => {
    await dialog.getByLabel("Amount in GBP").fill(amount);
    await dialog.getByRole("button", { name: `Refund £${amount}` }).click();
  };

  answers.push(answer("declined", "The balance is too low."));
  await refund("40.00");
  await dialog.getByText("The balance is too low.").waitFor();
  await refund("4.50");
  await dialog.getByText("The server can't be reached.").waitFor();
  const [declined, ...lost] = sent.splice(0);
  expect(declined).toMatchObject({ amount: 4000 });
  expect(new Set(lost.map(({ key }) => key)).size).toBe(1);
  expect(lost[0]).toMatchObject({ amount: 450 });
  expect(lost[0]?.key).not.toBe(declined?.key);

  answers.push(answer("pending", "Stripe has not confirmed the refund yet"));
  await refund("4.50");
  await page.getByText("£4.50 is being refunded.").waitFor();
  await dialog.waitFor({ state: "detached" });
  expect(sent).toEqual([lost[0]]);
  await page.context().close();
});

test("somebody is given access and loses it again, with the keyboard alone", async () => {
  const slug = "studio-access";
  const site = await StudioSite.create(url, slug);
  await site.create("/subscription/v2", { siteId: site.id, name: `Crew ${SCRIPT}`, sku: "crew", subscriptionProvider: "external" });
  const member = await site.member(`Fan ${SCRIPT}`, `fan@${slug}.example`);
  const { page, errors } = await site.open(browser, "/people", await site.admin(slug));
  const user = new KeyboardUser(page);
  await user.press(page.getByRole("link", { name: "Fan" }));
  await user.press(page.getByRole("link", { name: "Access and payments" }));
  await user.press(page.getByRole("button", { name: "Grant access…" }));
  const dialog = page.getByRole("dialog", { name: "Grant access" });
  await user.choose(dialog.getByLabel("Subscription"), "Crew");
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  await user.press(dialog.getByRole("button", { name: "Grant", exact: true }));
  await dialog.waitFor({ state: "detached" });
  const row = page.getByRole("table", { name: "Access" }).getByRole("row").filter({ hasText: "Crew" });
  await row.getByText("Active").waitFor();
  expect(await statesOf(site, member.id)).toEqual(["active"]);
  await user.press(row.getByRole("button", { name: /^End…/ }));
  await user.press(page.getByRole("dialog", { name: "End the access?" }).getByRole("button", { name: "End the access" }));
  await page.getByText("The access has been ended.").waitFor();
  expect(await statesOf(site, member.id)).not.toContain("active");
  expect(errors).toEqual([]);
});
