import { DurableObject } from "cloudflare:workers";
import { logError } from "#worker/lib/log.ts";
import { disableEndpoint, newDeadline, readTarget, sendEvent, type Target } from "#worker/services/webhooks/dispatch.ts";
import { deliverDue } from "./deliver-due.ts";
import { DeliveryQueue, type DueDelivery } from "./delivery-queue.ts";
import type { Attempt, Delivery, DeliveryQuery, QueuedEvent } from "./webhook-endpoint.protocol.ts";

/** What is old is forgotten at least so often where anything is kept, and at most so often while much is sent. */
const PRUNE_MS = { most: 60 * 60 * 1000, least: 60 * 1000 };
const AFTER_ERROR_MS = 30_000;
/** How long settings are taken for true without asking again; a change is told at once. */
const TARGET_MS = 60_000;

/** One per endpoint, named `<siteId>:<endpointId>`: tells it of events, in order for each resource, until it has taken them or is given up. */
export class WebhookEndpoint extends DurableObject<Env> {
  readonly #queue: DeliveryQueue;
  readonly #siteId: string;
  readonly #endpointId: string;
  readonly #deadline = newDeadline();
  #pruned = 0;
  #target: { value: Target | undefined; read: number } | undefined;
  #changes = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    [this.#siteId = "", this.#endpointId = ""] = (ctx.id.name ?? "").split(":");
    this.#queue = new DeliveryQueue(ctx.storage);
  }

  /** Takes events over: once this resolves, they are sent whatever happens. `changed`: so were the endpoint's settings. */
  async accept(events: QueuedEvent[], changed: boolean): Promise<void> {
    const now = Date.now();
    this.#queue.add(events, now);
    if (changed) this.#changed(now);
    await this.#orLater(() => this.#wake());
  }

  knows(id: string): boolean {
    return this.#queue.knows(id);
  }

  /** Sends a delivery once more; false where it isn't known here. */
  async redeliver(id: string): Promise<boolean> {
    const known = this.#queue.redeliver(id, Date.now());
    if (known) await this.#orLater(() => this.#wake());
    return known;
  }

  deliveries(query: DeliveryQuery): { rows: Delivery[]; totalCount: number } {
    return this.#queue.list(query);
  }

  /** Forgets what the events of a deleted person say. */
  erase(resource: string, before: number): void {
    this.#queue.erase(resource, before);
  }

  /** Sends what is due. */
  override async alarm(): Promise<void> {
    await this.#orLater(async () => {
      this.#prune(Date.now());
      await this.#deliver();
      await this.#wake();
    });
  }

  /** An error of ours is tried again by the next alarm: after some failures the platform would give the alarm up. */
  async #orLater(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logError("webhook_failed", error, { endpoint: this.ctx.id.name });
      await this.ctx.storage.setAlarm(Date.now() + AFTER_ERROR_MS);
    }
  }

  #prune(now: number): void {
    if (now - this.#pruned < PRUNE_MS.least) return;
    this.#queue.prune(now);
    this.#pruned = now;
  }

  async #deliver(): Promise<void> {
    const target = await this.#readTarget();
    if (!target?.enabled) return;
    const reason = await deliverDue(this.#queue, {
      send: (event) => this.#send(event),
      now: () => Date.now(),
      random: () => Math.random(),
    });
    if (reason === undefined) return;
    await disableEndpoint(this.env, this.#siteId, this.#endpointId, { reason, version: target.version, now: Date.now() });
    this.#target = undefined;
  }

  /** The settings are asked for each event: they may change during a run. */
  async #send(event: DueDelivery): Promise<Attempt | null> {
    const target = await this.#readTarget();
    return target?.enabled ? sendEvent(this.env, target, event, this.#deadline) : null;
  }

  /** Begins anew, since the receiver may have been mended. */
  #changed(now: number): void {
    this.#target = undefined;
    this.#changes++;
    this.#queue.beginAnew(now);
  }

  async #readTarget(): Promise<Target | undefined> {
    const now = Date.now();
    if (this.#target && now - this.#target.read <= TARGET_MS) return this.#target.value;
    const changes = this.#changes;
    const value = await readTarget(this.env, this.#siteId, this.#endpointId);
    // What was read while the settings changed may be what they were.
    if (changes !== this.#changes) return this.#readTarget();
    this.#target = { value, read: now };
    return value;
  }

  /** An endpoint that was deleted forgets all. */
  async #wake(): Promise<void> {
    const target = this.#queue.isEmpty() ? undefined : await this.#readTarget();
    if (!target) {
      this.#queue.clear();
      return this.ctx.storage.deleteAlarm();
    }
    const due = target.enabled ? this.#queue.nextDue() : undefined;
    const now = Date.now();
    await this.ctx.storage.setAlarm(Math.max(now, Math.min(due ?? Infinity, now + PRUNE_MS.most)));
  }
}
