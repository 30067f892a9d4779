import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { z } from "@hono/zod-openapi";

// A proxy between samples and the server that records requests and responses.

/** One request of a sample and its response. */
export interface Exchange {
  /** The sample that the last request to `/__sample/<name>` announced. */
  sample: string;
  method: string;
  /** Path with query. */
  path: string;
  /** Method, path, credentials and body, normalised so that equivalent requests have the same key. */
  key: string;
  status: number;
  /** The start of the response body. */
  text: string;
}

export interface Recorder {
  url: string;
  exchanges: Exchange[];
  /** Serves HTML at the returned URL; the page's requests are forwarded to the server. */
  show(html: string): string;
  close(): Promise<void>;
}

interface Stored {
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

const CREDENTIALS = ["tifo-client-id", "tifo-developer-key", "tifo-super-key", "tifo-device-id", "authorization"];
/** Headers that apply to a single connection. */
const HOP_BY_HOP = new Set(["connection", "transfer-encoding"]);
const SAMPLE = "/__sample/";
const PAGE = "/__page";
const TEXT_CHARS = 600;

/**
 * Forwards requests to a server and records them.
 * @param cache if given, a request with the same key as an earlier one gets its response without being forwarded
 */
export async function startRecorder(target: string, cache?: Map<string, Stored>): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  let sample = "";
  let page = "";
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "/";
    if (path.startsWith(SAMPLE)) {
      sample = decodeURIComponent(path.slice(SAMPLE.length));
      outgoing.end();
      return;
    }
    if (path === PAGE) {
      outgoing.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page);
      return;
    }
    // A stream ends after its sample, which may be when the next one has begun.
    const announced = sample;
    const record = (key: string, status: number, text: string): number =>
      exchanges.push({ sample: announced, method: incoming.method ?? "", path, key, status, text: text.slice(0, TEXT_CHARS) });
    void forward(incoming, outgoing, target, cache, record);
  });
  server.on("upgrade", (incoming, socket, head) => {
    exchanges.push({ sample, method: "GET", path: incoming.url ?? "", key: `GET ${incoming.url}`, status: 101, text: "" });
    tunnel(incoming, socket, head, target);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((settle) => server.close(settle));
  };
  const url = `http://localhost:${port}`;
  const show = (html: string): string => {
    page = html;
    return url + PAGE;
  };
  return { url, exchanges, show, close };
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: string,
  cache: Map<string, Stored> | undefined,
  record: (key: string, status: number, text: string) => number,
): Promise<void> {
  const body = await read(incoming);
  const key = keyOf(incoming, body);
  const cached = cache?.get(key);
  // Signatures differ between programs, so signed requests are always forwarded, except deletions, which can't be repeated.
  if (cached && (incoming.headers["tifo-signature"] === undefined || incoming.method === "DELETE")) {
    record(key, cached.status, cached.body.toString());
    outgoing.writeHead(cached.status, cached.headers).end(cached.body);
    return;
  }
  const url = new URL(incoming.url ?? "/", target);
  const headers = { ...incoming.headers, host: url.host, "accept-encoding": "identity" };
  // On a connection of its own: one that is kept may be closed by the server while the next request is sent.
  const forwarded = httpRequest(url.href, { method: incoming.method, headers, agent: false }, (response) => {
    void relay(response, outgoing).then((stored) => {
      record(key, stored.status, stored.body.toString());
      cache?.set(key, stored);
    });
  });
  forwarded.on("error", (error) => outgoing.destroy(error));
  outgoing.on("close", () => forwarded.destroy());
  forwarded.end(body);
}

/** Streams a response to the sample, because it may never end. */
async function relay(response: IncomingMessage, outgoing: ServerResponse): Promise<Stored> {
  const headers = Object.fromEntries(
    Object.entries(response.headers).flatMap(([name, value]) => (value === undefined || HOP_BY_HOP.has(name) ? [] : [[name, value]])),
  );
  const status = response.statusCode ?? 0;
  outgoing.writeHead(status, headers);
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    outgoing.write(chunk);
  });
  response.on("error", () => undefined);
  await new Promise((settle) => response.once("close", settle));
  outgoing.end();
  return { status, headers, body: Buffer.concat(chunks) };
}

async function read(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function keyOf({ method, url, headers }: IncomingMessage, body: Buffer): string {
  const credentials = CREDENTIALS.map((name) => `${name}: ${String(headers[name] ?? "")}`).join("\n");
  return `${method} ${url}\n${credentials}\n${normaliseBody(headers["content-type"] ?? "", body)}`;
}

/** Normalises JSON; a form is reduced to its type, since each program chooses its own boundary. */
function normaliseBody(type: string, body: Buffer): string {
  if (type.startsWith("multipart/")) return "multipart";
  if (!type.startsWith("application/json") || body.length === 0) return body.toString();
  return JSON.stringify(JSON.parse(body.toString()));
}

function tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer, target: string): void {
  const { hostname, port, host } = new URL(target);
  const upstream = connect(Number(port), hostname, () => {
    const headers = Object.entries({ ...incoming.headers, host }).map(([name, value]) => `${name}: ${String(value)}`);
    upstream.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
    upstream.write(head);
    upstream.pipe(socket).pipe(upstream);
  });
  const end = (): void => {
    upstream.destroy();
    socket.destroy();
  };
  upstream.on("error", end);
  socket.on("error", end);
}
