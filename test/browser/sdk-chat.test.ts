import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ME, message, messages, OTHER } from "#test/sdk/chat-room.ts";
import { axeViolations } from "./axe.ts";
import { launchBrowser } from "./browser.ts";
import { type ChatPage, type ChatPageOptions, conversation, openChat, serveChatPage } from "./sdk-chat-page.ts";

const RULES = "https://demo.example/rules";

let browser: Browser;
let host: Awaited<ReturnType<typeof serveChatPage>>;

beforeAll(async () => {
  [browser, host] = await Promise.all([launchBrowser(), serveChatPage()]);
});

afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

afterAll(async () => {
  host.close();
  await browser.close();
});

function open(options?: ChatPageOptions): Promise<ChatPage> {
  return openChat(browser, host.url, options);
}

function rowCount(page: Page): Promise<number> {
  return page.locator(".tifo-chat-row").count();
}

describe("the list of messages", () => {
  test("keeps only the visible rows in the page, however many messages arrive, and stays at the end", async () => {
    const { page, ...chat } = await openFull();
    const before = await rowCount(page);
    expect(before).toBeLessThan(50);
    for (let from = 101; from <= 900; from += 20) chat.send(from);
    await page.getByText("Message 900", { exact: true }).waitFor();
    expect(await rowCount(page)).toBeLessThan(50);
    expect(await page.locator(".tifo-chat-latest").count()).toBe(0);
  });

  test("stays where the viewer has scrolled to, and counts what arrives", async () => {
    const { page, send } = await openFull();
    await scrollUp(page, 600);
    await page.getByRole("button", { name: "Latest messages" }).waitFor();
    const reading = await firstVisibleRow(page);
    send(101);
    await page.getByRole("button", { name: "20 new messages" }).waitFor();
    const row = await firstVisibleRow(page);
    expect(row.key).toBe(reading.key);
    expect(Math.abs(row.top - reading.top)).toBeLessThan(2);
    await page.getByRole("button", { name: "20 new messages" }).click();
    await page.getByText("Message 120", { exact: true }).waitFor();
    await page.locator(".tifo-chat-latest").waitFor({ state: "detached" });
  });

  test.each([
    ["the wheel", turnWheel],
    ["a finger", swipe],
  ])("can be scrolled up and back to the end with %s while messages arrive", async (_name, move) => {
    const { page, batch } = await openFull({ context: { hasTouch: true } });
    let last = 100;
    let scrolling = true;
    const arriving = (async () => {
      for (; scrolling; await nextFrame(page)) batch([message(++last)], last);
    })();
    for (let times = 0; times < 3; times++) await move(page, 300);
    scrolling = false;
    await arriving;
    await page.getByRole("button", { name: /new message/ }).waitFor();
    await expect
      .poll(async () => {
        await move(page, -300);
        return page.locator(".tifo-chat-latest").count();
      })
      .toBe(0);
    batch([message(++last)], last);
    await page.getByText(`Message ${last}`, { exact: true }).waitFor();
  });

  test("loads older messages when the viewer scrolls to its start", async () => {
    const chat = await open({ history: messages(101, 160) });
    const { page } = chat;
    await page.getByText("Message 160", { exact: true }).waitFor();
    chat.older = messages(51, 100).reverse();
    await page.locator(".tifo-chat-list").hover();
    const turnUntil = (isDone: () => Promise<boolean>) =>
      expect
        .poll(async () => {
          await page.mouse.wheel(0, -2000);
          return isDone();
        })
        .toBe(true);
    await turnUntil(async () => chat.requests.length > 0);
    await turnUntil(async () => (await page.getByText("Message 51", { exact: true }).count()) > 0);
    expect(chat.requests).toEqual(["GET /chat/v1/5eed0000000000000000c001/messages"]);
  });

  test("shows messages as text, whatever they contain", async () => {
    const attack = `<img src=x onerror="document.title='ran'"><script>document.title='ran'</script>`;
    const { page } = await open({ history: [message(1, { text: attack, name: attack })] });
    expect(await page.locator(".tifo-chat-body").textContent()).toBe(attack);
    expect(await page.locator(".tifo-chat-list :is(img, script)").count()).toBe(0);
    expect(await page.title()).toBe("Chat");
  });

  test("shows what was skipped, mentions, replies, translations and the system's words", async () => {
    const history = [
      message(1, { text: "What do you think?" }),
      message(2, { text: "@Me look", mentions: [ME], replyTo: "m1" }),
      message(3, { text: "¡Qué parada!", translation: { language: "en", text: "What a save!" } }),
      message(4, { system: true, accountId: null, text: "Kick-off in five minutes" }),
    ];
    const renderer = { rules_link_url: RULES, system_welcome_message: "Welcome to the derby" };
    const chat = await open({ history, renderer, settings: { pinned: message(9, { text: "Pinned words" }) } });
    const { page } = chat;
    chat.batch([message(6)], 9, 4);
    await page.getByText("4 messages skipped").waitFor();
    expect(await page.locator('[data-mention="true"] mark').textContent()).toBe("@Me");
    expect(await page.locator(".tifo-chat-quote").textContent()).toBe("Ada: What do you think?");
    await page.getByText("What a save!").waitFor();
    await page.getByRole("button", { name: "Show original" }).click();
    await page.getByText("¡Qué parada!").waitFor();
    for (const words of ["Welcome to the derby", "Kick-off in five minutes", "Pinned words"]) await page.getByText(words).waitFor();
    expect(await page.getByRole("link", { name: "Rules" }).getAttribute("href")).toBe(RULES);
    expect(chat.problems).toEqual([]);
  });

  test("removes a message on every screen at once", async () => {
    const chat = await open({ history: messages(1, 3) });
    await chat.page.getByText("Message 2", { exact: true }).waitFor();
    chat.tell({ type: "chat.updated", revision: 1, messages: [message(2, { state: "removed", text: null })] });
    await chat.page.getByText("Message 2", { exact: true }).waitFor({ state: "detached" });
  });
});

