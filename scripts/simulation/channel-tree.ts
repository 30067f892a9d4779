import { BRANCH_MS, BRANCH_SIZE, branchOf, DIRECT_RELAYS, LATE_MS, type Outcome } from "#worker/durable-objects/branch/branch.protocol.ts";
import { outcomeOf } from "#worker/durable-objects/branch/outcome.ts";
import { SharedDeliveries } from "#worker/durable-objects/branch/shared-deliveries.ts";
import type { Delivered, LogFrame, Push, Snapshot } from "#worker/durable-objects/channel/channel.protocol.ts";
import { FanOut } from "#worker/durable-objects/channel/fan-out.ts";
import { RelayStream } from "#worker/durable-objects/relay/relay-stream.ts";
import { GroupedCalls } from "#worker/lib/time/grouped-calls.ts";
import { Audience } from "./audience.ts";
import { JOIN_MS, SEND_MS } from "./costs.ts";
import { SimulatedObject, wait } from "./object.ts";

const TAIL = 256;
const RETRY_MS = 2_000;
const EPOCH = "simulated";

interface Relay {
  object: SimulatedObject;
  stream: RelayStream;
  joining: number;
  position: { epoch: string; seq: number } | null;
}

interface Branch {
  object: SimulatedObject;
  snapshots: GroupedCalls<number, Snapshot>;
}

/** A channel with its branches and relays. What delivers frames is the Worker's own code; storage, network and sockets are simulated. */
export class ChannelTree {
  readonly audience: Audience;
  readonly channel: SimulatedObject;
  readonly relays: Relay[];
  readonly branches: Branch[];
  /** Milliseconds from a broadcast to the last of its viewers, by its position. */
  readonly delays: number[] = [];
  /** Viewers that returned and had to get the whole state. */
  restarted = 0;
  readonly #frames: LogFrame[] = [];
  readonly #published: number[] = [];
  #fanOut: FanOut;
  #confirmed = 0;

