import { z } from "@hono/zod-openapi";
import { Crowd, type Viewer } from "./viewers.ts";

/** Frames whose contents are remembered: those of a busy second. */
const REMEMBERED = 2_000;
const TAIL_BYTES = 48;

const Batch = z.object({
  messages: z.array(z.object({ chatSeq: z.number().nullable() })),
  skipped: z.number(),
  chatSeq: z.number(),
});
const History = z.object({ chatSeq: z.number() });
const Result = z.object({ ok: z.boolean(), code: z.string().optional() });

/** A frame as one or more viewers received it. */
interface SharedFrame {
  copy: Buffer;
  kind: string;
  /** Whether it shows an overlay, possibly with other frames in one message. */
  isOverlay: boolean;
  /** The numbers in the messages' texts. */
  numbers: number[];
  batch: z.infer<typeof Batch> | undefined;
  /** How many viewers received it, and when the last did. */
  viewers: number;
  last: number;
}

/** When a message was sent, and when the last of the viewers that received it did. */
export interface Delivery {
  sent: number;
  last: number;
  viewers: number;
}

/** Viewers of a chat. Frames that are the same for many viewers are parsed once, so that the client isn't the limit. */
export class ChatCrowd extends Crowd {
  readonly sent = new Map<number, number>();
  /** Why sends were rejected, by code. */
  readonly rejected = new Map<string, number>();
  accepted = 0;
  joined = 0;
  /** Messages over all viewers. */
  delivered = 0;
  skipped = 0;
  /** Batches that don't follow on what the viewer had, which would be lost or repeated messages. */
  violations = 0;
  readonly #frames: SharedFrame[] = [];
  readonly #recent = new Map<string, SharedFrame>();
  readonly #positions = new WeakMap<Viewer, number>();
  #overlays: { missing: number; complete: PromiseWithResolvers<number> } | undefined;

  /** The text of a message; viewers recognize it by its number. */
  static textOf(number: number): string {
    return `What a pass, he saw that coming #${number}#`;
  }

  /** Resolves with the moment at which all viewers have the next overlay. */
  async nextOverlay(): Promise<number> {
    this.#overlays = { missing: this.viewers.length, complete: Promise.withResolvers<number>() };
    return this.#overlays.complete.promise;
  }

  override lose(error: Error): void {
    super.lose(error);
    this.#overlays?.complete.reject(error);
  }

  override count(payload: Buffer, viewer: Viewer): void {
    const frame = this.#frameOf(payload);
    frame.viewers++;
    frame.last = performance.now();
    this.lastArrival = frame.last;
    if (frame.kind !== "chat.history") this.delivered += frame.numbers.length;
    if (frame.batch) this.#follow(viewer, frame.batch);
    if (frame.kind === "chat.history") this.#enter(viewer, payload);
    if (frame.kind === "chat.result") this.#note(payload);
    if (frame.isOverlay && this.#overlays && --this.#overlays.missing === 0) this.#overlays.complete.resolve(frame.last);
  }

  /** Each message that anybody received, from number `first` on. */
  deliveries(first: number): Delivery[] {
    const deliveries = new Map<number, Delivery>();
    for (const { numbers, last, viewers } of this.#frames)
      for (const number of numbers) {
        const sent = this.sent.get(number);
        if (sent === undefined || number < first) continue;
        const known = deliveries.get(number) ?? { sent, last: 0, viewers: 0 };
        deliveries.set(number, { sent, last: Math.max(known.last, last), viewers: known.viewers + viewers });
      }
    return [...deliveries.values()];
  }

  #frameOf(payload: Buffer): SharedFrame {
    const key = `${payload.length} ${payload.toString("latin1", Math.max(0, payload.length - TAIL_BYTES))}`;
    const known = this.#recent.get(key);
    if (known?.copy.equals(payload)) return known;
    const text = payload.toString();
    const kind = /^\{"type":"([\w.]+)"/.exec(text)?.[1] ?? "";
    const numbers = [...text.matchAll(/#(\d+)#/g)].map(([, number]) => Number(number));
    const batch = kind === "chat.messages" ? Batch.parse(JSON.parse(text)) : undefined;
    const isOverlay = !kind.startsWith("chat.") && text.includes(`"type":"overlay.show"`);
    const frame: SharedFrame = { copy: Buffer.from(payload), kind, isOverlay, numbers, batch, viewers: 0, last: 0 };
    if (numbers.length > 0 && kind !== "chat.history") this.#frames.push(frame);
    this.#recent.set(key, frame);
    if (this.#recent.size > REMEMBERED) this.#evict();
    return frame;
  }

  #evict(): void {
    for (const [key, frame] of this.#recent) {
      this.#recent.delete(key);
      // Only its copy is large.
      frame.copy = Buffer.alloc(0);
      return;
    }
  }

  #enter(viewer: Viewer, payload: Buffer): void {
    this.joined++;
    this.#positions.set(viewer, History.parse(JSON.parse(payload.toString())).chatSeq);
  }

  #note(payload: Buffer): void {
    const { ok, code = "" } = Result.parse(JSON.parse(payload.toString()));
    if (ok) this.accepted++;
    else this.rejected.set(code, (this.rejected.get(code) ?? 0) + 1);
  }

  /** Messages plus skipped ones must be the step from the viewer's last position, and in order. */
  #follow(viewer: Viewer, { messages, skipped, chatSeq }: z.infer<typeof Batch>): void {
    const position = this.#positions.get(viewer) ?? 0;
    const seqs = messages.flatMap((message) => message.chatSeq ?? []);
    const isOrdered = seqs.every((seq, index) => seq > (seqs[index - 1] ?? position) && seq <= chatSeq);
    if (!isOrdered || chatSeq !== position + seqs.length + skipped) this.violations++;
    this.skipped += skipped;
    this.#positions.set(viewer, chatSeq);
  }
}
