import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import type { Browser, BrowserContextOptions, Page, WebSocketRoute } from "playwright-core";
import { ROOT } from "#scripts/lib/root.mjs";
import type { ChatMessage, ChatSettings, ChatViewerFrame } from "#sdk/chat/index.ts";
import { message, ME, SETTINGS } from "#test/sdk/chat-room.ts";

const TYPES: Record<string, string> = { ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const CHANNEL = "5eed0000000000000000c001";

/** Serves the SDK's release, and a page that renders the chat with it. Without a Worker: see `openChat`. */
export async function serveChatPage(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    if (pathname === "/") return void response.setHeader("Content-Type", "text/html; charset=utf-8").end(HTML);
    readFile(join(ROOT, "docs/public", normalize(pathname))).then(
      (file) => response.setHeader("Content-Type", TYPES[extname(pathname)] ?? "application/octet-stream").end(file),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server listens on no port");
  return { url: `http://127.0.0.1:${address.port}`, close: () => void server.close() };
}

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Chat</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/sdk/tifo.css" />
    <script src="/sdk/tifo.js"></script>
    <style>body { margin: 0; background: #888; } #chat { height: 100vh; max-width: 420px; margin: auto; }</style>
  </head>
  <body><main id="chat"></main></body>
</html>`;

export interface ChatPageOptions {
  history?: ChatMessage[];
  settings?: Partial<ChatSettings>;
  signedIn?: boolean;
  mode?: "light" | "dark";
  direction?: "ltr" | "rtl";
  renderer?: object;
  context?: BrowserContextOptions;
  /** What the server's clock says when the page connects, in ms since 1970 UTC. */
  serverNow?: number;
}

/** A page with a chat whose server is the test. */
export class ChatPage {
  readonly page: Page;
  /** Frames of the chat from the page. */
  readonly sent: ChatViewerFrame[] = [];
  /** `METHOD path body` of the chat's requests. */
  readonly requests: string[] = [];
  readonly problems: string[] = [];
  older: ChatMessage[] = [];
  settings: ChatSettings;
  #history: ChatMessage[];
  #serverNow: number;
  #socket: WebSocketRoute | null = null;

  constructor(page: Page, { history = [], settings = {}, serverNow = Date.now() }: ChatPageOptions) {
    this.#serverNow = serverNow;
    this.page = page;
    this.settings = { ...SETTINGS, ...settings };
    this.#history = history;
    page.on("console", (line) => ["error", "warning"].includes(line.type()) && this.problems.push(line.text()));
    page.on("pageerror", (error) => this.problems.push(error.message));
  }

  /** Responds to the page in place of the deployment. */
  async respond(renderer: object): Promise<void> {
    const panel = { _id: "5eed0000000000000000d001", slug: "chat", panel_name: "Match chat", panel_type: "chat", icon_name: null };
    const configuration = {
      page: { _id: CHANNEL, slug: "main", type: "channel", name: "Main stage" },
      ...{ site: { _id: "5eed00000000000000000001" }, insights: { _id: "view", version: 1 }, theme: null },
      panels: [{ ...panel, renderer: { panel_type: "chat", panel_name: "Match chat", ...renderer } }],
    };
    await this.page.route("**/page/v2/configuration/**", (route) => route.fulfill({ json: configuration }));
    await this.page.route("**/realtime/v1/tickets", (route) => route.fulfill({ json: { ticket: "once", expiresAt: 0 } }));
    await this.page.route("**/chat/v1/**", (route) => {
      const request = route.request();
      this.requests.push(`${request.method()} ${new URL(request.url()).pathname} ${request.postData() ?? ""}`.trim());
      if (request.url().endsWith("/settings")) return route.fulfill({ json: this.settings, headers: { ETag: '"v1"' } });
      if (request.method() === "GET") return route.fulfill({ json: { results: this.older, before: null } });
      return route.fulfill(request.method() === "DELETE" ? { status: 204 } : { json: {} });
    });
    await this.page.routeWebSocket("**/realtime/v1/channels/**", (socket) => this.#connect(socket));
  }

  tell(frame: object): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  batch(messages: ChatMessage[], chatSeq: number, skipped = 0): void {
    this.tell({ type: "chat.messages", messages, skipped, chatSeq });
  }

  change(settings: Partial<ChatSettings>): void {
    this.settings = { ...this.settings, ...settings };
    this.tell({ type: "chat.settings", settings: this.settings });
  }

  #connect(socket: WebSocketRoute): void {
    this.#socket = socket;
    const welcome = { type: "welcome", epoch: "e", seq: 0, upTo: 0, recovered: false, overlays: [], rules: [], concurrents: 1 };
    socket.send(JSON.stringify({ ...welcome, heartbeat: 30, now: this.#serverNow }));
    socket.onMessage((text) => {
      if (text === "ping") return socket.send("pong");
      const frame: unknown = JSON.parse(String(text));
      if (!isChatFrame(frame)) return;
      this.sent.push(frame);
      if (frame.type === "chat.join") this.#sendHistory();
    });
  }

  #sendHistory(): void {
    const chatSeq = Math.max(0, ...this.#history.map((one) => one.chatSeq ?? 0));
    const { settings } = this;
    this.tell({ type: "chat.history", recovered: false, messages: this.#history, updates: [], chatSeq, revision: 0, settings });
  }
}

export async function openChat(browser: Browser, url: string, options: ChatPageOptions = {}): Promise<ChatPage> {
  const { signedIn = true, mode = "light", direction = "ltr", renderer = {}, context } = options;
  const page = await (await browser.newContext(context)).newPage();
  const chat = new ChatPage(page, options);
  await chat.respond(renderer);
  await page.goto(url);
  await page.evaluate(
    async ({ token, mode, direction, channelId }) => {
      document.documentElement.dir = direction;
      window.Tifo.configure({ clientId: "5eed00000000000000000001", mode, delegate: { getUserToken: () => token } });
      await window.Tifo.userDidStartWatchingEvent({ channelId });
      const element = document.querySelector("#chat");
      if (element) window.Tifo.renderPanel(element, { panelId: "5eed0000000000000000d001" });
    },
    { token: signedIn ? token() : null, mode, direction, channelId: CHANNEL },
  );
  await page.locator(".tifo-chat-messages").waitFor();
  return chat;
}

/** A conversation of several viewers. */
export function conversation(count: number): ChatMessage[] {
  return Array.from({ length: count }, (_, index) => {
    const [name, text] = LINES[index % LINES.length] ?? ["", ""];
    const accountId = `5eed0000000000000000b0${String(index % 9).padStart(2, "0")}`;
    return message(index + 1, { accountId, name, text, sentAt: Date.UTC(2026, 10, 22, 18, 0, index * 7) });
  });
}

const LINES: [name: string, text: string][] = [
  ["Ada Moreno", "COME ON HARBOUR CITY 🔵⚪"],
  ["Jonas", "That was never a foul, he got the ball first"],
  ["Priya", "What a save!! Okafor is unreal today 🧤"],
  ["Old Dock Forever", "you lot are loud for a team that hasn't had a shot on target"],
  ["Mei", "Is anybody else's picture behind the overlay?"],
  ["Sam W.", "No, perfectly in sync here"],
  [
    "Leïla",
    "corner again, third in two minutes. They can't hold this until half-time, somebody has to pick up number nine at the far post",
  ],
  ["Tomasz", "👏👏👏"],
  ["ruth_okafor_fan", "CLEAN SHEET LOADING"],
];

/** A JWT that no server has to accept. */
function token(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub: ME, exp: 4_000_000_000 })}.none`;
}

function isChatFrame(frame: unknown): frame is ChatViewerFrame {
  return typeof frame === "object" && frame !== null && "type" in frame && String(frame.type).startsWith("chat.");
}
