import type { Environment, ServerFrame, SocketLike, ViewerFrame } from "#sdk/channel/index.ts";
import type { ChatMessage, ChatServerFrame, ChatSettings } from "#sdk/chat/index.ts";
import type { Schemas } from "#sdk/client/index.ts";
import { steadyEnvironment } from "#sdk/core/clock.ts";
import { ANSWERS, CHAT, KICK_OFF, POLL, RECORDED, viewersAt, votesAt, YOU } from "./recorded-show.ts";

type Frame = ServerFrame | ChatServerFrame;

/** The server of the recorded channel, in the page: the SDK connects to it like to a deployment, and votes and chats with it. */
export interface RecordedServer {
  /** Its clock is the video's: what is on the screen waits while the video is paused. */
  environment: Environment;
  fetch(request: Request): Promise<Response>;
  /** Sends what has happened up to the video's time. */
  update(): void;
}

const TICK_SECONDS = 1;

/** `position` is the media time of the video, in seconds. */
export function recordedServer(position: () => number): RecordedServer {
  let socket: RecordedSocket | null = null;
  let time = 0;
  let updatedAt = -TICK_SECONDS;
  let said = 0;
  let myAnswer: string | null = null;
  const messages: ChatMessage[] = [];

  const now = () => KICK_OFF + position() * 1000;
  const send = (frame: Frame) => socket?.deliver(JSON.stringify(frame));

  function results(): Schemas["PollResults"] {
    const counts = votesAt(time).map((count, index) => count + Number(ANSWERS[index]?.id === myAnswer));
    const total = counts.reduce((sum, count) => sum + count, 0);
    const open = time < POLL.closes;
    return {
      ...{ pollId: RECORDED.pollId, open, hidden: false, total },
      answers: ANSWERS.map(({ id, answer }, index) => ({
        answerId: id,
        answer,
        responses: counts[index] ?? 0,
        share: (counts[index] ?? 0) / total,
      })),
      ...(time >= POLL.closes ? { correctAnswerId: POLL.winner } : {}),
    };
  }

  function say(accountId: string, name: string, text: string): ChatMessage {
    const chatSeq = messages.length + 1;
    const message: ChatMessage = {
      ...{ _id: `5eed00000000000000cc${String(chatSeq).padStart(4, "0")}`, chatSeq, accountId, name, text, roles: [], system: false },
      ...{ language: null, translation: null, replyTo: null, mentions: [], reactions: {}, reacted: null, sentAt: now() },
      state: "visible",
    };
    messages.push(message);
    send({ type: "chat.messages", messages: [message], skipped: 0, chatSeq });
    return message;
  }

  /** Responds to a frame of the viewer. */
  function receive(text: string): void {
    if (text === "ping") return socket?.deliver("pong");
    const frame: unknown = JSON.parse(text);
    if (!isViewerFrame(frame)) return undefined;
    switch (frame.type) {
      case "vote": {
        const open = time < POLL.closes;
        if (open) myAnswer = frame.answerId;
        send({
          type: "vote.result",
          upTo: 0,
          id: frame.id,
          ok: open,
          ...(open ? {} : { code: "poll_closed", message: "The poll is closed" }),
        });
        return send({ type: "poll.updated", upTo: 0, data: { ...results() } });
      }
      case "chat.join":
        return send({
          type: "chat.history",
          recovered: false,
          messages,
          updates: [],
          chatSeq: messages.length,
          revision: 0,
          settings: SETTINGS,
        });
      case "chat.send": {
        const { _id } = say(YOU.id, YOU.name, frame.text);
        return send({ type: "chat.result", id: frame.id, ok: true, messageId: _id, state: "visible" });
      }
      case "chat.react":
        return send({ type: "chat.result", id: frame.id, ok: true, messageId: frame.messageId });
      default:
        return undefined;
    }
  }

  return {
    environment: {
      ...steadyEnvironment,
      now,
      openSocket() {
        socket = new RecordedSocket(receive);
        queueMicrotask(() => {
          socket?.open();
          send({
            type: "welcome",
            ...{ epoch: "recorded", seq: 0, upTo: 0, now: now(), recovered: false, overlays: [], rules: [] },
            ...{ concurrents: viewersAt(time), heartbeat: 60 },
          });
        });
        return socket;
      },
      sendBeacon: () => true,
    },
    fetch: (request) => Promise.resolve(respond(new URL(request.url).pathname, results)),
    update() {
      time = position();
      while ((CHAT[said]?.at ?? Infinity) <= time) {
        const line = CHAT[said++];
        if (line) say(accountOf(line.name), line.name, line.text);
      }
      if (Math.abs(time - updatedAt) < TICK_SECONDS) return;
      updatedAt = time;
      send({ type: "concurrents", upTo: 0, count: viewersAt(time) });
      send({ type: "poll.updated", upTo: 0, data: { ...results() } });
    },
  };
}

