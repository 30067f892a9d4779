import { connect, type Socket } from "node:net";
import { ConnectionLost } from "./connection-loss.ts";
import { encodeText, FrameReader } from "./frames.ts";

/** What a viewer sends on top of plain WebSockets; socket.io needs it. */
export interface Dialect {
  /** Sent once the socket is open. */
  hello?: string;
  /** The reply to a message, if any. */
  reply?: (message: Buffer) => string | undefined;
  /** Whether messages are binary frames. */
  isBinary?: boolean;
}

/** The read buffer of all sockets: a chunk is processed before the next one is read. */
const shared = Buffer.alloc(256 * 1024);
const END_OF_HEAD = "\r\n\r\n";

/** A viewer that counts the broadcasts that it receives, without parsing them. */
export class Viewer {
  /** Messages at least as long as a broadcast, and their total bytes. */
  broadcasts = 0;
  bytes = 0;
  readonly opened = Promise.withResolvers<void>();
  /** Resolves to the first message, or rejects if the connection fails before it. */
  readonly first = Promise.withResolvers<string>();
  #head = "";
  #isOpen = false;
  #isLeaving = false;
  readonly #socket: Socket;
  readonly #reader = new FrameReader((opcode, payload) => this.#receive(opcode, payload));
  readonly #crowd: Crowd;
  readonly path: string;

  constructor(crowd: Crowd, port: number, path: string) {
    this.#crowd = crowd;
    this.path = path;
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

  /** Disconnects without a close frame, like a phone in a tunnel. */
  leave(): void {
    this.#isLeaving = true;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#isOpen) return this.#reader.read(chunk);
    this.#head += chunk.toString("latin1");
    const end = this.#head.indexOf(END_OF_HEAD);
    if (end < 0) return;
    if (!this.#head.startsWith("HTTP/1.1 101")) return this.#fail(new Error(`Not accepted: ${this.#head.split("\r\n")[0]}`));
    this.#isOpen = true;
    this.opened.resolve();
    if (this.#crowd.dialect.hello !== undefined) this.send(this.#crowd.dialect.hello);
    this.#reader.read(Buffer.from(this.#head.slice(end + END_OF_HEAD.length), "latin1"));
  }

  #receive(opcode: number, payload: Buffer): void {
    // 8 is close, 1 is text and 2 is binary.
    if (opcode === 8) return this.#fail(new Error(`Closed with ${payload.length >= 2 ? payload.readUInt16BE(0) : "no code"}`));
    if (opcode !== (this.#crowd.dialect.isBinary ? 2 : 1)) return;
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
  /** Shorter messages aren't broadcasts. */
  readonly broadcastBytes: number;
  /** Receives the messages of the first viewer. */
  onSample: ((message: string) => void) | null = null;
  /** When a viewer last received a broadcast. */
  lastArrival = 0;
  #received = 0;
  /** The error of the first viewer that lost its connection. */
  #lost: Error | null = null;
  #awaited: { count: number; reached: PromiseWithResolvers<number> } | null = null;

  constructor(broadcastBytes: number, dialect: Dialect = {}) {
    this.broadcastBytes = broadcastBytes;
    this.dialect = dialect;
  }

  /** Connects viewers, `atOnce` at a time, and waits for the given state of each. */
  async connect(port: number, paths: readonly string[], atOnce: number, until: "opened" | "first"): Promise<void> {
    let next = 0;
    const connectNext = async (): Promise<void> => {
      for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
        const viewer = new Viewer(this, port, path);
        this.viewers.push(viewer);
        await viewer[until].promise;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, connectNext));
  }

  /** Resolves to the time at which the viewers together have received `count` more broadcasts. */
  async receives(count: number): Promise<number> {
    if (this.#lost) throw this.#lost;
    if (this.#awaited) throw new Error("Broadcasts are awaited already");
    this.#awaited = { count: this.#received + count, reached: Promise.withResolvers<number>() };
    return this.#awaited.reached.promise;
  }

  /** Called by a viewer for each broadcast. */
  count(payload: Buffer, viewer: Viewer): void {
    this.#received++;
    this.lastArrival = performance.now();
    if (this.onSample && viewer === this.viewers[0]) this.onSample(payload.toString());
    if (this.#awaited?.count !== this.#received) return;
    this.#awaited.reached.resolve(this.lastArrival);
    this.#awaited = null;
  }

  /** Called by a viewer that loses its socket, so that awaited broadcasts reject instead of pending forever. */
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
