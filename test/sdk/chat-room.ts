import { type Chat, type ChatMessage, type ChatSettings, type ChatViewerFrame, joinChat } from "#sdk/chat/index.ts";

export const ME = "5eed0000000000000000a003";
export const OTHER = "5eed0000000000000000a004";

export const SETTINGS: ChatSettings = {
  channelId: "5eed0000000000000000c001",
  mode: "open",
  slowSeconds: 0,
  premoderate: false,
  skus: [],
  emoji: ["👍", "❤️"],
  languages: [],
  pinned: null,
  system: { name: null, image: null, welcomeMessage: null },
  created: null,
  modified: null,
  moderator: false,
  banned: null,
};

/** A message of another viewer with this position; null: held. */
export function message(chatSeq: number | null, changes: Partial<ChatMessage> = {}): ChatMessage {
  return {
    _id: `m${chatSeq ?? "held"}`,
    chatSeq,
    accountId: OTHER,
    name: "Ada",
    roles: [],
    system: false,
    text: `Message ${chatSeq}`,
    language: null,
    translation: null,
    replyTo: null,
    mentions: [],
    reactions: {},
    reacted: null,
    state: "visible",
    sentAt: 1_800_000_000_000 + (chatSeq ?? 0) * 1000,
    ...changes,
  };
}

export function messages(from: number, to: number): ChatMessage[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => message(from + index));
}

/** One viewer's chat, whose server is the test. */
export class ChatWorld {
  now = 1_800_000_000_000;
  connected = true;
  account: string | null = ME;
  readonly sent: ChatViewerFrame[] = [];
  /** Positions of which older pages were requested, and what they contain. */
  readonly pages: number[] = [];
  older: (before: number) => { results: ChatMessage[]; before: number | null } = () => ({ results: [], before: null });
  readonly chat: Chat;
  #listener: (frame: { type: string }) => void = () => {};

  constructor() {
    this.chat = joinChat({
      connection: {
        send: (frame) => {
          if (this.connected) this.sent.push(frame);
          return this.connected;
        },
        isReceiveOnly: () => false,
        onFrame: (listener) => {
          this.#listener = listener;
          return () => (this.#listener = () => {});
        },
      },
      requests: {
        loadOlder: async (before) => {
          this.pages.push(before);
          return this.older(before);
        },
        perform: ({ id }) => Promise.resolve({ type: "chat.result", id, ok: false, code: "internal" }),
      },
      environment: { now: () => this.now },
      accountId: async () => this.account,
      language: "en",
    });
  }

  get state() {
    return this.chat.getSnapshot();
  }

  /** What the list shows: the `chatSeq` or id of each message, `+n` for skipped ones, and the text of those on their way. */
  get shown(): (number | string)[] {
    return this.state.items.map((item) => {
      if (item.kind === "message") return item.message.chatSeq ?? item.message._id;
      return item.kind === "skipped" ? `+${item.count}` : item.text;
    });
  }

  get lastSent(): ChatViewerFrame | undefined {
    return this.sent.at(-1);
  }

  receive(frame: { type: string; [field: string]: unknown }): void {
    this.#listener(frame);
  }

  history(list: ChatMessage[], changes: object = {}): void {
    const chatSeq = Math.max(0, ...list.map((one) => one.chatSeq ?? 0));
    const rest = { recovered: false, updates: [], chatSeq, revision: 0, settings: SETTINGS };
    this.receive({ type: "chat.history", messages: list, ...rest, ...changes });
  }

  batch(list: ChatMessage[], chatSeq: number, skipped = 0): void {
    this.receive({ type: "chat.messages", messages: list, skipped, chatSeq });
  }

  /** The id of the last message that was sent. */
  sentId(): string {
    for (let index = this.sent.length - 1; index >= 0; index--) {
      const frame = this.sent[index];
      if (frame?.type === "chat.send" || frame?.type === "chat.react") return frame.id;
    }
    throw new Error("Nothing was sent");
  }

  result(changes: object): void {
    this.receive({ type: "chat.result", id: this.sentId(), ok: true, ...changes });
  }

  async reconnect(): Promise<void> {
    this.connected = true;
    this.receive({ type: "welcome" });
    await settled();
  }
}

/** Lets promises that wait for nothing else resolve. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await Promise.resolve();
}

/** A chat that has received its history. */
export async function joined(list: ChatMessage[] = [], changes: object = {}): Promise<ChatWorld> {
  const world = new ChatWorld();
  await settled();
  world.history(list, changes);
  return world;
}
