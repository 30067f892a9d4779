import { z } from "@hono/zod-openapi";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { KIT_TEMPLATES, type KitTemplateName } from "#worker/lib/schemas/overlay-kit/kit.ts";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { Deployment, openHostPage, serveHostPage, SITE } from "./sdk-page.ts";
import { longVariables } from "./sdk-kit-variables.ts";
import { createTestChannel, type SdkTestChannel } from "./sdk-test-channel.ts";
import { url } from "./test-server.ts";

const Kit = z.object({
  templates: z.array(
    z.object({
      name: z.enum(KIT_TEMPLATES),
      position: z.string(),
      sizes: z.array(z.object({ stageWidth: z.number(), stageHeight: z.number(), maxWidth: z.number(), maxHeight: z.number() })),
      sample: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    }),
  ),
});
type Template = z.output<typeof Kit>["templates"][number];

const Boxes = z.array(
  z.object({ id: z.string(), waits: z.boolean(), x: z.number(), y: z.number(), width: z.number(), height: z.number(), cut: z.boolean() }),
);
type Box = z.output<typeof Boxes>[number];

const SIZES = [
  [320, 180],
  [640, 360],
  [1280, 720],
  [1920, 1080],
] as const;
const EDGE = 16;
const SCORE = { homeName: "Harbour City", awayName: "Old Dock", homeScore: 1, awayScore: 0 };

const deployment = new Deployment(url);

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;
let target: SdkTestChannel;
let templates: Template[];

beforeAll(async () => {
  const listed = fetch(`${deployment.url}/overlay/v1/kit`, { headers: { "Tifo-Client-Id": SITE } });
  [browser, host, target] = await Promise.all([launchBrowser(), serveHostPage(deployment.url), createTestChannel(deployment)]);
  templates = Kit.parse(await (await listed).json()).templates;
});

afterEach(async () => {
  await deployment.clear(target.channelId);
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

/** Opens a page whose player fills the window. */
async function open(motion: "reduce" | "no-preference" = "reduce", token?: string): Promise<{ page: Page; problems: string[] }> {
  const opened = await openHostPage(
    browser,
    host.url,
    { channelId: target.channelId, ...(token !== undefined && { token }) },
    undefined,
    motion,
  );
  await opened.page.addStyleTag({
    content:
      "body { display: block !important } #panel { display: none } #player { width: 100vw; height: 100vh; aspect-ratio: auto !important }",
  });
  await opened.page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().connection === "live");
  return opened;
}

function show(elements: { template: string; variables: object; position?: string }[], priority = 0): Promise<void> {
  return deployment.broadcast(
    elements.map((element) => ({ kind: "kit", ...element })),
    { priority },
    target.channelId,
  );
}

/** Highlight and Canvas, as the theme defines them. */
function systemColors(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    ["Highlight", "Canvas"].map((name) => {
      const sample = document.body.appendChild(document.createElement("i"));
      sample.style.backgroundColor = name;
      const { backgroundColor } = getComputedStyle(sample);
      sample.remove();
      return backgroundColor;
    }),
  );
}

function colorOf(page: Page, part: string, pseudo?: string): Promise<string> {
  const first = page.locator(part).first();
  return first.evaluate((element, name) => getComputedStyle(element, name).backgroundColor, pseudo);
}

/** The boxes of all overlays, once they stay the same for three frames. */
async function boxesOf(page: Page): Promise<Box[]> {
  return Boxes.parse(
    await page.evaluate(async () => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const measure = () =>
        [...document.querySelectorAll<HTMLElement>(".tifo-overlay")].map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          const parts = [...element.querySelectorAll(".tk-slab, .tk-lower-third-body")];
          const cut = parts.some((part) => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1);
          return { id: element.dataset.position ?? "", waits: element.dataset.placed !== "yes", x, y, width, height, cut };
        });
      let same = 0;
      let before = "";
      while (same < 3) {
        await frame();
        const now = JSON.stringify(measure());
        same = now === before ? same + 1 : 0;
        before = now;
      }
      return measure();
    }),
  );
}

/** The box of the only overlay. */
async function settledBox(page: Page): Promise<Box> {
  const [box] = await boxesOf(page);
  if (!box) throw new Error("There is no overlay");
  return box;
}

function isInside({ x, y, width, height }: Box, stageWidth: number, stageHeight: number): boolean {
  return x >= EDGE - 1 && y >= EDGE - 1 && x + width <= stageWidth - EDGE + 1 && y + height <= stageHeight - EDGE + 1;
}

function overlap(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width - 1 &&
    other.x < one.x + one.width - 1 &&
    one.y < other.y + other.height - 1 &&
    other.y < one.y + one.height - 1
  );
}

