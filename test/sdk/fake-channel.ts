import { ViewerFrame } from "#worker/durable-objects/relay/relay.protocol.ts";
import type { FakeServer, Wire } from "./virtual-network.ts";

const TAIL = 400;

interface Viewer {
  wire: Wire;
  acked: number;
}

/** A channel with the realtime protocol that can fail in the ways that real ones do. */
export class FakeChannel implements FakeServer {
  epoch = "e1";
  /** Bodies of the log's frames; the first has number 1. */
  readonly log: { seq: number; id: string }[] = [];
  readonly viewers = new Set<Viewer>();
  down = false;
  /** Accepts connections but sends nothing. */
  mute = false;
  /** The close code with which every connection is rejected. */
  rejectWith: number | null = null;
  pings = 0;

  /** Sends a pong to readers of Server-Sent Events, as the server does three times per heartbeat. */
  beat(): void {
    for (const { wire } of this.viewers) if (wire.kind === "events") wire.deliver("pong");
  }

  /** The result of a vote; null sends none. */
  voteResult: (vote: Extract<ViewerFrame, { type: "vote" }>) => object | null = ({ id }) => ({ id, ok: true });
  /** Frames from viewers, in order of arrival. */
  readonly received: ViewerFrame[] = [];

  connect(wire: Wire): ReturnType<FakeServer["connect"]> {
    if (this.down) return null;
    const viewer: Viewer = { wire, acked: 0 };
    if (this.rejectWith !== null) {
      wire.deliver(JSON.stringify({ type: "error", code: "forbidden", message: "The gate is closed" }));
      wire.cut(this.rejectWith);
      return { receive: () => {}, gone: () => {} };
    }
    if (this.mute) return { receive: () => {}, gone: () => {} };
    this.viewers.add(viewer);
    const epoch = wire.url.searchParams.get("epoch");
    const seq = Number(wire.url.searchParams.get("seq"));
    const recovered = epoch === this.epoch && seq <= this.head && seq >= this.head - TAIL;
    const welcome = { type: "welcome", epoch: this.epoch, seq: this.head, upTo: recovered ? seq : this.head, recovered };
    const missed = recovered ? this.log.filter((frame) => frame.seq > seq).map(body) : [];
    const state = { overlays: [], rules: [], concurrents: this.viewers.size, heartbeat: 30 };
    wire.deliver(JSON.stringify([{ ...welcome, ...state }, ...missed]));
    return {
      receive: (text) => this.#receive(viewer, text),
      gone: () => this.viewers.delete(viewer),
    };
  }

  get head(): number {
    return this.log.length;
  }

  publish(id: string): void {
    const frame = { seq: this.head + 1, id };
    this.log.push(frame);
    this.send(body(frame));
  }

  /** Sends a frame to every viewer without adding it to the log. */
  send(frame: object): void {
    for (const { wire } of this.viewers) wire.deliver(JSON.stringify({ upTo: this.head, ...frame }));
  }

  /** Sends the last frames again, as a relay does if it isn't sure that they arrived. */
  repeat(count: number): void {
    for (const { wire } of this.viewers) wire.deliver(JSON.stringify(this.log.slice(-count).map(body)));
  }

  drain(reconnectIn: number): void {
    for (const { wire } of this.viewers) wire.deliver(JSON.stringify({ type: "drain", upTo: this.head, reconnectIn }));
  }

  /** Cuts the connections for which `filter` returns true. */
  cut(filter: () => boolean): void {
    for (const viewer of [...this.viewers]) if (filter()) this.#disconnect(viewer);
  }

  /** Disconnects all viewers, who have lost access. */
  revokeAccess(close: number, code: string, message: string): void {
    for (const viewer of [...this.viewers]) {
      this.viewers.delete(viewer);
      viewer.wire.deliver(JSON.stringify({ type: "error", code, message, close }));
      viewer.wire.cut(close);
    }
  }

  /** Takes the server down: all connections are cut, and new ones fail. */
  kill(): void {
    this.down = true;
    this.cut(() => true);
  }

  /** Keeps connections open, but sends nothing over them any more. */
  goSilent(): void {
    this.viewers.clear();
  }

  #disconnect(viewer: Viewer): void {
    this.viewers.delete(viewer);
    viewer.wire.cut();
  }

  #receive(viewer: Viewer, text: string): void {
    if (text === "ping") {
      this.pings++;
      if (this.viewers.has(viewer)) viewer.wire.deliver("pong");
      return;
    }
    const frame = ViewerFrame.parse(JSON.parse(text));
    this.received.push(frame);
    if (frame.type === "ack") viewer.acked = frame.seq;
    const result = frame.type === "vote" ? this.voteResult(frame) : null;
    if (result) viewer.wire.deliver(JSON.stringify({ type: "vote.result", upTo: this.head, ...result }));
  }
}

function body({ seq, id }: { seq: number; id: string }) {
  return { type: "overlay.clear", seq, upTo: seq, broadcastIds: [id] };
}
