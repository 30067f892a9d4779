import { randomUUID } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { newFan, type Fan } from "../fan.ts";
import type { Api } from "../api.ts";
import { differences, type Lane, type Outcome } from "../lane.ts";

const Wallet = z.object({ _id: z.string(), balance: z.number() });
const Transactions = z.object({
  results: z.array(z.object({ transactionId: z.string() })),
  pagination: z.object({ next: z.string().nullable() }),
});

/** Credits of a wallet, each repeated under its own id: the books have each of them once, and the balance is their sum. */
export class Credits implements Lane {
  readonly name = "credits";
  readonly pauseMs = 250;
  readonly #api: Api;
  readonly #credited: string[] = [];
  readonly #rejected: string[] = [];
  #fan: Fan | undefined;
  #walletId = "";
  #balanceBefore = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  async prepare(): Promise<void> {
    this.#fan = await newFan(this.#api, "credits");
    const wallet = await this.#wallet();
    this.#walletId = wallet._id;
    this.#balanceBefore = wallet.balance;
  }

  async step(): Promise<void> {
    const transactionId = `soak-${randomUUID()}`;
    const body = { transactionId, amount: 1, reason: "Soak" };
    const { status } = await this.#api.decide(`/wallet/v1/${this.#walletId}/transactions`, { method: "POST", body });
    if (status < 300) this.#credited.push(transactionId);
    else this.#rejected.push(`credit ${transactionId}: ${status}`);
  }

  async compare(): Promise<Outcome> {
    const found: string[] = [];
    for (let query: string | null = "?limit=200"; query !== null;) {
      const page: z.output<typeof Transactions> = Transactions.parse(
        await this.#api.succeed(`/wallet/v1/${this.#walletId}/transactions${query}`),
      );
      found.push(...page.results.map(({ transactionId }) => transactionId));
      query = page.pagination.next === null ? null : page.pagination.next.slice(page.pagination.next.indexOf("?"));
    }
    const earned = (await this.#wallet()).balance - this.#balanceBefore;
    const balance = earned === this.#credited.length ? [] : [`the balance has grown by ${earned} for ${this.#credited.length} credits`];
    return { acknowledged: this.#credited.length, wrong: [...differences(this.#credited, found), ...this.#rejected, ...balance] };
  }

  async #wallet(): Promise<z.output<typeof Wallet>> {
    return Wallet.parse(await this.#api.succeed(`/wallet/v1/account/${this.#fan?.id}`));
  }
}
