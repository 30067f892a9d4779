import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChatMessage } from "#sdk/chat/index.ts";
import { ChatWorld, ME, message, settled } from "./chat-room.ts";

type Step =
  | { do: "post"; count: number }
  | { do: "deliver"; most: number }
  | { do: "repeat" }
  | { do: "cut" }
  | { do: "reconnect" }
  | { do: "remove"; which: number }
  | { do: "send" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("post" as const), count: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ do: fc.constant("deliver" as const), most: fc.integer({ min: 0, max: 20 }) }),
  fc.record({ do: fc.constantFrom("repeat" as const, "cut" as const, "reconnect" as const, "send" as const) }),
  fc.record({ do: fc.constant("remove" as const), which: fc.nat(200) }),
);

const HISTORY = 100;

/** A room with one viewer, and the list that this viewer must see: numbers of messages, `+n` for skipped ones. */
class Room {
  readonly viewer = new ChatWorld();
  readonly removed = new Map<number, number>();
  expected: (number | string)[] = [];
  #log: ChatMessage[] = [];
  #revision = 0;
  /** The viewer's position. */
  #at = 0;
  #lastBatch: (() => void) | null = null;
  #judged = new Map<string, string>();
  #read = 0;
  #joined = false;

  async run(steps: Step[]): Promise<void> {
    await this.#reconnect();
    for (const one of steps) {
      await this.#take(one);
      this.check();
    }
    await this.#reconnect();
    this.#deliver(Infinity);
    this.check();
  }

  check(): void {
    const { items } = this.viewer.state;
    const numbers = items.flatMap((item) => (item.kind === "message" ? (item.message.chatSeq ?? []) : []));
    expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
    expect(this.viewer.shown.filter((shown) => typeof shown === "number" || shown.startsWith("+"))).toEqual(this.expected);
    const own = items.flatMap((item) => (item.kind === "outgoing" ? item.text : item.kind === "message" ? (item.message.text ?? []) : []));
    const texts = own.filter((text) => text.startsWith("Mine"));
    expect(texts).toEqual([...new Set(texts)]);
  }

  async #take(one: Step): Promise<void> {
    switch (one.do) {
      case "post":
        for (let count = 0; count < one.count; count++) this.#post({});
        return;
      case "deliver":
        return this.#deliver(one.most);
      case "repeat":
        return this.#joined ? this.#lastBatch?.() : undefined;
      case "cut":
        this.#joined = false;
        this.viewer.connected = false;
        return;
      case "reconnect":
        return this.#reconnect();
      case "remove":
        return this.#remove(one.which + 1);
      case "send":
        this.viewer.chat.send(`Mine ${crypto.randomUUID()}`);
        return this.#judge();
    }
  }

  #post(changes: Partial<ChatMessage>): ChatMessage {
    const posted = message(this.#log.length + 1, changes);
    this.#log.push(posted);
    return posted;
  }

  #visible(from: number): ChatMessage[] {
    return this.#log.slice(from).filter(({ chatSeq }) => !this.removed.has(chatSeq ?? 0));
  }

  /** A batch of at most so many of others; own messages come beyond them. Removed messages are announced as skipped. */
  #deliver(most: number): void {
    if (!this.#joined) return;
    let left = most;
    const batch = this.#visible(this.#at).filter(({ accountId }) => accountId === ME || left-- > 0);
    const [from, to] = [this.#at, this.#log.length];
    const skipped = to - from - batch.length;
    this.#at = to;
    this.#lastBatch = () =>
      this.viewer.batch(
        batch.filter(({ chatSeq }) => !this.removed.has(chatSeq ?? 0)),
        to,
        skipped,
      );
    this.expected = [...this.expected, ...batch.flatMap(({ chatSeq }) => chatSeq ?? []), ...(skipped > 0 ? [`+${skipped}`] : [])];
    this.#lastBatch();
  }

  #remove(chatSeq: number): void {
    if (chatSeq > this.#log.length || this.removed.has(chatSeq)) return;
    this.removed.set(chatSeq, ++this.#revision);
    if (!this.#joined) return;
    this.expected = this.expected.filter((shown) => shown !== chatSeq);
    this.viewer.receive({ type: "chat.updated", revision: this.#revision, messages: [this.#gone(chatSeq)] });
  }

  #gone(chatSeq: number): ChatMessage {
    return message(chatSeq, { state: "removed", text: null });
  }

  async #reconnect(): Promise<void> {
    this.#joined = false;
    await this.viewer.reconnect();
    const join = this.viewer.sent.filter(({ type }) => type === "chat.join").at(-1);
    if (join?.type !== "chat.join") throw new Error("The viewer didn't join");
    const recovered = join.after !== undefined && this.#log.length - join.after <= HISTORY;
    const messages = recovered ? this.#visible(join.after ?? 0) : this.#visible(0).slice(-HISTORY);
    const changed = [...this.removed].filter(([, revision]) => revision > (join.revision ?? 0)).map(([chatSeq]) => chatSeq);
    const numbers = messages.flatMap(({ chatSeq }) => chatSeq ?? []);
    const kept = this.expected.filter((shown) => typeof shown === "string" || !changed.includes(shown));
    this.expected = recovered ? [...kept, ...numbers] : numbers;
    this.#at = this.#log.length;
    this.#joined = true;
    const updates = recovered ? changed.map((chatSeq) => this.#gone(chatSeq)) : [];
    this.viewer.history(messages, { recovered, updates, chatSeq: this.#at, revision: this.#revision });
    await settled();
    this.#judge();
  }

  /** Responds to what the viewer has sent, with the first outcome to a repeat. Every third response is lost with the connection. */
  #judge(): void {
    const frames = this.viewer.sent.slice(this.#read);
    this.#read = this.viewer.sent.length;
    for (const frame of frames) {
      if (frame.type !== "chat.send") continue;
      const messageId = this.#judged.get(frame.id) ?? this.#post({ accountId: ME, text: frame.text })._id;
      this.#judged.set(frame.id, messageId);
      if (this.#log.length % 3 !== 0) this.viewer.receive({ type: "chat.result", id: frame.id, ok: true, messageId });
    }
  }
}

test("the list equals the room in order, with nothing twice and nothing lost but what is announced as skipped", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), (steps) => new Room().run(steps)),
    { numRuns: 300 },
  );
});
