import { connect, type Socket } from "node:net";
import { ConnectionLost } from "./connection-loss.ts";
import { percentile } from "./stats.ts";

export interface Answer {
  status: number;
  body: string;
}

const END_OF_HEAD = Buffer.from("\r\n\r\n");

/** The text of a request on a connection that stays open. */
export function requestText(method: string, path: string, headers: Record<string, string> = {}, body = ""): Buffer {
  const length = body === "" ? {} : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: "127.0.0.1", ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

/** One connection, one request at a time; does as little as it can, so that the server is what is measured. */
export class HttpConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: PromiseWithResolvers<Answer> | null = null;

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("error", (error) => this.#waiting?.reject(new ConnectionLost(error.message, { cause: error })));
    this.#socket.on("close", () => this.#waiting?.reject(new ConnectionLost("The server closed the connection")));
  }

  async send(request: Buffer): Promise<Answer> {
    this.#waiting = Promise.withResolvers<Answer>();
    this.#socket.write(request);
    return this.#waiting.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const head = this.#received.indexOf(END_OF_HEAD);
    if (head < 0) return;
    const text = this.#received.toString("latin1", 0, head);
    const status = Number(text.slice(9, 12));
    const length = status === 204 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? NaN);
    if (Number.isNaN(length)) return this.#waiting?.reject(new Error("An answer without a length"));
    const start = head + END_OF_HEAD.length;
    if (this.#received.length < start + length) return;
    const answer = { status, body: this.#received.toString("utf8", start, start + length) };
    this.#received = Buffer.alloc(0);
    this.#waiting?.resolve(answer);
  }
}

/** One request on a connection of its own; anything but a 2xx is an error. */
export async function ask(port: number, method: string, path: string, headers?: Record<string, string>, body?: string): Promise<string> {
  const connection = new HttpConnection(port);
  try {
    const answer = await connection.send(requestText(method, path, headers, body));
    if (answer.status < 200 || answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return answer.body;
  } finally {
    connection.close();
  }
}

export interface Throughput {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
}

/** Closed loop: each connection sends its next request when it has the last answer, which must be `expected`. */
export async function hammer(port: number, request: Buffer, connections: number, seconds: number, expected: Answer): Promise<Throughput> {
  const latencies: number[] = [];
  const started = performance.now();
  const until = started + seconds * 1000;
  const loop = async (): Promise<void> => {
    const connection = new HttpConnection(port);
    try {
      for (let before = performance.now(); before < until;) {
        const answer = await connection.send(request);
        if (answer.status !== expected.status || answer.body !== expected.body)
          throw new Error(`Another answer: ${answer.status} ${answer.body}`);
        const after = performance.now();
        latencies.push(after - before);
        before = after;
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  const elapsed = (performance.now() - started) / 1000;
  return { perSecond: latencies.length / elapsed, p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) };
}
