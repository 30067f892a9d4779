import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { z } from "@hono/zod-openapi";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { url } from "./test-server.ts";

const CHANNEL_ID = "5eed0000000000000000c001";
const KEYS = { "Tifo-Client-Id": "5eed00000000000000000001", "Tifo-Developer-Key": "tifo_dev_demo" };

const Created = z.object({ _id: z.string() });
const Broadcasts = z.object({ broadcasts: z.tuple([z.object({ broadcastId: z.string() })]) });

let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

beforeEach(async () => {
  context = await browser.newContext();
});

afterEach(() => context.close());

/** Opens a tab and waits until it has joined the live channel. */
async function openStart(): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${url}/start`);
  await page.locator("[data-state=live]").waitFor();
  return page;
}

async function seesViewers(page: Page, count: number): Promise<void> {
  await page.locator("[data-viewers]").getByText(String(count), { exact: true }).waitFor();
}

async function post(path: string, body: unknown): Promise<unknown> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...KEYS, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const json: unknown = await response.json();
  expect(response.ok, JSON.stringify(json)).toBe(true);
  return json;
}

/** Creates an overlay with one element and broadcasts it to the demo channel. */
async function broadcast(content: object): Promise<void> {
  const created = await post("/overlay/v1/", {
    siteId: KEYS["Tifo-Client-Id"],
    name: "Test",
    description: "Test",
    type: "template",
    duration: 3600,
    contents: [{ ...content, position: "topRight" }],
  });
  await post(`/overlay/v1/broadcast/${Created.parse(created)._id}`, { channelId: CHANNEL_ID });
}

describe("the live channel", () => {
  test("shows what its button broadcasts until it is cleared", async () => {
    const page = await openStart();
    await seesViewers(page, 1);
    // The demo's own duration may end before a busy machine has rendered the overlay.
    await page.route("**/overlay/v1/broadcast/**", (route) => {
      const body: unknown = route.request().postDataJSON();
      return route.continue({ postData: Object.assign({}, body, { duration: 3600 }) });
    });
    const broadcastResponse = page.waitForResponse((response) => response.url().includes("/overlay/v1/broadcast/"));
    await page.getByRole("button", { name: "Broadcast the demo overlay" }).click();
    const { broadcastId } = Broadcasts.parse(await (await broadcastResponse).json()).broadcasts[0];
    const container = page.locator(`[data-broadcast="${broadcastId}"]`);
    await container.locator(".tk-goal").getByText("Ada Moreno").waitFor();
    await page.getByText(/ms after the press/).waitFor();
    await post(`/overlay/v1/clear-broadcast/${CHANNEL_ID}`, {});
    await container.waitFor({ state: "detached" });
  });

  test("counts a second tab while it is open", async () => {
    const first = await openStart();
    await seesViewers(first, 1);
    const second = await openStart();
    await seesViewers(first, 2);
    await seesViewers(second, 2);
    await second.close();
    await seesViewers(first, 1);
  });

  test("shows the html of an overlay until it is cleared, without running a script in it", async () => {
    const page = await openStart();
    const blocked = page.waitForEvent("console", (message) => message.text().includes("inline event handler violates"));
    const attack = "document.body.id = 'ran'; parent.document.body.id = 'ran'";
    await broadcast({ kind: "html", html: `<b>Held</b><script>${attack}</script><img src="data:," onerror="${attack}">` });
    await blocked;
    const frame = page.frameLocator(".tifo-overlay-frame");
    await frame.getByText("Held").waitFor();
    expect(await frame.locator("body").getAttribute("id")).toBeNull();
    expect(await page.locator("body").getAttribute("id")).toBeNull();
    expect(await page.locator(".tifo-overlay-frame").getAttribute("sandbox")).toBe("allow-scripts");
    expect(await frame.locator("body").evaluate("origin")).toBe("null");
    await post(`/overlay/v1/clear-broadcast/${CHANNEL_ID}`, {});
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
  });

  test("renders animations with the deployment's own runtime", async () => {
    const form = new FormData();
    form.set("file", new File(["RIVE\x07\0 and nothing more"], "goal.riv"));
    const response = await fetch(`${url}/media/v1/`, { method: "POST", headers: KEYS, body: form });
    const { _id } = Created.parse(await response.json());
    const page = await openStart();
    const runtime = page.waitForResponse((response) => response.url().endsWith("/rive.wasm") && response.ok());
    await broadcast({ kind: "rive", mediaId: _id, fileName: "goal.riv" });
    await Promise.all([page.getByRole("img", { name: "goal.riv" }).waitFor(), runtime]);
    expect(await page.locator(".crash").count()).toBe(0);
    await post(`/overlay/v1/clear-broadcast/${CHANNEL_ID}`, {});
    await page.locator(".tifo-overlay").waitFor({ state: "detached" });
  });
});

test("loads every page without errors or requests to other hosts", async () => {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("request", (request) => /^https?:/.test(request.url()) && !request.url().startsWith(url) && problems.push(request.url()));
  for (const path of ["/", "/start", "/api/key", "/api/rest"]) {
    await page.goto(url + path, { waitUntil: "networkidle" });
    await page.locator("h1").first().waitFor({ state: "attached" });
  }
  // The explorer loads on the first interaction.
  await page.keyboard.press("Tab");
  await page.getByRole("heading", { name: "Content API" }).waitFor();
  expect(problems).toEqual([]);
});

/** Runs what a reader would paste; stops at an error response. */
async function runShell(code: string): Promise<{ exitCode: number | null; output: string }> {
  const script = `set -eo pipefail\n${code}`.replaceAll("curl -s ", "curl -sS --fail-with-body ");
  const run = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [run.stdout, run.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await once(run, "close");
  return { exitCode: run.exitCode, output };
}

test("the tour in the README prints what it says", async () => {
  const readme = await readFile(join(import.meta.dirname, "../../README.md"), "utf8");
  const [, tour = ""] = /## Tour[^]*?```sh\n([^]*?)```/.exec(readme) ?? [];
  expect(tour).toContain("http://localhost:8787");
  const { exitCode, output } = await runShell(tour.replaceAll("http://localhost:8787", url));
  expect(exitCode, output).toBe(0);
  for (const expected of [
    '"refreshToken":',
    '"type":"welcome"',
    "Corner for Harbour City",
    `"siteId":"${KEYS["Tifo-Client-Id"]}","concurrents":`,
    '"type":"overlay.clear"',
    '"type":"overlay.broadcast"',
  ])
    expect(output).toContain(expected);
});

test("the recorded match is played to its end", async () => {
  const { port } = new URL(url);
  const child = spawn(process.execPath, ["--no-warnings", "scripts/demo-match.ts", "--speed", "500", "--supporters", "12"], {
    env: { ...process.env, PORT: port },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, problems] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  expect([child.exitCode, problems]).toEqual([0, ""]);
  expect(output).toContain("90′  Full time: Harbour City 2–1 Old Dock");
  // On a slow machine, some vote too late.
  expect(output).toMatch(/The prediction is settled: Harbour City win \d+, A draw \d+, Old Dock win \d+, of \d+\n/);
  expect(output).toMatch(
    /The quest is over: \d+ of \d+ were right\. .+ won the shirt, in a draw of \d+\.|The quest is over: nobody was right\./,
  );
  expect(output).not.toContain("ended early");
});

describe("the samples of the getting-started page", () => {
  let samples: { language: string; code: string }[];

  beforeEach(async () => {
    const page = await context.newPage();
    await page.goto(`${url}/start`);
    const blocks = await page.locator("figure:has(pre[data-language])").all();
    samples = await Promise.all(
      blocks.map(async (block) => ({
        language: (await block.locator("pre").getAttribute("data-language")) ?? "",
        // The copy button contains the sample as it is pasted, with line breaks as U+007F.
        code: ((await block.locator("button[data-code]").getAttribute("data-code")) ?? "").replaceAll("\u007f", "\n"),
      })),
    );
    samples = samples.map(({ language, code }) => ({ language, code: code.replaceAll("localhost:8787", new URL(url).host) }));
  });

  test("work in one shell from top to bottom", async () => {
    const endless = /npm start|curl -N/;
    const shell = samples.filter(({ language, code }) => language === "sh" && !endless.test(code)).map(({ code }) => code);
    expect(shell.length).toBeGreaterThan(4);
    const { exitCode, output } = await runShell(shell.join("\n"));
    expect(exitCode, output).toBe(0);
  });

  test.each([
    ["the WebSocket", "js", [process.execPath, "--input-type=module", "-e"]],
    ["Server-Sent Events", "sh", ["bash", "-c"]],
  ])("receive a welcome over %s", async (_name, language, [program = "", ...options]) => {
    const sample = samples.find((one) => one.language === language && (language === "js" || one.code.startsWith("curl -N")));
    const run = spawn(program, [...options, `${language === "sh" ? "exec " : ""}${sample?.code ?? ""}`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: run.stdout })) {
      lines.push(line);
      if (line.includes('"type":"welcome"')) break;
    }
    run.kill();
    expect(lines.at(-1)).toContain('"type":"welcome"');
  });
});
