import { DurableObject } from "cloudflare:workers";
import { logError } from "../lib/log.ts";
import { disableEndpoint, readTarget, sendEvent, type Target } from "../services/webhook-dispatch.ts";
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
  #pruned = 0;
  #target: { value: Target | undefined; read: number } | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    [this.#siteId = "", this.#endpointId = ""] = (ctx.id.name ?? "").split(":");
    this.#queue = new DeliveryQueue(ctx.storage);
  }

  /** Takes events over: once this resolves, they are sent whatever happens. `changed`: so were the endpoint's settings. */
  async accept(events: QueuedEvent[], changed: boolean): Promise<void> {
    this.#queue.add(events, Date.now());
    if (changed) await this.#changed();
    await this.#wake();
  }

  /** Sends a delivery once more; false where it isn't known here. */
  async redeliver(id: string): Promise<boolean> {
    const known = this.#queue.redeliver(id, Date.now());
    if (known) await this.#wake();
    return known;
  }

  deliveries(query: DeliveryQuery): { rows: Delivery[]; totalCount: number } {
    return this.#queue.list(query);
  }

  /** Forgets what the events of a deleted person say. */
  erase(resource: string, before: number): void {
    this.#queue.erase(resource, before);
  }

  /** Sends what is due. An error of ours is tried again by the next alarm: after some failures the platform would give the alarm up. */
  override async alarm(): Promise<void> {
    try {
      this.#prune(Date.now());
      await this.#deliver();
      await this.#wake();
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
    if (!target) return this.#queue.clear();
    if (!target.enabled) return;
    const reason = await deliverDue(this.#queue, {
      send: (event) => this.#send(event),
      now: () => Date.now(),
      random: () => Math.random(),
    });
    if (reason === undefined) return;
    await disableEndpoint(this.env, this.#siteId, this.#endpointId, reason, Date.now());
    this.#target = undefined;
  }

  /** The settings are asked for each event: they may change during a run. */
  async #send(event: DueDelivery): Promise<Attempt | null> {
    const target = await this.#readTarget();
    return target?.enabled ? sendEvent(this.env, target, event) : null;
  }

  /** A deleted endpoint forgets all; one whose settings were changed begins anew, since the receiver may have been mended. */
  async #changed(): Promise<void> {
    this.#target = undefined;
    const target = await this.#readTarget();
    if (!target) this.#queue.clear();
    else if (target.enabled) this.#queue.beginAnew(Date.now());
  }

  async #readTarget(): Promise<Target | undefined> {
    const now = Date.now();
    if (!this.#target || now - this.#target.read > TARGET_MS)
      this.#target = { value: await readTarget(this.env, this.#siteId, this.#endpointId), read: now };
    return this.#target.value;
  }

  async #wake(): Promise<void> {
    if (this.#queue.isEmpty()) return this.ctx.storage.deleteAlarm();
    const target = await this.#readTarget();
    const due = target?.enabled === false ? undefined : this.#queue.nextDue();
    const now = Date.now();
    await this.ctx.storage.setAlarm(Math.max(now, Math.min(due ?? Infinity, now + PRUNE_MS.most)));
  }
}
