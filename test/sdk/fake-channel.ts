import { ViewerFrame } from "#worker/durable-objects/relay/relay.protocol.ts";
import type { FakeServer, Wire } from "./world.ts";

const TAIL = 400;

interface Viewer {
  wire: Wire;
  acked: number;
}

/** A channel that speaks the realtime protocol and can be told to misbehave as real ones do. */
export class FakeChannel implements FakeServer {
  epoch = "e1";
  /** Bodies of the log's frames; the first has number 1. */
  readonly log: { seq: number; id: string }[] = [];
  readonly viewers = new Set<Viewer>();
  down = false;
  /** It takes connections and says nothing on them. */
  mute = false;
  /** Close code by which every connection is refused. */
  refusal: number | null = null;
  pings = 0;
  /** Tells readers of Server-Sent Events that it lives, as the server does three times a heartbeat. */
  beat(): void {
    for (const { wire } of this.viewers) if (wire.kind === "events") wire.deliver("pong");
  }

  /** What the server makes of a vote; null: it says nothing. */
  judge: (vote: Extract<ViewerFrame, { type: "vote" }>) => object | null = ({ id }) => ({ id, ok: true });
  /** Frames from viewers, as they came. */
  readonly heard: ViewerFrame[] = [];

  connect(wire: Wire): ReturnType<FakeServer["connect"]> {
    if (this.down) return null;
    const viewer: Viewer = { wire, acked: 0 };
    if (this.refusal !== null) {
      wire.deliver(JSON.stringify({ type: "error", code: "forbidden", message: "The gate is closed" }));
      wire.cut(this.refusal);
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
    this.tell(body(frame));
  }

  /** Sends a frame that no log keeps to every viewer. */
  tell(frame: object): void {
    for (const { wire } of this.viewers) wire.deliver(JSON.stringify({ upTo: this.head, ...frame }));
  }

  /** Sends the last frames again, as a relay does that was not sure of them. */
  repeat(count: number): void {
    for (const { wire } of this.viewers) wire.deliver(JSON.stringify(this.log.slice(-count).map(body)));
  }

  drain(reconnectIn: number): void {
    for (const { wire } of this.viewers) wire.deliver(JSON.stringify({ type: "drain", upTo: this.head, reconnectIn }));
  }

  /** Cuts the connections that `chosen` names. */
  cut(chosen: () => boolean): void {
    for (const viewer of [...this.viewers]) if (chosen()) this.#hangUp(viewer);
  }

  /** The viewers have lost the right to be here. */
  expel(close: number, code: string, message: string): void {
    for (const viewer of [...this.viewers]) {
      this.viewers.delete(viewer);
      viewer.wire.deliver(JSON.stringify({ type: "error", code, message, close }));
      viewer.wire.cut(close);
    }
  }

  /** The server is gone: whoever was connected is cut, whoever comes finds nobody. */
  kill(): void {
    this.down = true;
    this.cut(() => true);
  }

  /** It holds connections open, but nothing comes over them any more. */
  silence(): void {
    this.viewers.clear();
  }

  #hangUp(viewer: Viewer): void {
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
    this.heard.push(frame);
    if (frame.type === "ack") viewer.acked = frame.seq;
    const verdict = frame.type === "vote" ? this.judge(frame) : null;
    if (verdict) viewer.wire.deliver(JSON.stringify({ type: "vote.result", upTo: this.head, ...verdict }));
  }
}

function body({ seq, id }: { seq: number; id: string }) {
  return { type: "overlay.clear", seq, upTo: seq, broadcastIds: [id] };
}
