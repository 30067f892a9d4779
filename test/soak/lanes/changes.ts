import { randomUUID } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { SITE_A } from "#db/demo/match-day.ts";
import { orderViolations, type Receiver } from "#test/webhook-receiver.ts";
import type { Api } from "../api.ts";
import type { Lane, Outcome } from "../lane.ts";

const OVERLAYS = 5;
const PATIENCE_MS = 300_000;
const TYPES = "overlay.created,overlay.updated";

const Overlay = z.object({ _id: z.string() });
const Log = z.object({ results: z.array(z.object({ id: z.string() })), after: z.number() });

/** Changes of overlays, told to a webhook: each acknowledged change and each event of the log arrives, in the order of its resource. */
export class Changes implements Lane {
  readonly name = "webhooks";
  readonly pauseMs = 250;
  readonly #api: Api;
  readonly #receiver: Receiver;
  readonly #ids: string[] = [];
  readonly #names: string[] = [];
  #after = 0;

  constructor(api: Api, receiver: Receiver) {
    this.#api = api;
    this.#receiver = receiver;
  }

  async prepare(): Promise<void> {
    for (let last = -1; last !== this.#after;) {
      last = this.#after;
      this.#after = (await this.#page(last)).after;
    }
    const webhooks = { enabled: true, webhookUrl: this.#receiver.url, webhookSubscriptions: ["overlay-service-v1"] };
    await this.#api.succeed("/webhooks/v1", { method: "POST", body: { webhooks } });
    for (let number = 0; number < OVERLAYS; number++)
      this.#ids.push(Overlay.parse(await this.#api.succeed("/overlay/v1", { method: "POST", body: overlay("created") }))._id);
  }

  async step(): Promise<void> {
    const name = randomUUID();
    await this.#api.succeed(`/overlay/v1/${this.#ids[this.#names.length % OVERLAYS]}`, { method: "PUT", body: overlay(name) });
    this.#names.push(name);
  }

  async compare(): Promise<Outcome> {
    const logged: string[] = [];
    for (let after = this.#after; ;) {
      const page = await this.#page(after);
      if (page.results.length === 0) break;
      logged.push(...page.results.map(({ id }) => id));
      after = page.after;
    }
    const { events } = this.#receiver;
    const patience = new Promise<void>((done) => setTimeout(done, PATIENCE_MS).unref());
    await Promise.race([this.#receiver.until(() => logged.every((id) => events.has(id))), patience]);
    const received = new Set([...events.values()].map(({ data }) => data["name"]));
    return {
      acknowledged: this.#names.length,
      wrong: [
        ...this.#names.filter((name) => !received.has(name)).map((name) => `no webhook for the change to ${name}`),
        ...logged.filter((id) => !events.has(id)).map((id) => `event ${id} wasn't delivered`),
        ...orderViolations(events.values()),
      ],
    };
  }

  async #page(after: number): Promise<z.output<typeof Log>> {
    return Log.parse(await this.#api.succeed(`/webhooks/v1/events?types=${TYPES}&limit=200&after=${after}`));
  }
}

function overlay(name: string) {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  return { name, description: "", siteId: SITE_A, type: "template", duration: 8, contents };
}
