import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { CHANNEL_1 } from "#db/demo/match-day.ts";
import { ChatClient } from "#test/kills/chat-kills-client.ts";
import type { Api } from "../api.ts";
import { differences, keepConnected, type Lane, type Outcome } from "../lane.ts";
import type { SoakServer } from "../server.ts";

/** Verdicts after which the same message may be sent again. */
const LATER = new Set(["rate_limited", "chat_busy", "unavailable", "internal_error"]);

const Stored = z.object({ _id: z.string() });

/** A chat of some writers: each message with a verdict is stored once. */
export class Chat implements Lane {
  readonly name = "chat";
  readonly pauseMs = 200;
  readonly #api: Api;
  readonly #server: SoakServer;
  readonly #writers: ChatClient[] = [];
  readonly #stored: string[] = [];
  readonly #rejected: string[] = [];
  #turn = 0;
  #isOver = false;

  constructor(api: Api, server: SoakServer) {
    this.#api = api;
    this.#server = server;
  }

  async prepare(): Promise<void> {
    for (let number = 0; number < 4; number++) {
      const writer = await ChatClient.signUp(this.#server.current, `soak-${number}`);
      this.#writers.push(writer);
      await writer.connect(this.#server.current);
      const client = { connect: () => writer.connect(this.#server.current), ended: () => writer.ended };
      void writer.ended.then(() => keepConnected(client, () => this.#isOver));
    }
  }

  /** One message, repeated under its own id until it has a verdict. */
  async step(): Promise<void> {
    const writer = this.#writers[this.#turn++ % this.#writers.length];
    const id = randomUUID();
    for (;;) {
      const verdict = await writer?.send(id, `Message ${this.#turn}`);
      if (verdict?.ok && verdict.messageId !== undefined) return void this.#stored.push(verdict.messageId);
      if (verdict && !LATER.has(verdict.code ?? "")) return void this.#rejected.push(`message ${this.#turn}: ${verdict.code}`);
      await sleep(200);
    }
  }

  async compare(): Promise<Outcome> {
    const bytes = await this.#api.download(`/chat/v1/${CHANNEL_1}/export?format=jsonl`);
    const lines = new TextDecoder().decode(bytes).split("\n");
    const found = lines.flatMap((line) => (line === "" ? [] : [Stored.parse(JSON.parse(line))._id]));
    const gaps = this.#writers.flatMap(({ violations }) => violations);
    return { acknowledged: this.#stored.length, wrong: [...differences(this.#stored, found), ...this.#rejected, ...gaps] };
  }

  close(): void {
    this.#isOver = true;
    for (const writer of this.#writers) writer.close();
  }
}
