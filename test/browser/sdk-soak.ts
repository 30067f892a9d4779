import { z } from "@hono/zod-openapi";
import type { Browser, CDPSession, Page } from "playwright-core";
import { MAX_SLOT_MS } from "#sdk/core/overlays.ts";
import { type Deployment, openHostPage, SITE } from "./sdk-page.ts";

const EVERY_MS = 50;
const HTML = "<p style='padding:12px 20px;border-radius:12px;background:#000c;color:#fff'>Overlay {{n}}</p>";

const Sent = z.object({ broadcasts: z.tuple([z.object({ broadcastId: z.string() })]) });
const Metrics = z.object({ metrics: z.array(z.object({ name: z.string(), value: z.number() })) });

declare global {
  interface Window {
    /** Long tasks since the last spell began; null between spells. */
    longTasks: number | null;
    /** Ids of the broadcasts that stood on the screen for a whole slot. */
    stood: Set<string>;
  }
}

/** What a page kept after a collection of garbage. */
interface Kept {
  /** Bytes. */
  heap: number;
  nodes: number;
}

export interface FastOutcome {
  sent: number;
  /** Broadcasts that no frame answered to have shown, and that did not get their whole slot for it. */
  unseen: string[];
  /** How many frames took longer than a whole slot to show theirs: the machine had no time for the page. */
  overdue: number;
  /** At the end of each spell. */
  kept: Kept[];
  /** Tasks of 50 ms and more while overlays came, and on a page beside it on which nothing happens. */
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
  /** How long each of them takes. */
  seconds: number;
}

/** Shows twenty overlays a second at one position, in spells, after each of which the page's garbage is collected and it is measured. */
export async function showFast({ browser, deployment, hostUrl, channelId, spells, seconds }: FastOptions): Promise<FastOutcome> {
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
  await page.evaluate(noteStanding, MAX_SLOT_MS);
  const outcome: FastOutcome = { sent: 0, unseen: [], overdue: 0, kept: [], longTasks: { ours: 0, idle: 0 }, problems };
  // One spell more than are judged: what is made once is made in it.
  for (let spell = 0; spell <= spells; spell++) {
    await Promise.all([page, idle].map(watchLongTasks));
    const ids = await sendFast(deployment, overlayId, channelId, seconds);
    const { unseen, overdue } = await unseenOf(page, ids);
    const [ours, others] = await Promise.all([page, idle].map(longTasksOf));
    await deployment.clear(channelId);
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    const [kept] = await Promise.all([keptBy(cdp), idleCdp.send("HeapProfiler.collectGarbage")]);
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

/** Ids of what the server acknowledged of one broadcast every 50 ms, whether or not the ones before have been answered. */
async function sendFast(deployment: Deployment, overlayId: string, channelId: string, seconds: number): Promise<string[]> {
  const answers: Promise<string[]>[] = [];
  async function send(n: number): Promise<string[]> {
    const answer = await deployment.post(`/overlay/v1/broadcast/${overlayId}`, { channelId, variables: { n } });
    return Sent.parse(answer).broadcasts.map(({ broadcastId }) => broadcastId);
  }
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (answers.length * EVERY_MS >= seconds * 1000) return resolve(clearInterval(timer));
      // Of a machine that has no time for the server, it is not the page's fault.
      answers.push(send(answers.length).catch(() => []));
    }, EVERY_MS);
  });
  return (await Promise.all(answers)).flat();
}

/** In the page: notes from now on what has stood on the screen for so many milliseconds. */
function noteStanding(slot: number): void {
  const event = window.Tifo.getTifoEventViewModel();
  const since = new Map<string, number>();
  window.stood = new Set();
  event?.subscribe(() => {
    const now = performance.now();
    const standing = new Set(event.getSnapshot().overlays.map(({ broadcastId }) => broadcastId));
    for (const [id, at] of since) {
      if (standing.has(id)) continue;
      since.delete(id);
      // The page counts its slots by another clock.
      if (now - at >= slot - 50) window.stood.add(id);
    }
    for (const id of standing) if (!since.has(id)) since.set(id, now);
  });
}

/** Waits until each of them was shown or has had its whole slot, and takes away what the page has noted. Those with neither are left over. */
async function unseenOf(page: Page, ids: string[]): Promise<{ unseen: string[]; overdue: number }> {
  await page
    .waitForFunction((sent) => {
      const shown = new Set(window.told.impressions.map(({ broadcastId }) => broadcastId));
      return sent.every((id) => shown.has(id) || window.stood.has(id));
    }, ids)
    .catch((error: unknown) => console.warn(error));
  const { shown, stood } = await page.evaluate(() => {
    const stood = [...window.stood];
    window.stood.clear();
    return { shown: window.told.impressions.splice(0).map(({ broadcastId }) => broadcastId), stood };
  });
  const notShown = ids.filter((id) => !shown.includes(id));
  const unseen = notShown.filter((id) => !stood.includes(id));
  return { unseen, overdue: notShown.length - unseen.length };
}

async function keptBy(cdp: CDPSession): Promise<Kept> {
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
