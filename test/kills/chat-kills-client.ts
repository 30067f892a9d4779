import { z } from "@hono/zod-openapi";
import { WebSocket } from "ws";
import { CHANNEL_1, SITE_A } from "#db/demo/match-day.ts";
import type { Server } from "#scripts/lib/server.ts";
import { type ServerFrame, ServerMessage } from "#worker/durable-objects/relay/relay.protocol.ts";

const Account = z.object({ _id: z.string() });
const SignedIn = z.object({ jwt: z.string() });
const Ticket = z.object({ ticket: z.string() });

type FrameOf<Type extends ServerFrame["type"]> = Extract<ServerFrame, { type: Type }>;
export type Verdict = FrameOf<"chat.result">;

/** One viewer of the demo's first channel who writes in its chat, across connections. */
export class ChatClient {
  readonly id: string;
  /** The ids of the messages on its screen. */
  readonly screen = new Set<string>();
  /** Batches that left a gap or repeated a position. */
  readonly violations: string[] = [];
  readonly #credentials: { email: string; password: string };
  #position: { after: number; revision: number } | null = null;
  /** Resolves when the last connection has ended. */
  ended = Promise.resolve();
  #socket: WebSocket | null = null;
  #verdicts = new Map<string, (verdict: Verdict | null) => void>();

  constructor(id: string, credentials: { email: string; password: string }) {
    this.id = id;
    this.#credentials = credentials;
  }

  static async signUp(server: Server, name: string): Promise<ChatClient> {
    const credentials = { email: `${name}@chat-kills.example`, password: `${name}-pass-of-the-chat` };
    const { _id } = Account.parse(await post(server, "/account/v3", { ...credentials, name }));
    return new ChatClient(_id, credentials);
  }

  /** Connects, and joins the chat at the last position. */
  async connect(server: Server): Promise<void> {
    const { jwt } = SignedIn.parse(await post(server, "/auth/v2/login", { ...this.#credentials, siteId: SITE_A }));
    const { ticket } = Ticket.parse(
      await post(server, "/realtime/v1/tickets", { channelId: CHANNEL_1 }, { Authorization: `Bearer ${jwt}` }),
    );
    const path = `/realtime/v1/channels/${CHANNEL_1}?clientId=${SITE_A}&deviceId=${this.id}&ticket=${encodeURIComponent(ticket)}`;
    const socket = new WebSocket(server.url.replace("http", "ws") + path);
    this.#socket = socket;
    this.ended = new Promise((ended) => socket.on("close", () => ended()));
    await new Promise<void>((joined, failed) => {
      socket.on("error", failed);
      socket.on("close", () => {
        failed(new Error("The connection has ended"));
        for (const settle of this.#verdicts.values()) settle(null);
      });
      socket.on("message", (data: Buffer) => {
        const message = ServerMessage.parse(JSON.parse(data.toString()));
        for (const frame of Array.isArray(message) ? message : [message]) {
          if (frame.type === "welcome") socket.send(JSON.stringify({ type: "chat.join", ...this.#position }));
          this.#receive(frame);
          if (frame.type === "chat.history") joined();
        }
      });
    });
  }

  /** Sends a message. Null: the connection ended before the verdict. */
  send(id: string, text: string): Promise<Verdict | null> {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return Promise.resolve(null);
    return new Promise<Verdict | null>((settle) => {
      this.#verdicts.set(id, settle);
      socket.send(JSON.stringify({ type: "chat.send", id, text }));
    }).finally(() => this.#verdicts.delete(id));
  }

  close(): void {
    this.#socket?.terminate();
  }

  #receive(frame: ServerFrame): void {
    switch (frame.type) {
      case "chat.result":
        return this.#verdicts.get(frame.id)?.(frame);
      case "chat.history":
        if (!frame.recovered) this.screen.clear();
        this.#show([...frame.messages, ...frame.updates]);
        this.#position = { after: frame.chatSeq, revision: frame.revision };
        return;
      case "chat.messages":
        this.#checkStep(frame);
        return this.#show(frame.messages);
      case "chat.updated":
        if (this.#position) this.#position.revision = frame.revision;
        return this.#show(frame.messages);
      default:
    }
  }

  #checkStep({ messages, skipped, chatSeq }: FrameOf<"chat.messages">): void {
    if (!this.#position) return;
    const { after } = this.#position;
    const arrived = messages.filter((message) => message.chatSeq !== null && message.chatSeq > after && message.chatSeq <= chatSeq).length;
    if (arrived + skipped !== chatSeq - after)
      this.violations.push(`${arrived} messages and ${skipped} skipped from ${after} to ${chatSeq}`);
    this.#position.after = chatSeq;
  }

  #show(messages: FrameOf<"chat.messages">["messages"]): void {
    for (const { _id, state } of messages) {
      if (state === "removed") this.screen.delete(_id);
      else this.screen.add(_id);
    }
  }
}

export async function post(server: Server, path: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const request = {
    method: "POST",
    headers: { "Tifo-Client-Id": SITE_A, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
  const response = await fetch(server.url + path, request);
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
