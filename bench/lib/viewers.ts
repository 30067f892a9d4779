import { connect, type Socket } from "node:net";
import { ConnectionLost } from "./connection-loss.ts";
import { encodeText, FrameReader } from "./frames.ts";

/** What a viewer says and expects, beyond plain WebSockets; socket.io needs it. */
export interface Dialect {
  /** Sent once the socket is open. */
  hello?: string;
  /** What to answer to a message, if anything. */
  reply?: (message: Buffer) => string | undefined;
}

/** Every viewer's socket reads into this: a chunk is dealt with before the next is read. */
const shared = Buffer.alloc(256 * 1024);
const END_OF_HEAD = "\r\n\r\n";

/** One viewer: counts the broadcasts that it gets, without looking into them. */
export class Viewer {
  /** Messages as long as a broadcast, and the bytes of their texts. */
  broadcasts = 0;
  bytes = 0;
  readonly opened = Promise.withResolvers<void>();
  /** Resolves with the first message, or rejects with what came instead. */
  readonly first = Promise.withResolvers<string>();
  #head = "";
  #isOpen = false;
  #isLeaving = false;
  readonly #socket: Socket;
  readonly #reader = new FrameReader((opcode, payload) => this.#take(opcode, payload));
  readonly #crowd: Crowd;

  constructor(crowd: Crowd, port: number, path: string) {
    this.#crowd = crowd;
    this.first.promise.catch(() => undefined);
    this.opened.promise.catch(() => undefined);
    const callback = (length: number, buffer: Uint8Array): boolean => {
      this.#read(Buffer.from(buffer.buffer, buffer.byteOffset, length));
      return true;
    };
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true, onread: { buffer: shared, callback } });
    this.#socket.on("error", (error) => this.#fail(new ConnectionLost(error.message, { cause: error })));
    this.#socket.on("close", () => this.#fail(new ConnectionLost("The server closed the socket")));
    const key = `Sec-WebSocket-Key: ${Buffer.from("a viewer's nonce").toString("base64")}`;
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${key}\r\n\r\n`,
    );
  }

  send(text: string): void {
    this.#socket.write(encodeText(text));
  }

  /** Goes without a word, as a phone in a tunnel does. */
  leave(): void {
    this.#isLeaving = true;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#isOpen) return this.#reader.read(chunk);
    this.#head += chunk.toString("latin1");
    const end = this.#head.indexOf(END_OF_HEAD);
    if (end < 0) return;
    if (!this.#head.startsWith("HTTP/1.1 101")) return this.#fail(new Error(`Not let in: ${this.#head.split("\r\n")[0]}`));
    this.#isOpen = true;
    this.opened.resolve();
    if (this.#crowd.dialect.hello !== undefined) this.send(this.#crowd.dialect.hello);
    this.#reader.read(Buffer.from(this.#head.slice(end + END_OF_HEAD.length), "latin1"));
  }

  #take(opcode: number, payload: Buffer): void {
    // 8 closes; 1 is text; nobody here sends anything else.
    if (opcode === 8) return this.#fail(new Error(`Closed with ${payload.length >= 2 ? payload.readUInt16BE(0) : "no code"}`));
    if (opcode !== 1) return;
    this.first.resolve(payload.toString());
    const reply = this.#crowd.dialect.reply?.(payload);
    if (reply !== undefined) this.send(reply);
    if (payload.length < this.#crowd.broadcastBytes) return;
    this.broadcasts++;
    this.bytes += payload.length;
    this.#crowd.count(payload, this);
  }

  #fail(error: Error): void {
    if (this.#isLeaving) return;
    this.opened.reject(error);
    this.first.reject(error);
    this.#crowd.lose(error);
  }
}

/** Viewers of one channel. */
export class Crowd {
  readonly viewers: Viewer[] = [];
  readonly dialect: Dialect;
  /** Shorter messages are no broadcasts. */
  readonly broadcastBytes: number;
  /** The texts that the first viewer gets. */
  onSample: ((message: string) => void) | null = null;
  /** When the last broadcast came to anybody. */
  lastArrival = 0;
  #received = 0;
  /** Why a viewer is gone that did not leave. */
  #lost: Error | null = null;
  #awaited: { count: number; reached: PromiseWithResolvers<number> } | null = null;

  constructor(broadcastBytes: number, dialect: Dialect = {}) {
    this.broadcastBytes = broadcastBytes;
    this.dialect = dialect;
  }

  /** Brings viewers in, so many at a time, and waits until each has what `until` says. */
  async enter(port: number, paths: readonly string[], atOnce: number, until: "opened" | "first"): Promise<void> {
    let next = 0;
    const bring = async (): Promise<void> => {
      for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
        const viewer = new Viewer(this, port, path);
        this.viewers.push(viewer);
        await viewer[until].promise;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, bring));
  }

  /** Resolves with the moment at which the last of so many more broadcasts has come, over all viewers. */
  async receives(count: number): Promise<number> {
    if (this.#lost) throw this.#lost;
    if (this.#awaited) throw new Error("Somebody waits already");
    this.#awaited = { count: this.#received + count, reached: Promise.withResolvers<number>() };
    return this.#awaited.reached.promise;
  }

  /** Called by each viewer for each broadcast. */
  count(payload: Buffer, viewer: Viewer): void {
    this.#received++;
    this.lastArrival = performance.now();
    if (this.onSample && viewer === this.viewers[0]) this.onSample(payload.toString());
    if (this.#awaited?.count !== this.#received) return;
    this.#awaited.reached.resolve(this.lastArrival);
    this.#awaited = null;
  }

  /** Called by a viewer that loses its socket: whoever waits for broadcasts would wait forever. */
  lose(error: Error): void {
    this.#lost ??= error;
    this.#awaited?.reached.reject(error);
    this.#awaited = null;
  }

  leave(): void {
    for (const viewer of this.viewers) viewer.leave();
    this.viewers.length = 0;
  }
}
