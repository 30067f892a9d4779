import { connect, type Socket } from "node:net";
import { ConnectionLost } from "./connection-loss.ts";
import { percentile } from "./stats.ts";

export interface HttpResponse {
  status: number;
  body: string;
}

const END_OF_HEAD = Buffer.from("\r\n\r\n");

/** The text of a request on a keep-alive connection. */
export function requestText(method: string, path: string, headers: Record<string, string> = {}, body = ""): Buffer {
  const length = body === "" ? {} : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: "127.0.0.1", ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

/** A connection with one request at a time. It does as little as possible, so that the server is what is measured. */
export class HttpConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: PromiseWithResolvers<HttpResponse> | null = null;

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("error", (error) => this.#waiting?.reject(new ConnectionLost(error.message, { cause: error })));
    this.#socket.on("close", () => this.#waiting?.reject(new ConnectionLost("The server closed the connection")));
  }

  async send(request: Buffer): Promise<HttpResponse> {
    this.#waiting = Promise.withResolvers<HttpResponse>();
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
    if (Number.isNaN(length)) return this.#waiting?.reject(new Error("The response has no Content-Length"));
    const start = head + END_OF_HEAD.length;
    if (this.#received.length < start + length) return;
    const response = { status, body: this.#received.toString("utf8", start, start + length) };
    this.#received = Buffer.alloc(0);
    this.#waiting?.resolve(response);
  }
}

/** Sends one request on a new connection. Any status other than 2xx is an error. */
export async function ask(port: number, method: string, path: string, headers?: Record<string, string>, body?: string): Promise<string> {
  const connection = new HttpConnection(port);
  try {
    const response = await connection.send(requestText(method, path, headers, body));
    if (response.status < 200 || response.status > 299) throw new Error(`${method} ${path}: ${response.status} ${response.body}`);
    return response.body;
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

/** Closed loop: each connection sends its next request after the last response, which must equal `expected`. */
export function hammer(port: number, request: Buffer, connections: number, seconds: number, expected: HttpResponse): Promise<Throughput> {
  return hammerEach(
    port,
    Array.from({ length: connections }, () => ({ request, expected })),
    seconds,
  );
}

/** The same, with a request of its own for each connection. */
export async function hammerEach(
  port: number,
  requests: readonly { request: Buffer; expected: HttpResponse }[],
  seconds: number,
): Promise<Throughput> {
  const latencies: number[] = [];
  const started = performance.now();
  const until = started + seconds * 1000;
  const loop = async ({ request, expected }: (typeof requests)[number]): Promise<void> => {
    const connection = new HttpConnection(port);
    try {
      for (let before = performance.now(); before < until;) {
        const response = await connection.send(request);
        if (response.status !== expected.status || response.body !== expected.body)
          throw new Error(`Unexpected response: ${response.status} ${response.body}`);
        const after = performance.now();
        latencies.push(after - before);
        before = after;
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(requests.map(loop));
  const elapsed = (performance.now() - started) / 1000;
  return { perSecond: latencies.length / elapsed, p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) };
}
