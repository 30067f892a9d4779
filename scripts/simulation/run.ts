import { mock } from "node:test";
import { MAX_RELAYS } from "#worker/durable-objects/branch/branch.protocol.ts";
import { ChannelTree } from "./channel-tree.ts";
import { MESSAGES_PER_REQUEST, OBJECT_GB, USD_PER_GB_SECOND, USD_PER_REQUEST } from "./costs.ts";

/** How full relays are on average when the audience is there. */
const VIEWERS_PER_RELAY = 1_300;
const CHURN_PER_SECOND = 0.02;
const TICK_MS = 10;
const LAST_RETRY_MS = 3_000;

/** In seconds of the simulation. */
const ARRIVE = 30;
const STEADY = 20;
const LOSSES = 20;
const RETURN = 60;
const QUIET = 20;

export interface Figures {
  viewers: number;
  relays: number;
  branches: number;
  broadcasts: number;
  received: number;
  gaps: number;
  doubles: number;
  behind: number;
  returned: number;
  restarted: number;
  branchesLost: number;
  phases: { name: string; p50: number; max: number }[];
  requests: { kind: string; peak: number }[];
  usdPerHour: number;
  usdRequests: number;
  usdDuration: number;
  usdAcks: number;
}

/** Viewers arrive, come and go, lose branches and relays, and are all dropped by a deployment: one broadcast a second throughout. */
export async function simulate({ viewers, connections }: { viewers: number; connections: number }): Promise<Figures> {
  const errors = mock.method(console, "error", () => undefined);
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  try {
    return await new Simulation(viewers, connections).run();
  } finally {
    mock.timers.reset();
    errors.mock.restore();
  }
}

class Simulation {
  readonly #viewers: number;
  readonly #tree: ChannelTree;
  readonly #random = seeded(20_261_123);
  /** Viewers that connect at a tick. */
  readonly #due = new Map<number, number[]>();
  #second = 0;
  #returned = 0;
  #branchesLost = 0;
  #isChurning = false;

  constructor(viewers: number, connections: number) {
    this.#viewers = viewers;
    this.#tree = new ChannelTree(viewers, Math.min(MAX_RELAYS, Math.max(1, Math.ceil(viewers / VIEWERS_PER_RELAY))), connections);
  }

  async run(): Promise<Figures> {
    void this.#tree.retry();
    for (let viewer = 0; viewer < this.#viewers; viewer++) this.#connectWithin(viewer, ARRIVE * 1000);
    const arrival = await this.#phase("while viewers arrive", ARRIVE);
    this.#isChurning = true;
    const before = this.#totals();
    const steady = await this.#phase("steady, 2 % of viewers reconnect each second", STEADY);
    const requests = (this.#totals() - before) / STEADY;
    const losses = await this.#phase("a branch and a relay lost each second", LOSSES, () => this.#loseSome());
    this.#isChurning = false;
    for (const viewer of this.#tree.deploy()) this.#connectWithin(viewer, RETURN * 1000);
    const deploy = await this.#phase("a deployment drops everybody, who return within a minute", RETURN);
    const quiet = await this.#phase("afterwards", QUIET);
    await this.#pass(LAST_RETRY_MS);
    return this.#figures([arrival, steady, losses, deploy, quiet], requests);
  }

  /** Runs some seconds, with a broadcast in each, and returns how long these took to their last viewers. */
  async #phase(name: string, seconds: number, eachSecond: () => void = () => undefined) {
    const first = this.#tree.head + 1;
    for (let second = 0; second < seconds; second++, this.#second++) {
      void this.#tree.publish();
      eachSecond();
      await this.#pass(1000);
    }
    const delays = this.#tree.delays.slice(first, first + seconds).filter((delay) => delay !== undefined);
    delays.sort((a, b) => a - b);
    return { name, p50: Math.round(delays[Math.floor(delays.length / 2)] ?? 0), max: Math.round(delays.at(-1) ?? 0) };
  }

  async #pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed++) {
      if (passed % TICK_MS === 0) this.#tick();
      mock.timers.tick(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #tick(): void {
    const now = Math.floor(Date.now() / TICK_MS);
    const connecting = this.#due.get(now) ?? [];
    this.#due.delete(now);
    for (const viewer of connecting) void this.#connect(viewer);
    if (!this.#isChurning) return;
    const leaving = Math.round((this.#viewers * CHURN_PER_SECOND * TICK_MS) / 1000);
    for (let i = 0; i < leaving; i++) {
      const viewer = Math.floor(this.#random() * this.#viewers);
      if (!this.#tree.audience.isConnected(viewer)) continue;
      this.#tree.audience.disconnect(viewer);
      this.#connectWithin(viewer, 3_000);
    }
  }

  async #connect(viewer: number): Promise<void> {
    try {
      // As the Worker does by hash.
      await this.#tree.join(viewer, (viewer * 7_919) % this.#tree.relays.length);
      this.#returned++;
    } catch {
      this.#connectWithin(viewer, 1_000);
    }
  }

  /** At a random moment within `ms`. */
  #connectWithin(viewer: number, ms: number): void {
    const tick = Math.floor((Date.now() + this.#random() * ms) / TICK_MS) + 1;
    const due = this.#due.get(tick);
    if (due) due.push(viewer);
    else this.#due.set(tick, [viewer]);
  }

  #loseSome(): void {
    if (this.#tree.branches.length > 0) {
      this.#branchesLost++;
      // In the middle of a broadcast.
      const branch = Math.floor(this.#random() * this.#tree.branches.length);
      setTimeout(() => this.#tree.loseBranch(branch), Math.floor(this.#random() * 60));
    }
    const relay = Math.floor(this.#random() * this.#tree.relays.length);
    for (const viewer of this.#tree.loseRelay(relay)) this.#connectWithin(viewer, 5_000);
  }

  #objects() {
    const { channel, branches, relays } = this.#tree;
    return [channel, ...branches.map(({ object }) => object), ...relays.map(({ object }) => object)];
  }

  #totals(): number {
    return this.#objects().reduce((sum, { total }) => sum + total, 0);
  }

  #figures(phases: Figures["phases"], requestsPerSecond: number): Figures {
    const { audience, relays, branches, head, restarted } = this.#tree;
    const objects = this.#objects();
    const peakOf = (kind: string) => Math.max(0, ...objects.filter((object) => object.kind === kind).map(({ peak }) => peak));
    const usdRequests = requestsPerSecond * 3600 * USD_PER_REQUEST;
    const usdDuration = objects.length * 3600 * OBJECT_GB * USD_PER_GB_SECOND;
    return {
      viewers: this.#viewers,
      relays: relays.length,
      branches: branches.length,
      broadcasts: head,
      received: audience.frames,
      gaps: audience.gaps,
      doubles: audience.doubles,
      behind: audience.behind(head),
      returned: this.#returned - this.#viewers,
      restarted,
      branchesLost: this.#branchesLost,
      phases,
      requests: ["channel", "branch", "relay"].map((kind) => ({ kind, peak: peakOf(kind) })),
      usdPerHour: usdRequests + usdDuration,
      usdRequests,
      usdDuration,
      usdAcks: ((this.#viewers * 3600) / MESSAGES_PER_REQUEST) * USD_PER_REQUEST,
    };
  }
}

/** Numbers between 0 and 1, the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