describe("writing", () => {
  test("shows the message at once, and why it was rejected", async () => {
    const chat = await open();
    const { page } = chat;
    await page.getByRole("textbox", { name: "Message" }).fill("Too fast");
    await page.keyboard.press("Enter");
    await page.getByText("Sending…").waitFor();
    await expect.poll(() => chat.sent.at(-1)).toMatchObject({ type: "chat.send", text: "Too fast" });
    const sent = chat.sent.at(-1);
    const id = sent?.type === "chat.send" ? sent.id : "";
    chat.tell({ type: "chat.result", id, ok: false, code: "chat_slow_mode", retryAfter: 3600 });
    await page.getByText("Slow mode is on. Try again in 3,600 seconds.").waitFor();
    await page.getByText(/You can send again in \d+ s/).waitFor();
    expect(await page.getByRole("button", { name: "Send" }).getAttribute("aria-disabled")).toBe("true");
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText("Too fast").waitFor({ state: "detached" });
  });

  test("counts the characters left, and sends nothing that is too long", async () => {
    const chat = await open();
    await chat.page.getByRole("textbox", { name: "Message" }).fill("⚽".repeat(450));
    await chat.page.getByText("50 characters left").waitFor();
    await chat.page.getByRole("textbox", { name: "Message" }).fill("⚽".repeat(501));
    await chat.page.getByText("1 character too many").waitFor();
    await chat.page.keyboard.press("Enter");
    expect(chat.sent.map(({ type }) => type)).toEqual(["chat.join"]);
  });

  test("inserts an emoji that the search has found", async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "Emoji" }).click();
    await page.getByRole("searchbox").fill("soccer");
    await page.getByRole("button", { name: "soccer ball" }).click();
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("⚽");
  });

  test("asks a viewer who isn't signed in to sign in", async () => {
    const { page } = await open({ signedIn: false, history: messages(1, 2), renderer: { login_button_text: "Join the club" } });
    await page.getByText("Message 2", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Join the club" }).waitFor();
    expect(await page.getByRole("textbox").count()).toBe(0);
  });

  test.each([
    ["is paused", { mode: "paused" as const }, "A moderator has paused the chat."],
    ["has banned the viewer", { banned: { until: null, reason: "Spam" } }, "You can’t send messages in this chat. Reason: Spam"],
  ])("says so while the room %s", async (_name, settings, words) => {
    const chat = await open();
    await chat.page.getByRole("textbox").waitFor();
    chat.change(settings);
    await chat.page.getByText(words).waitFor();
    expect(await chat.page.getByRole("textbox").count()).toBe(0);
  });
});

