import type { Browser, Page } from "playwright-core";
import { z } from "@hono/zod-openapi";
import { CHANNEL, Deployment, SITE } from "./sdk-page.ts";

const Tokens = z.object({ jwt: z.string(), refreshToken: z.string() });

/** Opens a channel of the demo in Studio's Run screen, as one of the demo's accounts, and waits until it is live. */
export async function openRun(
  browser: Browser,
  url: string,
  role: "admin" | "creator",
  channelId = CHANNEL,
  /** Before the page is loaded. */
  prepare?: (page: Page) => Promise<void>,
): Promise<{ page: Page; problems: string[] }> {
  const account = { email: `${role}@demo.example`, password: `demo-${role}-pass`, siteId: SITE };
  const tokens = Tokens.parse(await new Deployment(url).post("/auth/v2/login", account, {}));
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  const problems: string[] = [];
  // A slow machine may lose a connection, which the browser reports and the SDK replaces.
  page.on("console", (line) => line.type() === "error" && !line.text().startsWith("WebSocket") && problems.push(line.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.addInitScript(([key, value]) => localStorage.setItem(key, value), [
    `tifo.studio.session.${SITE}`,
    JSON.stringify(tokens),
  ] as const);
  await prepare?.(page);
  await page.goto(`${url}/studio/run/${channelId}`);
  await page.getByText("Live", { exact: true }).waitFor();
  return { page, problems };
}

export const itemsOf = (page: Page) => page.getByRole("listbox", { name: "Items" }).getByRole("option");