const NAMES = [...new Set(CHAT.map(({ name }) => name))];

function accountOf(name: string): string {
  return `5eed0000000000000000b0${String(NAMES.indexOf(name)).padStart(2, "0")}`;
}

/** The channel's page, its poll, and nothing else. */
function respond(path: string, results: () => Schemas["PollResults"]): Response {
  if (path.startsWith("/page/v2/configuration/")) return Response.json(CONFIGURATION);
  if (path === "/poll/v3/states") return Response.json([{ poll: pollOf(results()), results: results(), responses: [] }]);
  if (path.startsWith("/chat/")) return Response.json({ results: [], before: null });
  return Response.json({ success: false, status: 404, code: "not_found", message: "The recording has nothing here" }, { status: 404 });
}

function pollOf({ open, correctAnswerId }: Schemas["PollResults"]): Schemas["Poll"] {
  return {
    type: "prediction",
    ...{
      _id: RECORDED.pollId,
      siteId: RECORDED.clientId,
      name: "Derby",
      question: POLL.question,
      open,
      hideResults: false,
      responseCost: 0,
    },
    ...{
      locksAt: null,
      responsesPerViewer: 1,
      settled: null,
      created: KICK_OFF,
      modified: KICK_OFF,
      correctAnswerId: correctAnswerId ?? null,
    },
    answers: ANSWERS.map(({ id, answer }) => ({ _id: id, answer, imageUrl: null, pollId: RECORDED.pollId })),
  };
}

const SETTINGS: ChatSettings = {
  mode: "open",
  ...{ channelId: RECORDED.channelId, slowSeconds: 0, premoderate: false, skus: [], emoji: ["👍", "❤️", "👏"], languages: [] },
  ...{
    pinned: null,
    system: { name: null, image: null, welcomeMessage: null },
    created: null,
    modified: null,
    moderator: false,
    banned: null,
  },
};

const CONFIGURATION = {
  page: { _id: RECORDED.channelId, slug: "main-stage", type: "channel", name: "Main Stage" },
  site: { _id: RECORDED.clientId },
  insights: { _id: "recorded", version: 1, collect: false },
  panels: [
    panel("5eed0000000000000000d001", "Chat", "chat", {}),
    panel("5eed0000000000000000d007", "Predict", "quick_pick", { questions: [{ array_id: "derbyRes1", poll_id: RECORDED.pollId }] }),
  ],
};

function panel(_id: string, panel_name: string, panel_type: string, renderer: object) {
  return { _id, slug: panel_type, panel_name, panel_type, icon_name: null, renderer: { panel_type, panel_name, ...renderer } };
}

function isViewerFrame(value: unknown): value is ViewerFrame {
  return typeof value === "object" && value !== null && "type" in value;
}

/** The viewer's end of the connection. */
class RecordedSocket implements SocketLike {
  readyState = 0;
  readonly #receive: (text: string) => void;
  readonly #listeners = new EventTarget();

  constructor(receive: (text: string) => void) {
    this.#receive = receive;
  }

  open(): void {
    if (this.readyState !== 0) return;
    this.readyState = 1;
    this.#listeners.dispatchEvent(new Event("open"));
  }

  deliver(data: string): void {
    if (this.readyState === 1) this.#listeners.dispatchEvent(new MessageEvent("message", { data }));
  }

  send(text: string): void {
    queueMicrotask(() => this.#receive(text));
  }

  close(): void {
    this.readyState = 3;
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.addEventListener(type, (event) => void Reflect.apply(listener, undefined, [event]));
  }
}