  constructor(viewers: number, relays: number, connections: number) {
    this.audience = new Audience(viewers, relays);
    this.channel = new SimulatedObject("channel", connections);
    this.relays = Array.from({ length: relays }, (_, relay) => this.#newRelay(relay, new SimulatedObject("relay", connections), null));
    const branches = Math.ceil((relays - DIRECT_RELAYS) / BRANCH_SIZE);
    this.branches = Array.from({ length: branches }, (_, branch) => this.#newBranch(branch, new SimulatedObject("branch", connections)));
    this.#fanOut = this.#newFanOut();
  }

  get head(): number {
    return this.#frames.length;
  }

  /** Publishes a frame to everybody. */
  async publish(): Promise<void> {
    const seq = this.head + 1;
    this.#frames.push({ seq, body: `{"seq":${seq}}`, tags: null, shows: null, clears: [], rule: null });
    this.#published[seq] = Date.now();
    await this.#push();
  }

  /** What the channel's alarm does every two seconds if a relay hasn't confirmed a frame. */
  async retry(): Promise<void> {
    for (;;) {
      await wait(RETRY_MS);
      if (this.#confirmed < this.head) await this.#push();
    }
  }

  /** Admits a viewer to a relay, where it continues from its position. */
  async join(viewer: number, relay: number): Promise<void> {
    const home = this.relays[relay];
    if (!home || this.audience.isConnected(viewer)) return;
    const { stream } = home;
    home.joining++;
    try {
      await home.object.handle(async () => ({ result: undefined, busy: JOIN_MS }));
      await stream.open();
      const seq = this.audience.position(viewer);
      const missed = seq < 0 ? null : await stream.missedSince({ epoch: EPOCH, seq });
      if (home.stream !== stream || !stream.cache) throw new Error("The relay was reset");
      if (missed)
        this.audience.receive(
          viewer,
          missed.map((frame) => frame.seq),
        );
      else {
        if (seq >= 0) this.restarted++;
        this.audience.restart(viewer, stream.cache.head);
      }
      this.audience.connect(viewer, relay);
    } finally {
      home.joining--;
    }
  }

  /** A branch dies: what it is doing is lost. */
  loseBranch(branch: number): void {
    const lost = this.branches[branch];
    if (!lost) return;
    lost.object.lose();
    this.branches[branch] = this.#newBranch(branch, lost.object);
  }

  /** A relay dies: its sockets close, and only what it has stored is left. Returns its viewers. */
  loseRelay(relay: number): number[] {
    const lost = this.relays[relay];
    if (!lost) return [];
    lost.object.lose();
    this.relays[relay] = this.#newRelay(relay, lost.object, lost.position);
    return this.audience.drop(relay);
  }

  /** A deployment: every object loses its memory, every socket closes. Returns the viewers. */
  deploy(): number[] {
    this.channel.lose();
    this.#fanOut = this.#newFanOut();
    for (const branch of this.branches.keys()) this.loseBranch(branch);
    return [...this.relays.keys()].flatMap((relay) => this.loseRelay(relay));
  }

  async #push(): Promise<void> {
    const target = this.head;
    const fanOut = this.#fanOut;
    if ((await fanOut.push()) && fanOut === this.#fanOut) this.#confirmed = Math.max(this.#confirmed, target);
  }

  #newFanOut(): FanOut {
    const through = (branch: number, relays: number[], push: Push) => this.channel.calling(() => this.#throughBranch(branch, relays, push));
    const direct = (relay: number, push: Push) => this.channel.calling(() => this.#deliver(relay, push));
    const deliveries = new SharedDeliveries<Push, Delivered>({ direct, through }, BRANCH_MS);
    const frames = this.#frames;
    const log = {
      epoch: EPOCH,
      get head() {
        return frames.length;
      },
      framesAfter: (seq: number, limit: number) => frames.slice(seq, seq + limit),
    };
    return new FanOut(log, (relay, push, alone) => deliveries.deliver(relay, push, alone), this.relays.length, this.#confirmed);
  }

  async #throughBranch(branch: number, relays: number[], push: Push): Promise<Outcome<Delivered>[]> {
    const { object } = this.#branch(branch);
    return object.handle(async () => {
      const calls = relays.map((relay) =>
        outcomeOf(
          object.calling(() => this.#deliver(relay, push)),
          LATE_MS,
        ),
      );
      return { result: await Promise.all(calls), busy: 0 };
    });
  }

  #deliver(relay: number, push: Push): Promise<Delivered> {
    const { object } = this.#relay(relay);
    return object.handle(async () => {
      const before = this.audience.frames;
      const result = this.#relay(relay).stream.deliver(push);
      const sends = this.audience.frames > before ? this.audience.count(relay) : 0;
      return { result, busy: sends * SEND_MS };
    });
  }

  #snapshotOf(relays: number[]): Promise<Snapshot> {
    return this.channel.handle(async () => {
      for (const relay of relays) this.#fanOut.open(relay);
      const tail = this.#frames.slice(-TAIL);
      const active = { frames: [], more: false };
      const result: Snapshot = { epoch: EPOCH, head: this.head, active, rules: [], states: [], gate: null, tail, concurrents: 0 };
      return { result, busy: 0 };
    });
  }

  #newBranch(_branch: number, object: SimulatedObject): Branch {
    return { object, snapshots: new GroupedCalls((relays) => object.calling(() => this.#snapshotOf(relays))) };
  }

  #newRelay(relay: number, object: SimulatedObject, position: Relay["position"]): Relay {
    const branch = branchOf(relay);
    const own: Relay = {
      object,
      joining: 0,
      position,
      stream: new RelayStream(
        {
          snapshot: () =>
            branch === null
              ? object.calling(() => this.#snapshotOf([relay]))
              : object.calling(() =>
                  this.#branch(branch).object.handle(async () => ({ result: await this.#branch(branch).snapshots.add(relay), busy: 0 })),
                ),
          offered: async () => ({ frames: [], more: false }),
          framesAfter: (_, seq, limit) =>
            object.calling(() => this.channel.handle(async () => ({ result: this.#frames.slice(seq, seq + limit), busy: 0 }))),
          sockets: () => this.audience.count(relay),
          joining: () => own.joining,
          forward: (frames, _, upTo) => this.#forward(relay, frames, upTo),
          disconnectAll: () => void this.audience.drop(relay),
          store: (reached) => {
            own.position = reached;
          },
          loaded: () => undefined,
        },
        position,
      ),
    };
    return own;
  }

  #forward(relay: number, frames: LogFrame[], upTo: number): void {
    const seqs = frames.map(({ seq }) => seq);
    this.audience.receiveAll(relay, seqs);
    const sent = Date.now() + this.audience.count(relay) * SEND_MS;
    const published = this.#published[upTo];
    if (published !== undefined && this.audience.count(relay) > 0) this.delays[upTo] = Math.max(this.delays[upTo] ?? 0, sent - published);
  }

  #branch(branch: number): Branch {
    const found = this.branches[branch];
    if (!found) throw new Error(`No branch ${branch}`);
    return found;
  }

  #relay(relay: number): Relay {
    const found = this.relays[relay];
    if (!found) throw new Error(`No relay ${relay}`);
    return found;
  }
}
