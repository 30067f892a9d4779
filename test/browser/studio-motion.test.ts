import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { KeyboardUser } from "./studio-keyboard.ts";
import { type Member, StudioSite } from "./studio-page.ts";
import { url } from "./test-server.ts";

const SLUG = "studio-motion";
/** Longer than a frame. */
const SEEN_MS = 20;

let browser: Browser;
let site: StudioSite;
let admin: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
});

afterAll(() => browser.close());

/** What has moved while a list was loading, a dialog and a menu opened and closed, a switch was turned, and a message came and went. */
async function movements(reducedMotion: "reduce" | "no-preference"): Promise<string[]> {
  const { page } = await site.open(browser, "/developers/keys", admin, reducedMotion);
  const user = new KeyboardUser(page);
  await page.addInitScript(noteMovements, SEEN_MS);
  await page.reload();
  await user.press(page.getByRole("button", { name: "New key" }));
  await user.type(page.getByLabel("Name", { exact: true }), "Scoreboard");
  await user.press(page.getByRole("button", { name: "Create" }));
  await user.press(page.getByRole("button", { name: "Done" }));
  await user.press(page.getByRole("button", { name: "Revoke Scoreboard" }).first());
  await user.press(page.getByRole("button", { name: "Revoke", exact: true }));
  await page.getByText("The key has been revoked.").waitFor();
  const found = await movementsOf(page);
  await page.goto(`${url}/studio/developers/deliveries`);
  await user.press(page.getByRole("button", { name: /^Account/ }));
  await page.getByRole("menu").waitFor();
  await page.keyboard.press("Escape");
  await user.press(page.getByRole("button", { name: "Endpoint…" }));
  await user.press(page.getByRole("switch", { name: "Send events" }), "Space");
  found.push(...(await movementsOf(page)));
  await page.context().close();
  return found;
}

/** Runs in each page: notes the animations and transitions that somebody could see. */
function noteMovements(seenMs: number): void {
  const found: string[] = [];
  const note = ({ target }: Event): void => {
    if (!(target instanceof Element)) return;
    for (const { effect } of target.getAnimations({ subtree: true }))
      if (Number(effect?.getComputedTiming().duration) > seenMs) found.push(target.outerHTML.slice(0, 120));
  };
  for (const type of ["animationstart", "transitionrun"]) addEventListener(type, note, true);
  Object.assign(window, { movements: found });
}

async function movementsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>("window.movements");
}

test("nothing moves for who has asked for less motion, as it does for others", async () => {
  expect(await movements("reduce")).toEqual([]);
  expect(await movements("no-preference")).not.toEqual([]);
});
