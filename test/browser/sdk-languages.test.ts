import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { launchBrowser } from "./browser.ts";
import { Deployment, openHostPage, serveHostPage, SITE, type StartOptions } from "./sdk-page.ts";
import { url } from "./test-server.ts";

const deployment = new Deployment(url);
const PHONE = { width: 375, height: 812 };

let browser: Browser;
let host: Awaited<ReturnType<typeof serveHostPage>>;
let token: string;

beforeAll(async () => {
  [browser, host, token] = await Promise.all([launchBrowser(), serveHostPage(deployment.url), deployment.signIn()]);
  // Overlays of the demo channel that other tests have left there.
  await deployment.clear();
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
});

afterAll(async () => {
  host.close();
  await browser.close();
});

async function open(options: StartOptions): Promise<{ page: Page; problems: string[] }> {
  return openHostPage(browser, host.url, options, PHONE);
}

const openTab = (page: Page, name: string) => page.getByRole("tab", { name }).click();

describe("the panels", () => {
  test("speak the language of the option, loaded from the release", async () => {
    const { page, problems } = await open({ language: "de", token });
    await openTab(page, "Ask the bench");
    await page.getByRole("button", { name: "Fragen", exact: true }).waitFor();
    expect(await page.locator("#panel .tifo").getAttribute("lang")).toBe("de");
    expect(problems).toEqual([]);
  });

  test("are mirrored in Arabic, without wider contents than a phone", async () => {
    const { page, problems } = await open({ language: "ar", token });
    const panel = page.locator("#panel .tifo");
    await expect.poll(() => panel.getAttribute("dir")).toBe("rtl");
    const [first, second] = await Promise.all([page.getByRole("tab").nth(0).boundingBox(), page.getByRole("tab").nth(1).boundingBox()]);
    expect(first?.x).toBeGreaterThan(second?.x ?? Infinity);
    for (const name of await page.getByRole("tab").allInnerTexts()) {
      await openTab(page, name);
      expect.soft(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(PHONE.width);
    }
    expect(problems).toEqual([]);
  });

  test("keep the punctuation of English texts at their end in Arabic", async () => {
    const { page } = await open({ language: "ar", token });
    await expect.poll(() => page.locator("#panel .tifo").getAttribute("dir")).toBe("rtl");
    const shown = [
      ["Match predictor", "Who wins the derby?"],
      ["Line-up", "Eleven goals this season."],
    ] as const;
    for (const [name, text] of shown) {
      await openTab(page, name);
      await page.getByText(text).waitFor();
      const { texts, misplaced } = await page.evaluate(endsOfEnglishTexts, "#panel .tifo-panel-content");
      expect(texts, name).toBeGreaterThan(0);
      expect(misplaced, name).toEqual([]);
    }
  });

  test("move between tabs by the arrow that points there", async () => {
    const { page } = await open({ language: "ar" });
    await expect.poll(() => page.locator("#panel .tifo").getAttribute("dir")).toBe("rtl");
    const selected = () => page.locator(".tifo-tabs [aria-selected=true]").innerText();
    const before = await selected();
    await page.locator(".tifo-tabs [aria-selected=true]").focus();
    await page.keyboard.press("ArrowLeft");
    expect(await selected()).not.toBe(before);
    await page.keyboard.press("ArrowRight");
    expect(await selected()).toBe(before);
  });

  test("for a segment are shown to its members only", async () => {
    const [{ page: member }, { page: stranger }] = await Promise.all([open({ token }), open({})]);
    await member.getByRole("tab", { name: "Gold lounge" }).waitFor();
    await stranger.getByRole("tab", { name: "Match chat" }).waitFor();
    expect(await stranger.getByRole("tab", { name: "Gold lounge" }).count()).toBe(0);
  });
});

/** The Latin texts that end with punctuation, and those of them whose last character isn't to the right of the one before. */
function endsOfEnglishTexts(selector: string): { texts: number; misplaced: string[] } {
  const walker = document.createTreeWalker(document.querySelector(selector) ?? document.body, NodeFilter.SHOW_TEXT);
  const misplaced: string[] = [];
  let texts = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.nodeValue ?? "";
    if (!/^[A-Za-z].*[A-Za-z][.?!]$/.test(text)) continue;
    const [before, last] = [2, 1].map((back) => {
      const range = document.createRange();
      range.setStart(node, text.length - back);
      range.setEnd(node, text.length - back + 1);
      return range.getBoundingClientRect();
    });
    if (!before || !last || last.width === 0) continue;
    texts++;
    if (last.left < before.right - 1) misplaced.push(text);
  }
  return { texts, misplaced };
}

