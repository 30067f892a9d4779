import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { logError } from "#worker/lib/log.ts";
import { disableEndpoint, newDeadline, readTarget, sendEvent, type Target } from "#worker/services/webhooks/dispatch.ts";
import { deliverDue } from "./deliver-due.ts";
import { DeliveryQueue } from "./delivery-queue.ts";
import type { DueDelivery } from "./due-delivery.ts";
import type { Attempt, Delivery, DeliveryQuery, QueuedEvent, SentEvent } from "./webhook-endpoint.protocol.ts";

/** Longest and shortest time between two prunings. */
const PRUNE_MS = { most: 60 * 60 * 1000, least: 60 * 1000 };
const AFTER_ERROR_MS = 30_000;
/** How long settings are cached; a change is notified immediately. */
const TARGET_MS = 60_000;

/** One per endpoint, named `<siteId>:<endpointId>`: delivers events, in order per resource, until each is accepted or given up. */
export class WebhookEndpoint extends SiteObject {
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

  /** Accepts events for delivery; they are stored once this resolves. `changed`: the endpoint's settings have changed. */
  async accept(events: QueuedEvent[], changed: boolean): Promise<void> {
    const now = Date.now();
    this.#queue.add(events, now);
    if (changed) this.#applyChange(now);
    await this.#retryOnError(() => this.#schedule());
  }

  has(id: string): boolean {
    return this.#queue.has(id);
  }

  /** Sends a delivery again; false if it isn't stored here. */
  async redeliver(id: string): Promise<boolean> {
    const known = this.#queue.redeliver(id, Date.now());
    if (known) await this.#retryOnError(() => this.#schedule());
    return known;
  }

  deliveries(query: DeliveryQuery): { rows: Delivery[]; totalCount: number } {
    return this.#queue.list(query);
  }

  /** What a delivery sends; null if it isn't stored here. */
  payload(id: string): SentEvent | null {
    return this.#queue.payload(id);
  }

  /** Erases the data of a deleted person's events. */
  erase(resource: string, before: number): void {
    this.#queue.erase(resource, before);
  }

  /** Sends due deliveries. */
  override async alarm(): Promise<void> {
    await this.#retryOnError(async () => {
      this.#prune(Date.now());
      await this.#deliver();
      await this.#schedule();
    });
  }

  /** Retries internal errors with a new alarm: the platform gives up on an alarm that keeps throwing. */
  async #retryOnError(work: () => Promise<void>): Promise<void> {
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

  /** Reads the settings for each event, because they may change during a run. */
  async #send(event: DueDelivery): Promise<Attempt | null> {
    const target = await this.#readTarget();
    return target?.enabled ? sendEvent(this.env, target, event, this.#deadline) : null;
  }

  /** Retries everything now, because the receiver may have been fixed. */
  #applyChange(now: number): void {
    this.#target = undefined;
    this.#changes++;
    this.#queue.retryNow(now);
  }

  async #readTarget(): Promise<Target | undefined> {
    const now = Date.now();
    if (this.#target && now - this.#target.read <= TARGET_MS) return this.#target.value;
    const changes = this.#changes;
    const value = await readTarget(this.env, this.#siteId, this.#endpointId);
    // Settings read during a change may be outdated.
    if (changes !== this.#changes) return this.#readTarget();
    this.#target = { value, read: now };
    return value;
  }

  /** Sets the next alarm, or deletes everything if the endpoint was deleted. */
  async #schedule(): Promise<void> {
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
