import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { CHANNEL_1, SITE_A } from "#db/demo/match-day.ts";
import { GOAL_TEMPLATE } from "#db/demo/overlays.ts";
import type { Server } from "#scripts/lib/server.ts";
import { Viewer } from "#test/browser/viewer.ts";
import { ChatClient, post } from "./chat-kills-client.ts";

const STAFF = { "Tifo-Client-Id": SITE_A, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" };
/** Below the limit of a device's sockets: they share one id. */
const VIEWERS = 8;
const WRITERS = 8;
const PAUSE_MS = 50;
/** A request that a dying server took has no response; it is then repeated. */
const RESPONSE_MS = 20_000;
/** Between two votes, so that some are cast on each release. */
const VOTE_MS = 3_000;
/** Verdicts after which the same message may be sent again. */
const LATER = ["rate_limited", "chat_busy", "unavailable"];

const Broadcasted = z.object({ broadcasts: z.tuple([z.object({ broadcastId: z.string(), seq: z.number() })]) });
const Created = z.object({ _id: z.string() });
const Poll = z.object({ _id: z.string(), answers: z.tuple([Created, Created]) });
const Session = z.object({ jwt: z.string(), refreshToken: z.string() });
const Transactions = z.object({
  results: z.array(z.object({ transactionId: z.string() })),
  pagination: z.object({ next: z.string().nullable() }),
});

/** What must be empty is a list; what went wrong is in it. */
export interface UpgradeOutcome {
  acknowledged: { broadcasts: number; messages: number; credits: number; votes: number };
  lost: string[];
  doubled: string[];
  /** Viewers whose frames are out of order or not those of the others. */
  gaps: string[];
  /** Viewers who could not resume. */
  restarted: string[];
  /** Sessions and requests of the previous release that the next one rejects. */
  rejected: string[];
}

/** A viewer with an account, who writes, and votes once. */
interface Writer {
  chat: ChatClient;
  session: z.output<typeof Session>;
}

/** What clients do while the server is upgraded. They repeat what has no response yet. */
export class UpgradeLoad {
  readonly #url: string;
  readonly #viewers = Array.from({ length: VIEWERS }, () => new Viewer());
  readonly #writers: Writer[] = [];
  readonly #broadcasts: { broadcastId: string; seq: number }[] = [];
  readonly #messages: string[] = [];
  readonly #credits: string[] = [];
  readonly #restarted: string[] = [];
  readonly #rejected: string[] = [];
  #votes = 0;
  #poll = "";
  #wallet = "";
  #ended = false;
  #lanes: Promise<unknown>[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  async begin(server: Server): Promise<void> {
    for (let number = 0; number < WRITERS; number++) {
      const chat = await ChatClient.signUp(server, `upgrade-${number}`);
      const credentials = { email: `upgrade-${number}@chat-kills.example`, password: `upgrade-${number}-pass-of-the-chat`, siteId: SITE_A };
      this.#writers.push({ chat, session: Session.parse(await post(server, "/auth/v2/login", credentials)) });
    }
    const poll = Poll.parse(await post(server, "/poll/v3", POLL, STAFF));
    this.#poll = poll._id;
    const wallet = await this.#request("GET", `/wallet/v1/account/${this.#writers[0]?.chat.id}`);
    this.#wallet = Created.parse(wallet?.body)._id;
    await this.#connect(server);
    this.#lanes = [
      this.#broadcast(),
      this.#broadcast(),
      this.#credit("a"),
      this.#credit("b"),
      this.#vote(poll.answers[0]._id),
      ...this.#writers.map(({ chat }, number) => this.#write(chat, number)),
    ];
  }

  /** Connects everybody to the server that follows. */
  async reconnect(server: Server): Promise<void> {
    await this.#connect(server);
    this.#viewers.forEach(({ recovered }, number) => recovered || this.#restarted.push(`viewer ${number}`));
  }

  stop(): void {
    this.#ended = true;
    for (const viewer of this.#viewers) viewer.close();
    for (const { chat } of this.#writers) chat.close();
  }

  /** Ends the load, waits for what is on its way, and compares what the server has with what it acknowledged. */
  async end(server: Server): Promise<UpgradeOutcome> {
    this.#ended = true;
    await Promise.all(this.#lanes);
    for (const { chat, session } of this.#writers) {
      const again = await this.#request("POST", "/auth/v2/refresh", { refreshToken: session.refreshToken }, PUBLIC);
      if (again?.status !== 200) this.#rejected.push(`session of ${chat.id}: ${again?.status}`);
    }
    const last = Broadcasted.parse(await post(server, `/overlay/v1/broadcast/${GOAL_TEMPLATE}`, GOAL, STAFF)).broadcasts[0];
    this.#broadcasts.push(last);
    await Promise.all(this.#viewers.map((viewer) => viewer.waitForSeq(last.seq)));
    const stored = [...(await this.#storedMessages()), ...(await this.#storedCredits())];
    const [complete] = this.#viewers;
    const shown = complete?.shown.map(({ broadcastId }) => broadcastId) ?? [];
    const votes = await this.#countedVotes();
    const expected = [...this.#messages, ...this.#credits, ...this.#broadcasts.map(({ broadcastId }) => broadcastId)];
    const found = Map.groupBy([...stored, ...shown], (id) => id);
    return {
      acknowledged: {
        broadcasts: this.#broadcasts.length,
        messages: this.#messages.length,
        credits: this.#credits.length,
        votes: this.#votes,
      },
      lost: [...expected.filter((id) => !found.has(id)), ...(votes < this.#votes ? [`${this.#votes - votes} votes`] : [])],
      doubled: [
        ...[...found].filter(([, copies]) => copies.length > 1).map(([id]) => id),
        ...(votes > this.#votes ? [`${votes - this.#votes} votes`] : []),
      ],
      gaps: this.#viewers.flatMap((viewer, number) => (sameFrames(viewer, complete) ? [] : [`viewer ${number}`])),
      restarted: this.#restarted,
      rejected: this.#rejected,
    };
  }

  async #connect(server: Server): Promise<void> {
    const connect = async (client: Viewer | ChatClient): Promise<void> => {
      // Requests of a server that has just started may be lost.
      for (let isConnected = false; !isConnected; await sleep(PAUSE_MS)) {
        isConnected = await client.connect(server).then(
          () => true,
          () => false,
        );
      }
    };
    await Promise.all([...this.#viewers, ...this.#writers.map(({ chat }) => chat)].map(connect));
  }

  /** A broadcast without a response isn't repeated: the next one follows. */
  async #broadcast(): Promise<void> {
    while (!this.#ended) {
      const response = await this.#request("POST", `/overlay/v1/broadcast/${GOAL_TEMPLATE}`, GOAL);
      if (response?.status === 200 || response?.status === 201) this.#broadcasts.push(Broadcasted.parse(response.body).broadcasts[0]);
      await sleep(PAUSE_MS);
    }
  }

  /** A credit is repeated under its own id until it has a response. */
  async #credit(lane: string): Promise<void> {
    for (let number = 0; !this.#ended; number++) {
      const transactionId = `upgrade-${lane}-${number}`;
      const status = await this.#repeat(`/wallet/v1/${this.#wallet}/transactions`, { transactionId, amount: 1, reason: "Upgrade" }, STAFF);
      if (status < 300) this.#credits.push(transactionId);
      else this.#rejected.push(`credit ${transactionId}: ${status}`);
      await sleep(PAUSE_MS);
    }
  }

  /** Each account votes once, with the session that the previous release made. A vote that was counted without a response is a 409. */
  async #vote(answerId: string): Promise<void> {
    for (const { session } of this.#writers) {
      const status = await this.#repeat(
        `/poll/v3/${this.#poll}/responses`,
        { answerId },
        { ...PUBLIC, Authorization: `Bearer ${session.jwt}` },
      );
      if (status === 201 || status === 409) this.#votes++;
      else this.#rejected.push(`vote: ${status}`);
      if (!this.#ended) await sleep(VOTE_MS);
    }
  }

  /** A message is repeated under its own id until it has a verdict. */
  async #write(chat: ChatClient, writer: number): Promise<void> {
    for (let number = 0; !this.#ended; number++) {
      const id = randomUUID();
      for (let isPending = true; isPending;) {
        const verdict = await chat.send(id, `Writer ${writer}, message ${number}`);
        if (verdict?.ok && verdict.messageId !== undefined) this.#messages.push(verdict.messageId);
        else if (verdict && !LATER.includes(verdict.code ?? "")) this.#rejected.push(`message: ${verdict.code}`);
        isPending = !verdict || LATER.includes(verdict.code ?? "");
        await sleep(PAUSE_MS);
      }
    }
  }

  async #storedMessages(): Promise<string[]> {
    const response = await fetch(`${this.#url}/chat/v1/${CHANNEL_1}/export?format=jsonl`, { headers: STAFF });
    const lines = (await response.text()).split("\n").filter((line) => line !== "");
    return lines.map((line) => Created.parse(JSON.parse(line))._id);
  }

  async #storedCredits(): Promise<string[]> {
    const credits: string[] = [];
    for (let query: string | null = "?limit=200"; query !== null;) {
      const response = await this.#request("GET", `/wallet/v1/${this.#wallet}/transactions${query}`);
      const { results, pagination }: z.output<typeof Transactions> = Transactions.parse(response?.body);
      credits.push(...results.map(({ transactionId }) => transactionId));
      query = pagination.next === null ? null : pagination.next.slice(pagination.next.indexOf("?"));
    }
    return credits;
  }

  async #countedVotes(): Promise<number> {
    const response = await this.#request("GET", `/poll/v3/${this.#poll}/results`);
    return z.object({ total: z.number() }).parse(response?.body).total;
  }

  /** Repeats a request until it has a response that isn't the server's failure, and returns its status. */
  async #repeat(path: string, body: object, headers: Record<string, string>): Promise<number> {
    for (;;) {
      const response = await this.#request("POST", path, body, headers);
      if (response && response.status < 500) return response.status;
      await sleep(PAUSE_MS);
    }
  }

  /** Undefined: no response. */
  async #request(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = STAFF,
  ): Promise<{ status: number; body: unknown } | undefined> {
    try {
      const signal = AbortSignal.timeout(RESPONSE_MS);
      const response = await fetch(this.#url + path, { method, headers, body: body ? JSON.stringify(body) : null, signal });
      return { status: response.status, body: await response.json() };
    } catch {
      return undefined;
    }
  }
}

const PUBLIC = { "Tifo-Client-Id": SITE_A, "Content-Type": "application/json" };
const GOAL = { channelId: CHANNEL_1, duration: 3600, variables: { scorer: "Ada Moreno", minute: 17 } };
const POLL = {
  siteId: SITE_A,
  type: "poll",
  name: "Upgrade",
  question: "Who wins?",
  open: true,
  answers: [{ answer: "Home" }, { answer: "Away" }],
};

/** Whether both viewers were shown the same overlays in the order of the channel. */
function sameFrames(viewer: Viewer, other: Viewer | undefined): boolean {
  const seqs = (of: Viewer | undefined): number[] => of?.shown.map(({ seq }) => seq) ?? [];
  const mine = seqs(viewer);
  return mine.every((seq, index) => index === 0 || seq > (mine[index - 1] ?? 0)) && JSON.stringify(mine) === JSON.stringify(seqs(other));
}
