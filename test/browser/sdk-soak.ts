import { z } from "@hono/zod-openapi";
import type { Browser, CDPSession, Page } from "playwright-core";
import { MAX_SLOT_MS } from "#sdk/core/overlays.ts";
import { type Deployment, openHostPage, SITE } from "./sdk-page.ts";

const INTERVAL_MS = 50;
const HTML = "<p style='padding:12px 20px;border-radius:12px;background:#000c;color:#fff'>Overlay {{n}}</p>";

const Sent = z.object({ broadcasts: z.tuple([z.object({ broadcastId: z.string() })]) });
const Metrics = z.object({ metrics: z.array(z.object({ name: z.string(), value: z.number() })) });

declare global {
  interface Window {
    /** Long tasks since the start of the burst; null between bursts. */
    longTasks: number | null;
    /** Ids of the broadcasts that were on the screen for a full slot. */
    fullSlot: Set<string>;
  }
}

export interface Memory {
  /** Bytes. */
  heap: number;
  nodes: number;
}

export interface FastOutcome {
  sent: number;
  /** Broadcasts that weren't reported as shown and didn't get their full slot. */
  unseen: string[];
  /** Broadcasts that took longer than a full slot to show, because the machine was too busy. */
  overdue: number;
  /** After each burst. */
  kept: Memory[];
  /** Tasks of 50 ms and more during the bursts, on the page and on an idle page next to it. */
  longTasks: { ours: number; idle: number };
  /** Errors of the page. */
  problems: string[];
}

export interface FastOptions {
  browser: Browser;
  deployment: Deployment;
  hostUrl: string;
  channelId: string;
  spells: number;
  /** Duration of each burst. */
  seconds: number;
}

/** Shows twenty overlays a second at one position, in bursts, and measures the page's memory after each of them. */
export async function showRapidOverlays({ browser, deployment, hostUrl, channelId, spells, seconds }: FastOptions): Promise<FastOutcome> {
  const { page, problems } = await openHostPage(browser, hostUrl, { channelId });
  const idle = await browser.newPage();
  await idle.goto(hostUrl);
  await page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
  const overlayId = await deployment.create("/overlay/v1/", {
    siteId: SITE,
    ...{ name: "Fast", description: "Fast", type: "template", duration: 60 },
    contents: [{ kind: "html", html: HTML, position: "bottomLeft" }],
  });
  const [cdp, idleCdp] = [await page.context().newCDPSession(page), await idle.context().newCDPSession(idle)];
  await cdp.send("Performance.enable");
  await page.evaluate(recordFullSlots, MAX_SLOT_MS);
  const outcome: FastOutcome = { sent: 0, unseen: [], overdue: 0, kept: [], longTasks: { ours: 0, idle: 0 }, problems };
  // The first burst isn't measured, because it includes one-time allocations.
  for (let spell = 0; spell <= spells; spell++) {
    await Promise.all([page, idle].map(watchLongTasks));
    const ids = await sendFast(deployment, overlayId, channelId, seconds);
    const { unseen, overdue } = await unseenOf(page, ids);
    const [ours, others] = await Promise.all([page, idle].map(longTasksOf));
    await deployment.clear(channelId);
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    const [kept] = await Promise.all([measureMemory(cdp), idleCdp.send("HeapProfiler.collectGarbage")]);
    if (spell === 0) continue;
    outcome.sent += ids.length;
    outcome.unseen.push(...unseen);
    outcome.overdue += overdue;
    outcome.kept.push(kept);
    outcome.longTasks.ours += ours ?? 0;
    outcome.longTasks.idle += others ?? 0;
  }
  await Promise.all([page.close(), idle.close()]);
  return outcome;
}

/** Sends a broadcast every 50 ms, without waiting for earlier responses; returns the ids of the acknowledged ones. */
async function sendFast(deployment: Deployment, overlayId: string, channelId: string, seconds: number): Promise<string[]> {
  const responses: Promise<string[]>[] = [];
  async function send(n: number): Promise<string[]> {
    const response = await deployment.post(`/overlay/v1/broadcast/${overlayId}`, { channelId, variables: { n } });
    return Sent.parse(response).broadcasts.map(({ broadcastId }) => broadcastId);
  }
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (responses.length * INTERVAL_MS >= seconds * 1000) return resolve(clearInterval(timer));
      // A server that is too slow isn't the page's fault.
      responses.push(send(responses.length).catch(() => []));
    }, INTERVAL_MS);
  });
  return (await Promise.all(responses)).flat();
}

/** In the page: records which broadcasts were on the screen for a full slot. */
function recordFullSlots(slot: number): void {
  const event = window.Tifo.getTifoEventViewModel();
  const since = new Map<string, number>();
  window.fullSlot = new Set();
  event?.subscribe(() => {
    const now = performance.now();
    const visible = new Set(event.getSnapshot().overlays.map(({ broadcastId }) => broadcastId));
    for (const [id, at] of since) {
      if (visible.has(id)) continue;
      since.delete(id);
      // Allow for the page's own clock, which differs slightly.
      if (now - at >= slot - 50) window.fullSlot.add(id);
    }
    for (const id of visible) if (!since.has(id)) since.set(id, now);
  });
}

/** Waits until each broadcast was shown or had its full slot, and resets the page's records. Returns those with neither. */
async function unseenOf(page: Page, ids: string[]): Promise<{ unseen: string[]; overdue: number }> {
  await page
    .waitForFunction((sent) => {
      const shown = new Set(window.recorded.impressions.map(({ broadcastId }) => broadcastId));
      return sent.every((id) => shown.has(id) || window.fullSlot.has(id));
    }, ids)
    .catch((error: unknown) => console.warn(error));
  const { shown, fullSlot } = await page.evaluate(() => {
    const fullSlot = [...window.fullSlot];
    window.fullSlot.clear();
    return { shown: window.recorded.impressions.splice(0).map(({ broadcastId }) => broadcastId), fullSlot };
  });
  const notShown = ids.filter((id) => !shown.includes(id));
  const unseen = notShown.filter((id) => !fullSlot.includes(id));
  return { unseen, overdue: notShown.length - unseen.length };
}

/** The page's memory after a garbage collection; requires `Performance.enable`. */
export async function measureMemory(cdp: CDPSession): Promise<Memory> {
  await cdp.send("HeapProfiler.collectGarbage");
  const { metrics } = Metrics.parse(await cdp.send("Performance.getMetrics"));
  const value = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  return { heap: value("JSHeapUsedSize"), nodes: value("Nodes") };
}

async function watchLongTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.longTasks = 0;
    new PerformanceObserver((list, observer) => {
      if (window.longTasks === null) return observer.disconnect();
      window.longTasks += list.getEntries().length;
    }).observe({ type: "longtask" });
  });
}

async function longTasksOf(page: Page): Promise<number> {
  return page.evaluate(() => {
    const count = window.longTasks ?? 0;
    window.longTasks = null;
    return count;
  });
}
