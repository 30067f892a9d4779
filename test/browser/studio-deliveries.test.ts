import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { ANNOUNCER, type Member, SCRIPT, StudioSite, violationsOf } from "./studio-page.ts";
import { url } from "./test-server.ts";

const SLUG = "studio-deliveries";
const Programmatic = z.object({ id: z.string() });

let browser: Browser;
let site: StudioSite;
let admin: Member;
/** Rejects everything, with a reason, until it is fixed. */
let isFixed = false;
const receiver = createServer((request, response) => {
  request.resume();
  response.statusCode = isFixed ? 204 : 422;
  response.setHeader("Content-Type", "text/html");
  response.end(isFixed ? undefined : `No column for the overlay ${SCRIPT}`);
});

beforeAll(async () => {
  await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));
  browser = await launchBrowser();
  site = await StudioSite.create(url, SLUG);
  admin = await site.admin(SLUG);
});

afterAll(async () => {
  await browser.close();
  receiver.closeAllConnections();
  receiver.close();
});

function receiverUrl(): string {
  const address: string | AddressInfo | null = receiver.address();
  if (address === null || typeof address === "string") throw new Error("The receiver has no port");
  return `http://127.0.0.1:${String(address.port)}/hook`;
}

async function createOverlay(): Promise<string> {
  const contents = [{ kind: "html", html: SCRIPT, position: "center" }];
  return site.create("/overlay/v1", { siteId: site.id, name: `Goal ${SCRIPT}`, description: "", type: "template", duration: 8, contents });
}

test("a delivery shows what was sent and why the receiver rejected it, and is sent again once that is fixed", async () => {
  const webhooks = { enabled: true, webhookUrl: receiverUrl(), webhookSubscriptions: { "overlay-service-v1": true } };
  await site.call("PUT", "/webhooks/v1", { webhooks });
  const overlayId = await createOverlay();
  const { page, errors } = await site.open(browser, "/developers/deliveries", admin);
  await page.getByRole("row").filter({ hasText: "overlay.created" }).getByText("422, after").waitFor();
  await page.getByRole("button", { name: "Details of overlay.created" }).click();
  const dialog = page.getByRole("dialog", { name: "overlay.created" });
  const attempts = dialog.getByRole("table", { name: "Attempts" });
  await attempts.getByText(`No column for the overlay ${SCRIPT}`).first().waitFor();
  await attempts.getByRole("cell", { name: "422" }).first().waitFor();
  await dialog.getByText("Next attempt:").waitFor();
  const body: unknown = JSON.parse((await dialog.locator("pre[aria-labelledby=delivery-body]").textContent()) ?? "");
  expect(body).toMatchObject({ service: "overlay-service-v1", webhookUrl: receiverUrl(), eventData: { data: { _id: overlayId } } });
  expect(await violationsOf(page, [ANNOUNCER])).toEqual([]);
  isFixed = true;
  await dialog.getByRole("button", { name: "Resend" }).click();
  // An attempt of the schedule may have come between, and was accepted too.
  await dialog.getByText("Accepted").first().waitFor();
  await dialog.getByText("Delivered", { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  expect(errors).toEqual([]);
});

test("deliveries of a programmatic webhook have the same screen, whose choice is in the address", async () => {
  const { id } = Programmatic.parse(
    await site.call("POST", "/webhooks/v1/programmatic", { webhookUrl: `${receiverUrl()}/app`, service: "overlay-service-v1" }),
  );
  await createOverlay();
  const { page, errors } = await site.open(browser, "/developers/deliveries", admin);
  // The request is sent once the deliveries of the site's own endpoint are gone from the screen.
  const answered = page.waitForResponse((response) => new URL(response.url()).searchParams.get("webhookId") === id);
  await page.getByLabel("Endpoint", { exact: true }).selectOption(id);
  await answered;
  await page.getByRole("button", { name: "Details of overlay.created" }).click();
  const dialog = page.getByRole("dialog", { name: "overlay.created" });
  await dialog.getByText(`${receiverUrl()}/app`, { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  expect(new URL(page.url()).searchParams.get("webhook")).toBe(id);
  await page.getByLabel("State").selectOption("failed");
  await page.getByText("No delivery is in this state.").waitFor();
  expect(errors).toEqual([]);
});
