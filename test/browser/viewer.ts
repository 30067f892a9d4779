import { WebSocket } from "ws";
import { CHANNEL_1, SITE_A } from "#db/demo/match-day.ts";
import type { Server } from "#scripts/lib/server.ts";
import { type OverlayShow, ServerMessage } from "#worker/durable-objects/relay/relay.protocol.ts";

/** A viewer of the demo's first channel that keeps its position and everything it was shown across connections. */
export class Viewer {
  shown: OverlayShow[] = [];
  position: { epoch: string; seq: number } | undefined;
  recovered: boolean | undefined;
  /** Resolves when the last connection has ended. */
  ended = Promise.resolve();
  #socket: WebSocket | undefined;
  #waiting: { condition: () => boolean; done: () => void }[] = [];

  async connect(server: Server): Promise<void> {
    this.close();
    const resume = this.position ? `&epoch=${this.position.epoch}&seq=${this.position.seq}` : "";
    const socket = new WebSocket(
      `${server.url.replace("http", "ws")}/realtime/v1/channels/${CHANNEL_1}?clientId=${SITE_A}&deviceId=kill${resume}`,
    );
    this.#socket = socket;
    this.ended = new Promise((ended) => socket.on("close", () => ended()));
    await new Promise<void>((welcomed, failed) => {
      socket.on("error", failed);
      socket.on("close", () => failed(new Error("The connection has ended")));
      socket.on("message", (data: Buffer) => {
        const message = ServerMessage.parse(JSON.parse(data.toString()));
        for (const frame of Array.isArray(message) ? message : [message]) {
          if (frame.type === "welcome") {
            this.recovered = frame.recovered;
            this.position = { epoch: frame.epoch, seq: this.position?.epoch === frame.epoch ? this.position.seq : frame.seq };
            welcomed();
          } else if (frame.type === "overlay.show") {
            this.shown.push(frame);
          }
          if ("upTo" in frame && frame.type !== "welcome" && this.position) this.position.seq = Math.max(this.position.seq, frame.upTo);
        }
        this.#waiting = this.#waiting.filter(({ condition, done }) => (condition() ? done() : true));
      });
    });
  }

  /** Waits until the condition holds; evaluated after each message. */
  async until(condition: () => boolean): Promise<void> {
    if (condition()) return;
    await new Promise<void>((done) => this.#waiting.push({ condition, done }));
  }

  /** Waits until the viewer has this position. */
  async waitForSeq(seq: number): Promise<void> {
    await this.until(() => this.position !== undefined && this.position.seq >= seq);
  }

  close(): void {
    this.#socket?.terminate();
  }
}
