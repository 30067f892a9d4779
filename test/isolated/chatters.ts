import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { chatRoomOf } from "#worker/durable-objects/stubs.ts";
import type { ServerFrame } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { type ApiResponse, type CallOptions, newSite, openSocket, type TestAccount, type TestSite } from "../harness.ts";
import type { TestViewer } from "./relay-viewer.ts";

const Ticket = z.object({ ticket: z.string() });

type FrameOf<Type> = Extract<ServerFrame, { type: Type }>;
/** A site with two viewers and a chat moderator. */
export interface ChatSite {
  site: TestSite;
  ann: TestAccount;
  ben: TestAccount;
  moderator: TestAccount;
  /** A channel that no other test uses. */
  newRoom: () => Promise<string>;
  /** Calls an operation as an account. */
  as: (account: TestAccount, operationId: string, options?: CallOptions) => Promise<ApiResponse>;
  /** Replaces a room's settings. */
  setSettings: (channelId: string, body: Record<string, unknown>) => Promise<ApiResponse>;
}

export async function newChatSite(): Promise<ChatSite> {
  const site = await newSite();
  const [ann, ben] = [await site.addAccount("Ann", []), await site.addAccount("Ben", [])];
  const moderator = await site.addAccount("Mod", [{ scope: "Chat_Moderator", pageId: [], write: true }]);
  const as: ChatSite["as"] = async (account, operationId, options = {}) => {
    const headers = { Authorization: `Bearer ${await site.signIn(account)}`, ...options.headers };
    return site.call(operationId, { ...options, as: "client", headers });
  };
  return {
    ...{ site, ann, ben, moderator, as },
    newRoom: () => site.addChannel(`room-${newId(Date.now())}`),
    setSettings: (channelId, body) => as(moderator, "replaceChatSettings", { params: { channelId }, body }),
  };
}

/** The message has left the screen. */
export const isGone = (message: Message | undefined): boolean => message === undefined;

export type Message = FrameOf<"chat.history">["messages"][number];

/** A viewer in a channel's chat: what it sends, and what it has received. */
export class Chatter {
  readonly viewer: TestViewer;

  constructor(viewer: TestViewer) {
    this.viewer = viewer;
  }

  /** Sends a frame with an id of its own, and resolves with the result. */
  async request(frame: { type: "chat.send" | "chat.react"; id?: string; [field: string]: unknown }): Promise<FrameOf<"chat.result">> {
    const { id = newId(Date.now()) } = frame;
    const before = this.#results(id).length;
    this.viewer.send(JSON.stringify({ ...frame, id }));
    await this.viewer.when(() => this.#results(id).length > before);
    const result = this.#results(id).at(-1);
    if (!result) throw new Error("No result");
    return result;
  }

  say(text: string, more: { id?: string; replyTo?: string } = {}): Promise<FrameOf<"chat.result">> {
    return this.request({ type: "chat.send", text, ...more });
  }

  /** Sends a message that must be accepted; returns its id. */
  async says(text: string, more: { id?: string; replyTo?: string } = {}): Promise<string> {
    const result = await this.say(text, more);
    if (result.messageId === undefined) throw new Error(`${result.code}: ${result.message}`);
    return result.messageId;
  }

  react(messageId: string, emoji: string | null): Promise<FrameOf<"chat.result">> {
    return this.request({ type: "chat.react", messageId, emoji });
  }

  of<Type extends ServerFrame["type"]>(type: Type): FrameOf<Type>[] {
    return this.viewer.frames.filter((frame): frame is FrameOf<Type> => frame.type === type);
  }

  get history(): FrameOf<"chat.history"> {
    const history = this.of("chat.history").at(-1);
    if (!history) throw new Error("Not joined");
    return history;
  }

  /** The messages on the viewer's screen, by the protocol: history, then new ones, then changes. */
  get screen(): Map<string, Message> {
    const screen = new Map<string, Message>();
    for (const frame of this.viewer.frames) {
      if (frame.type === "chat.history") {
        if (!frame.recovered) screen.clear();
        for (const message of [...frame.messages, ...frame.updates]) screen.set(message._id, message);
      } else if (frame.type === "chat.messages") for (const message of frame.messages) screen.set(message._id, message);
      else if (frame.type === "chat.updated")
        for (const message of frame.messages) if (screen.has(message._id)) screen.set(message._id, message);
    }
    for (const [id, { state, original }] of screen) if (state === "removed" && original === undefined) screen.delete(id);
    return screen;
  }

  /** Resolves once the message on the screen fits; `undefined` is a message that isn't there. */
  async sees(
    id: string,
    fits: (message: Message | undefined) => boolean = (message) => message !== undefined,
  ): Promise<Message | undefined> {
    await this.viewer.when(() => fits(this.screen.get(id)));
    return this.screen.get(id);
  }

  get position(): { after: number; revision: number } {
    const after = Math.max(...this.viewer.frames.map((frame) => ("chatSeq" in frame ? frame.chatSeq : 0)));
    const revision = Math.max(...this.viewer.frames.map((frame) => ("revision" in frame ? frame.revision : 0)));
    return { after, revision };
  }

  #results(id: string): FrameOf<"chat.result">[] {
    return this.of("chat.result").filter((frame) => frame.id === id);
  }
}

/** Connects an account, or an anonymous viewer, without joining. */
export async function connectChatter(
  site: TestSite,
  channelId: string,
  account: TestAccount | null,
  query: Record<string, string> = {},
): Promise<Chatter> {
  const viewer = await openSocket(site, channelId, { ...query, ...(account ? { ticket: await ticketOf(site, channelId, account) } : {}) });
  await viewer.first("welcome");
  return new Chatter(viewer);
}

/** Connects and joins. */
export async function enterChat(
  site: TestSite,
  channelId: string,
  account: TestAccount | null = null,
  { language, deviceId, ...join }: { after?: number; revision?: number; language?: string; deviceId?: string } = {},
): Promise<Chatter> {
  const query = { ...(language === undefined ? {} : { language }), ...(deviceId === undefined ? {} : { deviceId }) };
  const chatter = await connectChatter(site, channelId, account, query);
  chatter.viewer.send(JSON.stringify({ type: "chat.join", ...join }));
  await chatter.viewer.first("chat.history");
  return chatter;
}

async function ticketOf(site: TestSite, channelId: string, account: TestAccount): Promise<string> {
  const headers = { Authorization: `Bearer ${await site.signIn(account)}` };
  return (await site.call("createTicket", { body: { channelId }, as: "client", headers })).as(Ticket).ticket;
}

export function roomOf(site: TestSite, channelId: string) {
  return chatRoomOf(env, site.id, channelId);
}
