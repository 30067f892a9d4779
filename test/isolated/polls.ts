import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { counterAt } from "#worker/durable-objects/stubs.ts";
import { counterOf, type VoteOutcome } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { Poll, PollResults } from "#worker/services/polls/schemas.ts";
import { type TestSite } from "#test/harness.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

export type Poll = ReturnType<typeof Poll.parse>;

export const idOf = (poll: Poll, index: number): string => poll.answers[index]?._id ?? "";

/** Polls, and accounts that vote in them. `site` is a function because suites create their site in `beforeAll`. */
export function pollsOf(site: () => TestSite) {
  async function newPoll(fields: Record<string, unknown> = {}, at = site()): Promise<Poll> {
    const body = {
      siteId: at.id,
      type: "prediction",
      question: "Who wins?",
      name: "Derby",
      open: true,
      answers: ["City", "A draw", "Dock"].map((answer) => ({ answer })),
      ...fields,
    };
    return (await at.call("createPoll", { body })).as(Poll);
  }

  /** Inserts many accounts, which can't sign in. */
  async function crowd(size: number): Promise<string[]> {
    const now = Date.now();
    const ids = Array.from({ length: size }, () => newId(now));
    const [fan] = await db.select().from(accounts).where(eq(accounts.id, site().accounts.viewer.id));
    if (!fan) throw new Error("The site has no viewer to copy");
    const columns = Object.keys((await siteStore.prepare("SELECT * FROM accounts LIMIT 1").first<Record<string, unknown>>()) ?? {});
    const unique = new Map([
      ["id", "value"],
      ["email", "value || '@crowd.example'"],
      ["email_hash", "value"],
      ["name", "value"],
      ["normalized_name", "value"],
    ]);
    const selected = columns.map((column) => unique.get(column) ?? `accounts.${column}`).join(", ");
    await siteStore
      .prepare(`INSERT INTO accounts (${columns.join(", ")}) SELECT ${selected} FROM accounts, json_each(?) WHERE accounts.id = ?`)
      .bind(JSON.stringify(ids), fan.id)
      .run();
    return ids;
  }

  const vote = (poll: Poll, accountId: string, answer = 0, requestId = randomHex(6), at = site()): Promise<VoteOutcome> =>
    counterAt(env, at.id, poll._id, counterOf(accountId)).vote({ accountId, answerId: idOf(poll, answer), requestId });
  const patch = (poll: Poll, body: Record<string, unknown>) => site().call("patchPoll", { params: { id: poll._id }, body });
  const results = async (poll: Poll) => (await site().call("getPollResults", { as: "client", params: { id: poll._id } })).as(PollResults);
  const counts = async (poll: Poll) => (await results(poll)).answers.map(({ responses }) => responses);

  return { newPoll, crowd, vote, patch, results, counts };
}
