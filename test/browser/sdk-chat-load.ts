import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { type ChatPage, conversation, openChat } from "./sdk-chat-page.ts";
import { measureMemory } from "./sdk-soak.ts";

/** Messages a second, in as many batches as a room sends at most. */
const RATE = 50;
const BATCHES = 4;
/** A phone's CPU against this machine's. */
const THROTTLING = 4;
/** Time until the panel holds as many messages as it keeps, in seconds. */
const WARM_UP_SECONDS = 15;
const EMOJI = ["👍", "❤️", "😂"];

export interface Viewer {
  name: string;
  scrolled?: boolean;
  moderator?: boolean;
}

export interface Figures {
  /** Milliseconds of each task of 50 ms and more. */
  longTasks: number[];
  frames: number;
  /** The longest time between two frames, ms. */
  pause: number;
  /** Bytes, after a garbage collection. */
  heap: [before: number, after: number];
  nodes: number;
}

/** Opens the chat as a viewer on a throttled CPU, and measures the page while a busy room talks. */
export async function watch(
  browser: Browser,
  url: string,
  { scrolled = false, moderator = false }: Viewer,
  seconds: number,
): Promise<Figures> {
  const context = { viewport: { width: 375, height: 667 }, hasTouch: true };
  const chat = await openChat(browser, url, { context, settings: { moderator, emoji: EMOJI } });
  const { page } = chat;
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable");
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: THROTTLING });
  const room = new Room(chat);
  await room.talk(WARM_UP_SECONDS);
  if (scrolled) await scrollUp(page);
  const before = await measureMemory(cdp);
  await page.evaluate(observe);
  await room.talk(seconds);
  const observed = await page.evaluate(() => window.chatFigures);
  const after = await measureMemory(cdp);
  await page.context().close();
  return { ...observed, heap: [before.heap, after.heap], nodes: after.nodes };
}

/** A room in which many talk, react and reply. */
class Room {
  readonly #chat: ChatPage;
  readonly #lines = conversation(RATE * 120);
  #seq = 0;
  #revision = 0;

  constructor(chat: ChatPage) {
    this.#chat = chat;
  }

  async talk(seconds: number): Promise<void> {
    const started = performance.now();
    const from = this.#seq;
    for (let batch = 1; batch <= seconds * BATCHES; batch++) {
      await sleep(Math.max(0, started + (batch * 1000) / BATCHES - performance.now()));
      const until = from + Math.round((batch * RATE) / BATCHES);
      this.#chat.batch(this.#lines.slice(this.#seq, until), until);
      this.#seq = until;
      this.#react();
    }
  }

  /** Somebody reacts to one of the latest messages. */
  #react(): void {
    const line = this.#lines[this.#seq - 1 - (this.#revision % 5)];
    if (!line) return;
    const emoji = EMOJI[this.#revision % EMOJI.length] ?? "";
    line.reactions = { ...line.reactions, [emoji]: (line.reactions[emoji] ?? 0) + 1 };
    this.#chat.tell({ type: "chat.updated", messages: [line], revision: ++this.#revision });
  }
}

async function scrollUp(page: Page): Promise<void> {
  await page.locator(".tifo-chat-list").hover();
  await page.mouse.wheel(0, -600);
  await page.locator(".tifo-chat-latest").waitFor();
}

declare global {
  interface Window {
    chatFigures: Pick<Figures, "longTasks" | "frames" | "pause">;
  }
}

/** In the page: counts frames and long tasks. */
function observe(): void {
  const longTasks: number[] = [];
  const figures = { longTasks, frames: 0, pause: 0 };
  window.chatFigures = figures;
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
    type: "longtask",
  });
  let last = performance.now();
  requestAnimationFrame(function count(now) {
    figures.frames++;
    figures.pause = Math.max(figures.pause, now - last);
    last = now;
    requestAnimationFrame(count);
  });
}