describe("a moderator", () => {
  test("removes, bans, pins and changes the room from the panel", async () => {
    const chat = await open({ history: [message(1, { accountId: OTHER, name: "Troll" })], settings: { moderator: true } });
    const { page } = chat;
    const act = async (action: string) => {
      await page.getByText("Message 1", { exact: true }).hover();
      await page.getByRole("button", { name: "Actions for the message of Troll" }).click();
      await page.getByRole("button", { name: action }).click();
    };
    await act("Pin for everybody");
    await page.locator("dialog").waitFor({ state: "detached" });
    await act("Mute or ban Troll…");
    await page.getByRole("radio", { name: "Ban" }).check();
    await page.getByRole("combobox", { name: "For" }).selectOption("Until it is lifted");
    await page.getByRole("textbox", { name: "Reason" }).fill("Insults");
    await page.getByRole("button", { name: "Ban Troll" }).click();
    await page.locator("dialog").waitFor({ state: "detached" });
    await act("Remove");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Chat settings" }).click();
    await page.getByRole("combobox", { name: "Slow mode" }).selectOption("One message every 30 seconds");
    const writes = () => chat.requests.filter((request) => !request.startsWith("GET"));
    await expect.poll(() => writes().length).toBe(4);
    const path = "/chat/v1/5eed0000000000000000c001";
    const [pinned, banned, removed, slowed] = writes();
    expect(pinned).toContain(`PUT ${path}/settings`);
    expect(pinned).toContain('"pinnedMessageId":"m1"');
    expect(banned).toContain(`POST /chat/v1/bans {"accountId":"${OTHER}","kind":"ban"`);
    expect(banned).toContain('"until":null,"reason":"Insults"');
    expect(removed).toBe(`DELETE ${path}/messages/m1`);
    expect(slowed).toContain('"slowSeconds":30');
  });

  test("mutes for as long as chosen, on a device whose clock is wrong", async () => {
    const history = [message(1, { accountId: OTHER, name: "Troll" })];
    const serverNow = Date.now() - 86_400_000;
    const chat = await open({ history, settings: { moderator: true }, serverNow });
    const { page } = chat;
    await page.getByText("Message 1", { exact: true }).hover();
    await page.getByRole("button", { name: "Actions for the message of Troll" }).click();
    await page.getByRole("button", { name: "Mute or ban Troll…" }).click();
    await page.getByRole("combobox", { name: "For" }).selectOption("1 hour");
    await page.getByRole("button", { name: "Mute Troll" }).click();
    await page.locator("dialog").waitFor({ state: "detached" });
    const [, until] = /"until":(\d+),/.exec(chat.requests.find((request) => request.startsWith("POST /chat/v1/bans")) ?? "") ?? [];
    const late = Number(until) - (serverNow + 3_600_000);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(3_600_000);
  });

  test("keeps what another one has changed in the room, also if that isn't shown yet", async () => {
    const chat = await open({ history: [message(1)], settings: { moderator: true } });
    chat.settings = { ...chat.settings, slowSeconds: 30 };
    await chat.page.getByRole("button", { name: "Chat settings" }).click();
    await chat.page.getByRole("combobox", { name: "Who can send" }).selectOption("paused");
    await expect.poll(() => chat.requests.some((request) => /^PUT .*"slowSeconds":30/.test(request))).toBe(true);
  });

  test("reaches and leaves the forms with the keyboard alone, one at a time", async () => {
    const chat = await open({ history: [message(1, { accountId: OTHER, name: "Troll" })], settings: { moderator: true } });
    const { page } = chat;
    await page.getByText("Message 1", { exact: true }).hover();
    await page.getByRole("button", { name: "Actions for the message of Troll" }).press("Enter");
    await page.getByRole("button", { name: "Mute or ban Troll…" }).press("Enter");
    await page.getByRole("button", { name: "Mute Troll" }).waitFor();
    await page.locator("dialog :focus").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.locator('[aria-label="Actions for the message of Troll"]:focus').press("Enter");
    await page.getByRole("button", { name: "Chat settings" }).click();
    await page.getByRole("dialog", { name: "Chat settings" }).waitFor();
    expect(await page.locator("dialog").count()).toBe(1);
  });

  test("decides on a held message", async () => {
    const held = message(null, { _id: "held", state: "held", text: "hm ****", original: "hm word" });
    const chat = await open({ history: [held], settings: { moderator: true } });
    await chat.page.getByText("Original: hm word").waitFor();
    await chat.page.getByRole("button", { name: "Approve" }).click();
    await expect.poll(() => chat.requests).toEqual(['PUT /chat/v1/5eed0000000000000000c001/messages/held {"decision":"approve"}']);
  });
});

