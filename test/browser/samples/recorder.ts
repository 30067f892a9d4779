import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { z } from "@hono/zod-openapi";

// Stands between a sample and the server, and knows afterwards what the sample asked and what it was answered.

/** One request of a sample and its answer. */
export interface Exchange {
  /** The sample that was named last by a request to `/__sample/<name>`. */
  sample: string;
  method: string;
  /** Path with query. */
  path: string;
  /** Method, path, credentials and body, alike for what means the same. */
  key: string;
  status: number;
  /** The beginning of the answer's body. */
  text: string;
}

export interface Recorder {
  url: string;
  exchanges: Exchange[];
  /** Answers HTML of its own at the address that it returns; the page's requests go on to the server. */
  show(html: string): string;
  close(): Promise<void>;
}

interface Stored {
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

const CREDENTIALS = ["tifo-client-id", "tifo-developer-key", "tifo-super-key", "tifo-device-id", "authorization"];
/** Headers of the one connection, which the next has anew. */
const HOP_BY_HOP = new Set(["connection", "transfer-encoding"]);
const SAMPLE = "/__sample/";
const PAGE = "/__page";
const SHOWN = 600;

/**
 * Passes requests on to a server and notes them.
 * @param answers where given, a request that means the same as an earlier one gets that one's answer and is not passed on
 */
export async function startRecorder(target: string, answers?: Map<string, Stored>): Promise<Recorder> {
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
    const note = (key: string, status: number, text: string): number =>
      exchanges.push({ sample, method: incoming.method ?? "", path, key, status, text: text.slice(0, SHOWN) });
    void pass(incoming, outgoing, target, answers, note);
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

async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: string,
  answers: Map<string, Stored> | undefined,
  note: (key: string, status: number, text: string) => number,
): Promise<void> {
  const body = await read(incoming);
  const key = keyOf(incoming, body);
  const known = answers?.get(key);
  // A signature differs from program to program, so each is put to the test; but nothing can be deleted twice.
  if (known && (incoming.headers["tifo-signature"] === undefined || incoming.method === "DELETE")) {
    note(key, known.status, known.body.toString());
    outgoing.writeHead(known.status, known.headers).end(known.body);
    return;
  }
  const url = new URL(incoming.url ?? "/", target);
  const headers = { ...incoming.headers, host: url.host, "accept-encoding": "identity" };
  const forwarded = httpRequest(url.href, { method: incoming.method, headers }, (answer) => {
    void hand(answer, outgoing).then((stored) => {
      note(key, stored.status, stored.body.toString());
      answers?.set(key, stored);
    });
  });
  forwarded.on("error", (error) => outgoing.destroy(error));
  outgoing.on("close", () => forwarded.destroy());
  forwarded.end(body);
}

/** Hands an answer on as it comes: one that never ends must reach the sample all the same. */
async function hand(answer: IncomingMessage, outgoing: ServerResponse): Promise<Stored> {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).flatMap(([name, value]) => (value === undefined || HOP_BY_HOP.has(name) ? [] : [[name, value]])),
  );
  const status = answer.statusCode ?? 0;
  outgoing.writeHead(status, headers);
  const chunks: Buffer[] = [];
  answer.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    outgoing.write(chunk);
  });
  answer.on("error", () => undefined);
  await new Promise((settle) => answer.once("close", settle));
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
  return `${method} ${url}\n${credentials}\n${meaningOf(headers["content-type"] ?? "", body)}`;
}

/** JSON in one spelling; of a form only that it is one, since each program draws its own boundary. */
function meaningOf(type: string, body: Buffer): string {
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
