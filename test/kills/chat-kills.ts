import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { CHANNEL_1, SITE_A } from "#db/demo/match-day.ts";
import type { Server } from "#scripts/lib/server.ts";
import { ChatClient, post } from "./chat-kills-client.ts";
import { startServer, temporaryState } from "#test/browser/server.ts";

const STAFF = { "Tifo-Client-Id": SITE_A, "Tifo-Developer-Key": "tifo_dev_demo" };
const WRITERS = 12;
/** Of each writer's messages, one in so many is removed. */
const REMOVED = 4;
/** Verdicts after which the same message may be sent again. */
const LATER = ["rate_limited", "chat_busy", "unavailable"];

const Stored = z.object({ _id: z.string(), text: z.string(), state: z.string() });

/** What must be empty is a list; what went wrong is in it. */
export interface Outcome {
  acknowledged: number;
  removals: number;
  bans: number;
  /** Acknowledged messages that the room doesn't have. */
  lost: string[];
  doubled: string[];
  /** Removed messages that are visible, in the room or on a viewer's screen. */
  returned: string[];
  /** Banned accounts that could send. */
  unbanned: string[];
  /** Gaps and repetitions in what a viewer received. */
  gaps: string[];
}

interface Sent {
  id: string;
  text: string;
}

/** Sends messages, removes some and bans accounts while the server is killed this many times, each after some messages. */
export async function chatUnderKills(kills: number, messagesPerRun: number): Promise<Outcome> {
  const state = await temporaryState();
  let server = await startServer({ state });
  const test = new Test();
  try {
    await test.signUp(server, kills);
    for (let run = 0; run < kills; run++) {
      await test.connect(server);
      await test.writeUntil(server, run, messagesPerRun);
      server = await startServer({ state });
    }
    await test.connect(server);
    await test.finish(server);
    return await test.compare(server);
  } finally {
    test.close();
    await server.kill();
    await rm(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What the clients know from responses, and what they still have to repeat. */
class Test {
  #writers: ChatClient[] = [];
  /** One is banned in each run. */
  #culprits: ChatClient[] = [];
  readonly #banned = new Set<ChatClient>();
  /** The ids of acknowledged messages, by text. */
  readonly #acknowledged = new Map<string, string>();
  readonly #removed = new Set<string>();
  readonly #unanswered = new Map<ChatClient, Sent>();
  readonly #unconfirmedRemovals = new Set<string>();
  readonly #returned = new Set<string>();

  async signUp(server: Server, kills: number): Promise<void> {
    for (let number = 0; number < WRITERS; number++) this.#writers.push(await ChatClient.signUp(server, `writer-${number}`));
    for (let number = 0; number < kills; number++) this.#culprits.push(await ChatClient.signUp(server, `culprit-${number}`));
  }

  async connect(server: Server): Promise<void> {
    await Promise.all([...this.#writers, ...this.#culprits].map((client) => client.connect(server)));
    this.#noteReturned();
  }

  /** Everybody writes until so many messages have been acknowledged; then the server is killed while others are on their way. */
  async writeUntil(server: Server, run: number, messages: number): Promise<void> {
    let killed: Promise<void> | undefined;
    const from = this.#acknowledged.size;
    const culprit = this.#culprits[run];
    const lane = async (writer: ChatClient, number: number): Promise<void> => {
      for (let count = 0; killed === undefined; count++) {
        const id = await this.#send(writer, `Run ${run}, writer ${number}, message ${count}`);
        if (id === null) return;
        const done = this.#acknowledged.size - from;
        if (done >= messages) killed ??= server.kill();
        else if (count % REMOVED === 0) await this.#remove(server, id);
        if (number === 0 && count === 0 && culprit) await this.#ban(server, culprit);
      }
    };
    await Promise.all(this.#writers.map(lane));
    await (killed ?? server.kill());
  }

  /** Repeats what has no response yet. */
  async finish(server: Server): Promise<void> {
    await Promise.all([...this.#unanswered.keys()].map((writer) => this.#send(writer, "")));
    for (const id of this.#unconfirmedRemovals) await this.#remove(server, id);
  }

  async compare(server: Server): Promise<Outcome> {
    const response = await fetch(`${server.url}/chat/v1/${CHANNEL_1}/export?format=jsonl`, { headers: STAFF });
    const stored = (await response.text()).split("\n").flatMap((line) => (line === "" ? [] : Stored.parse(JSON.parse(line))));
    const byText = Map.groupBy(stored, ({ text }) => text);
    const unbanned: string[] = [];
    for (const culprit of this.#banned) {
      const verdict = await culprit.send(randomUUID(), "Let me in");
      if (verdict?.code !== "chat_banned") unbanned.push(culprit.id);
    }
    return {
      acknowledged: this.#acknowledged.size,
      removals: this.#removed.size,
      bans: this.#banned.size,
      lost: [...this.#acknowledged].filter(([text, id]) => !byText.get(text)?.some(({ _id }) => _id === id)).map(([text]) => text),
      doubled: [...byText].filter(([, copies]) => copies.length > 1).map(([text]) => text),
      returned: [
        ...this.#returned,
        ...stored.filter(({ _id, state }) => this.#removed.has(_id) && state !== "removed").map(({ text }) => text),
      ],
      unbanned,
      gaps: [...this.#writers, ...this.#culprits].flatMap(({ violations }) => violations),
    };
  }

  close(): void {
    for (const client of [...this.#writers, ...this.#culprits]) client.close();
  }

  /** Sends a message, or repeats the one that has no verdict yet, with the same id. Null: there is still none. */
  async #send(writer: ChatClient, text: string): Promise<string | null> {
    const sent = this.#unanswered.get(writer) ?? { id: randomUUID(), text };
    this.#unanswered.set(writer, sent);
    for (;;) {
      const verdict = await writer.send(sent.id, sent.text);
      if (verdict === null) return null;
      if (verdict.ok && verdict.messageId !== undefined) {
        this.#unanswered.delete(writer);
        this.#acknowledged.set(sent.text, verdict.messageId);
        return verdict.messageId;
      }
      if (!LATER.includes(verdict.code ?? "")) throw new Error(`Rejected: ${verdict.code} ${verdict.message}`);
      await sleep((verdict.retryAfter ?? 1) * 1000);
    }
  }

  async #remove(server: Server, id: string): Promise<void> {
    this.#unconfirmedRemovals.add(id);
    const options = { method: "DELETE", headers: STAFF };
    const response = await fetch(`${server.url}/chat/v1/${CHANNEL_1}/messages/${id}`, options).catch(() => null);
    if (response?.status !== 204) return;
    this.#unconfirmedRemovals.delete(id);
    this.#removed.add(id);
  }

  async #ban(server: Server, culprit: ChatClient): Promise<void> {
    const ban = { accountId: culprit.id, kind: "ban", channelId: CHANNEL_1 };
    const banned = await post(server, "/chat/v1/bans", ban, STAFF).then(
      () => true,
      () => false,
    );
    if (banned) this.#banned.add(culprit);
  }

  /** Viewers who have just joined must not see what was removed before. */
  #noteReturned(): void {
    for (const { screen } of [...this.#writers, ...this.#culprits])
      for (const id of this.#removed) if (screen.has(id)) this.#returned.add(id);
  }
}