describe("accessibility", () => {
  test.each(["light", "dark"] as const)("axe finds nothing in %s mode", async (mode) => {
    const history = [...conversation(9), message(10, { roles: ["moderator"], mentions: [ME], text: "@Me hi", reactions: { "👍": 2 } })];
    const chat = await open({ mode, history, settings: { moderator: true, slowSeconds: 5, pinned: message(3) } });
    await chat.page.getByText("COME ON").waitFor();
    expect(await axeViolations(chat.page, { within: ".tifo" })).toEqual([]);
  });

  test("arrow keys move between messages, and Tab to the buttons of one", async () => {
    const { page } = await open({ history: messages(1, 5) });
    await page.getByText("Message 5", { exact: true }).waitFor();
    await page.locator('[data-key="m5"]').focus();
    await page.keyboard.press("ArrowUp");
    await page.locator('[data-key="m4"]:focus').waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Reply to Ada");
  });

  test("announces messages in groups, not one by one", async () => {
    const chat = await openFull();
    chat.send(101);
    await chat.page.getByRole("status").getByText("20 new messages. Latest from Ada: Message 120").waitFor({ state: "attached" });
    expect(await chat.page.getByRole("log").getAttribute("aria-live")).toBe("off");
  });
});

/** A chat with 100 messages, and a function that sends twenty more. */
async function openFull(options: ChatPageOptions = {}) {
  const chat = await open({ ...options, history: messages(1, 100) });
  await chat.page.getByText("Message 100", { exact: true }).waitFor();
  return {
    page: chat.page,
    batch: (list: ReturnType<typeof messages>, chatSeq: number) => chat.batch(list, chatSeq),
    send: (from: number) => chat.batch(messages(from, from + 19), from + 19),
  };
}

/** Turns the wheel over the list, and waits until the list has come to rest. */
async function scrollUp(page: Page, pixels: number): Promise<void> {
  const list = page.locator(".tifo-chat-list");
  const rested = list.evaluate(
    (element, distance) =>
      new Promise<void>((done) => {
        element.addEventListener("scrollend", () => {
          if (element.scrollHeight - element.clientHeight - element.scrollTop > distance) done();
        });
      }),
    pixels / 2,
  );
  await list.hover();
  await page.mouse.wheel(0, -pixels);
  await rested;
}

/** Turns the wheel over the list, up if `pixels` is positive. */
async function turnWheel(page: Page, pixels: number): Promise<void> {
  await page.locator(".tifo-chat-list").hover();
  await page.mouse.wheel(0, -pixels);
}

/** Moves a finger over the list, down if `pixels` is positive, which scrolls it up. */
async function swipe(page: Page, pixels: number): Promise<void> {
  const { x, y, width, height } = (await page.locator(".tifo-chat-list").boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const session = await page.context().newCDPSession(page);
  const at = (share: number) => [{ x: x + width / 2, y: y + height / 2 + pixels * (share - 0.5) }];
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(0) });
  for (let step = 1; step <= 8; step++) await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(step / 8) });
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await session.detach();
}

function nextFrame(page: Page): Promise<unknown> {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
}

/** The first row that can be seen, and where. */
function firstVisibleRow(page: Page): Promise<{ key: string; top: number }> {
  return page.locator(".tifo-chat-list").evaluate((list) => {
    const edge = list.getBoundingClientRect().top;
    const rows = [...list.querySelectorAll<HTMLElement>(".tifo-chat-row")].map((row) => ({
      key: row.dataset.key ?? "",
      ...{ top: row.getBoundingClientRect().top - edge, bottom: row.getBoundingClientRect().bottom - edge },
    }));
    const visible = rows.filter(({ bottom }) => bottom > 0).sort((one, other) => one.top - other.top);
    return { key: visible[0]?.key ?? "", top: visible[0]?.top ?? 0 };
  });
}