test("an overlay in Arabic ends its sentences on the left, whatever the language of the page", async () => {
  const { page } = await open({});
  await deployment.broadcast([{ kind: "html", html: '<p id="line">هدف للمدينة!</p>', position: "topCenter" }]);
  const frame = page.frameLocator(".tifo-overlay-frame");
  await frame.locator("#line").waitFor();
  const places = await frame.locator("#line").evaluate((line) => {
    const at = (index: number) => {
      const range = document.createRange();
      range.setStart(line.firstChild ?? line, index);
      range.setEnd(line.firstChild ?? line, index + 1);
      return range.getBoundingClientRect().left;
    };
    const { length } = line.textContent;
    return { first: at(0), last: at(length - 1) };
  });
  await deployment.clear();
  expect(places.last).toBeLessThan(places.first);
});

const Site = z.looseObject({ name: z.string(), settings: z.record(z.string(), z.unknown()), style: z.record(z.string(), z.unknown()) });
const HOSTILE = `<p class="sponsor" onclick="alert(1)" style="position:fixed;inset:0" id="player">Presented by
  <a href="https://demo.example/ferries">Harbour Ferries</a> <a href="javascript:alert(1)">x</a></p>
  <p class="cover-page">Everywhere</p>
  <script>document.title = "taken"</script><style>body { display: none }</style><img src="x" onerror="document.title = 'taken'">
  <form action="https://evil.example"><input name="password"></form><iframe src="https://evil.example"></iframe>
  <iframe srcdoc="<script>parent.document.title = 'taken'</script>"></iframe><base href="https://evil.example/">
  <meta http-equiv="refresh" content="0;url=https://evil.example/"><link rel="stylesheet" href="https://evil.example/a.css">
  <svg onload="document.title = 'taken'"><script>document.title = "taken"</script><a xlink:href="javascript:alert(1)">x</a></svg>
  <form><math><mtext></form><form><mglyph><style></math><img src onerror="document.title = 'taken'"></style></form>
  <template shadowrootmode="open"><img src="x" onerror="document.title = 'taken'"></template>
  <noscript><p title="</noscript><img src=x onerror=document.title='taken'>"></noscript>
  <a href="java\tscript:alert(1)">a</a> <a href="java&#x0A;script:alert(1)">b</a> <a href="\u0001javascript:alert(1)">c</a>
  <a href="//evil.example">d</a> <a href="/\\evil.example">e</a> <a href="data:text/html,x">f</a>
  <img srcset="https://demo.example/a.png 1x, http://evil.example/b.png 2x" alt=""><img src="http://evil.example/c.png" alt="">
  <div role="dialog" aria-modal="true">Sign in</div><fieldset><legend>Sign in</legend></fieldset>
  <math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=document.title='taken'&gt;"></table></mtext></math>`;

describe("the site's own HTML", () => {
  test("is inserted where the page asks for it, without anything that runs, covers or imitates", async () => {
    const site = await readSite();
    await writeSite(site, { ...site.settings, code_injection: { body: HOSTILE } });
    const { page } = await open({ siteHtml: true });
    await page.getByText("Presented by").waitFor();
    const html = await page.locator("#site-html").innerHTML();
    const parts = ["script", "onclick", "onerror", "onload", "javascript:", "form", "input", "frame", "id=", "evil.example", "svg", "math"];
    for (const part of [
      ...parts,
      "base",
      "meta",
      "link ",
      "template",
      "noscript",
      "srcset",
      "role",
      "aria-",
      "fieldset",
      "legend",
      "data:",
    ])
      expect.soft(html).not.toContain(part);
    // The only style is that of the box, which even the page's own classes don't make it leave.
    expect(html.match(/style/g)).toHaveLength(1);
    await page.addStyleTag({ content: ".cover-page { position: fixed; inset: 0; margin: 0; z-index: 9999 }" });
    const [box, cover] = await Promise.all([
      page.locator("#site-html > div").boundingBox(),
      page.getByText("Everywhere", { exact: true }).boundingBox(),
    ]);
    expect(cover).toEqual(box);
    expect(await page.getByRole("link", { name: "Harbour Ferries" }).getAttribute("rel")).toContain("noopener");
    expect(await page.title()).toBe("Match day");
    const { page: without } = await open({});
    expect(await without.locator("#site-html").innerHTML()).toBe("");
    await writeSite(site, site.settings);
  });
});

const KEY = { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" };

async function readSite() {
  return Site.parse(await (await fetch(`${deployment.url}/site/v1`, { headers: KEY })).json());
}

async function writeSite({ name, style, ...site }: z.output<typeof Site>, settings: object): Promise<void> {
  const { collections, regions, tags, devicelimit } = site;
  const body = JSON.stringify({ name, style, settings, collections, regions, tags, devicelimit });
  const response = await fetch(`${deployment.url}/site/v1`, { method: "PUT", headers: KEY, body });
  if (!response.ok) throw new Error(await response.text());
}