describe("the kit", () => {
  test("shows every template within its announced size, whole, at four sizes and with short and very long variables", async () => {
    const { page, problems } = await open();
    const faults: string[] = [];
    for (const template of templates.filter(({ name }) => name !== "poll"))
      for (const [kind, variables] of Object.entries({ short: template.sample, long: longVariables(template.name) })) {
        await show([{ template: template.name, variables }]);
        await page.locator(`.tk-${template.name}`).waitFor();
        for (const { stageWidth, stageHeight, maxWidth, maxHeight } of template.sizes) {
          await page.setViewportSize({ width: stageWidth, height: stageHeight });
          const [box] = await boxesOf(page);
          const fits = box && isInside(box, stageWidth, stageHeight) && box.width <= maxWidth + 1 && box.height <= maxHeight + 1;
          if (!fits || box.cut || box.waits)
            faults.push(`${template.name} ${stageWidth} ${kind}: ${JSON.stringify({ box, maxWidth, maxHeight })}`);
        }
        await deployment.clear(target.channelId);
        await page.locator(".tifo-overlay").waitFor({ state: "detached" });
      }
    expect(faults).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("places four overlays at once without overlap at every size, and the most important one always", async () => {
    const { page } = await open();
    const names: KitTemplateName[] = ["lower-third", "chat-message", "sponsor", "scorebug"];
    for (const [priority, name] of names.entries()) {
      const template = templates.find((one) => one.name === name);
      if (template) await show([{ template: name, variables: longVariables(name) }], priority);
      await page.locator(`.tk-${name}`).waitFor({ state: "attached" });
    }
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      const visible = (await boxesOf(page)).filter(({ waits }) => !waits);
      expect(
        visible.map(({ id }) => id),
        `${width}`,
      ).toContain("topLeft");
      for (const [index, box] of visible.entries()) {
        expect(isInside(box, width, height), `${box.id} at ${width}`).toBe(true);
        expect(
          visible.slice(index + 1).some((other) => overlap(box, other)),
          `${box.id} at ${width}`,
        ).toBe(false);
      }
      if (width >= 1280) expect(visible).toHaveLength(4);
    }
  });

  test("updates a scorebug in place, and keeps it hidden once the viewer has hidden it", async () => {
    const { page } = await open();
    const contents = [{ kind: "kit", template: "scorebug" }];
    const overlay = { siteId: SITE, name: "Score", description: "Score", type: "template", duration: 600, contents };
    const id = await deployment.create("/overlay/v1/", overlay);
    const send = (homeScore: number) =>
      deployment.post(`/overlay/v1/broadcast/${id}`, { channelId: target.channelId, variables: { ...SCORE, homeScore } });
    await send(1);
    const bug = page.locator(".tk-scorebug");
    await bug.getByText("1", { exact: true }).waitFor();
    await bug.evaluate((element) => element.setAttribute("data-first", "true"));
    await send(2);
    await page.locator(".tk-scorebug[data-first]").getByText("2", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Hide overlay" }).click();
    await bug.waitFor({ state: "detached" });
    await send(3);
    await page.waitForFunction(() => window.Tifo.getTifoEventViewModel()?.getSnapshot().overlays.length === 0);
    expect(await bug.count()).toBe(0);
  });

  test("can be hidden by keyboard, and reports one impression per broadcast", async () => {
    const { page } = await open();
    await show([{ template: "goal", variables: { playerName: "Ada Moreno" } }]);
    await page.getByRole("region", { name: "Goal" }).waitFor();
    await page.getByRole("button", { name: "Hide overlay" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
    expect(await page.evaluate(() => window.recorded.impressions.filter(({ kind }) => kind === "overlay").length)).toBe(1);
  });

  test("moves to another position without entering anew", async () => {
    const { page } = await open("no-preference");
    const create = (position: string) => {
      const contents = [{ kind: "kit", template: "lower-third", key: "guest", position, variables: { name: position } }];
      return deployment.create("/overlay/v1/", { siteId: SITE, name: "Guest", description: "", type: "template", duration: 600, contents });
    };
    const [first, second] = [await create("bottomLeft"), await create("topRight")];
    const send = (id: string) => deployment.post(`/overlay/v1/broadcast/${id}`, { channelId: target.channelId });
    await send(first);
    await page.locator(".tk-lower-third").getByText("bottomLeft").waitFor();
    await page.evaluate(async () => {
      const piece = document.querySelector(".tk-lower-third");
      piece?.setAttribute("data-first", "true");
      // Its parts enter one after the other.
      const running = piece?.getAnimations({ subtree: true }) ?? [];
      const entrances = running.filter((each) => each instanceof CSSAnimation && each.animationName === "tk-in");
      await Promise.all(entrances.map(({ finished }) => finished));
      document.addEventListener("animationstart", ({ animationName }) => {
        if (animationName === "tk-in") document.body.dataset.entered = "again";
      });
    });
    await send(second);
    await page.locator(".tk-lower-third[data-first]").getByText("topRight").waitFor();
    const corner = async (): Promise<number[]> => {
      const { x, y, width } = await settledBox(page);
      return [Math.round(x + width), Math.round(y)];
    };
    await expect.poll(corner).toEqual([1280 - 18, 18]);
    expect(await page.locator("body").getAttribute("data-entered")).toBeNull();
  });

  test("counts as seen only when there is room for it, and takes its place once there is", async () => {
    const { page } = await open();
    await page.setViewportSize({ width: 320, height: 180 });
    const players = Array.from({ length: 11 }, (_, index) => `${index + 1} Player`).join("\n");
    await show([{ template: "line-up", variables: { teamName: "Harbour City", players } }], 5);
    await page.locator(".tifo-overlay[data-placed=yes] .tk-line-up").waitFor();
    await show([{ template: "goal", variables: { playerName: "Ada Moreno" } }]);
    await page.locator(".tifo-overlay[data-placed=waiting] .tk-goal").waitFor({ state: "attached" });
    const seen = () => page.evaluate(() => window.recorded.impressions.filter(({ kind }) => kind === "overlay").length);
    expect(await seen()).toBe(1);
    await page.setViewportSize({ width: 1280, height: 1280 });
    await page.locator(".tifo-overlay[data-placed=yes] .tk-goal").waitFor();
    expect(await seen()).toBe(2);
  });

  test("gives way to the player's controls", async () => {
    const { page } = await open();
    await show([{ template: "goal", variables: { playerName: "Ada Moreno" } }]);
    await page.locator(".tk-goal").waitFor();
    const before = await settledBox(page);
    await page.evaluate(() => window.overlay.setSafeArea({ top: 18, right: 18, bottom: 118, left: 18 }));
    expect((await settledBox(page)).y).toBeCloseTo(before.y - 100, 0);
    await page.evaluate(() => window.overlay.setSafeArea(undefined));
    expect((await settledBox(page)).y).toBeCloseTo(before.y, 0);
  });

  test("has a poll that is answered on the overlay, by keyboard too, and whose bars move", async () => {
    const { page, problems } = await open("reduce", await deployment.signIn());
    await show([{ template: "poll", variables: { pollId: target.pollId } }]);
    const poll = page.locator(".tk-poll");
    await poll.getByText("Who scores next?").waitFor();
    await page.waitForFunction((id) => window.recorded.impressions.some((one) => one.kind === "poll" && one.id === id), target.pollId);
    await poll.getByRole("button", { name: "Old Dock" }).focus();
    await page.keyboard.press("Enter");
    await poll.getByRole("button", { name: "Old Dock", pressed: true }).waitFor();
    await poll.getByText("100%").waitFor();
    expect(problems).toEqual([]);

    // A contrast theme hides the colours of bars and borders.
    await page.emulateMedia({ forcedColors: "active" });
    const outline = (pressed: boolean) =>
      poll
        .getByRole("button", { pressed })
        .first()
        .evaluate((element) => getComputedStyle(element).outlineStyle);
    await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
    expect([await outline(true), await outline(false)]).toEqual(["solid", "none"]);
    const [highlight] = await systemColors(page);
    expect(await colorOf(page, '.tk-poll-answer[aria-pressed="true"]', "::before")).toBe(highlight);
  });

  test.each<[template: KitTemplateName, part: string, pseudo?: string]>([
    ["scorebug", ".tk-scorebug-team", "::before"],
    ["card", ".tk-card-picture i"],
    ["goal", ".tk-crest"],
    ["final-result", ".tk-final-result-bars i"],
    ["final-result", ".tk-final-result-score i"],
    ["sponsor", ".tk-sponsor-logo"],
    ["breaking-news", ".tk-breaking-news-label", "::before"],
  ])("shows in a contrast theme what only a colour shows: %s, %s", async (template, part, pseudo) => {
    const { page } = await open();
    await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
    const { sample } = templates.find(({ name }) => name === template) ?? expect.unreachable();
    await show([{ template, variables: template === "sponsor" ? { ...sample, image: "https://demo.example/logo.png" } : sample }]);
    await page.locator(part).first().waitFor();
    const [, canvas] = await systemColors(page);
    expect(await colorOf(page, part, pseudo)).not.toBe(canvas);
  });

  test("is laid out from right to left for Arabic, and moves only with motion allowed", async () => {
    const { page } = await open();
    await show([{ template: "lower-third", variables: { name: "ميرا كاستيانوس", role: "المدربة" } }]);
    const piece = page.locator(".tk-lower-third");
    await piece.waitFor();
    expect(await piece.evaluate((element) => getComputedStyle(element).direction)).toBe("rtl");
    expect(await piece.evaluate((element) => getComputedStyle(element).animationName)).toBe("none");
  });

  test("has no accessibility violations in either mode", async () => {
    const { page } = await open();
    for (const look of ["light", "dark"])
      for (const { name, sample } of templates.filter((template) => template.name !== "poll")) {
        await show([{ template: name, variables: { ...sample, look } }]);
        await page.locator(`.tk-${name}`).waitFor();
        expect(await axeViolations(page, { within: ".tifo" }), `${name} ${look}`).toEqual([]);
        await deployment.clear(target.channelId);
        await page.locator(".tifo-overlay").waitFor({ state: "detached" });
      }
  });
});
