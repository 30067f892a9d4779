import { setTimeout as sleep } from "node:timers/promises";
import { SITE_A } from "#db/demo/match-day.ts";

export const PUBLIC = { "Tifo-Client-Id": SITE_A };
export const STAFF = { ...PUBLIC, "Tifo-Developer-Key": "tifo_dev_demo" };

/** A request that a dying server took has no response. */
const RESPONSE_MS = 20_000;
const PAUSE_MS = 200;
const TOO_MANY_REQUESTS = 429;

interface Request {
  method?: string;
  body?: object;
  headers?: Record<string, string>;
}

export interface Response {
  status: number;
  body: unknown;
}

/** A server that may be gone, restarting or failing. */
export class Api {
  readonly #url: () => string;

  constructor(url: () => string) {
    this.#url = url;
  }

  /** Undefined: no response. */
  async request(path: string, { method = "GET", body, headers = STAFF }: Request = {}): Promise<Response | undefined> {
    const isForm = body instanceof FormData;
    const init = {
      method,
      headers: body && !isForm && !(body instanceof Blob) ? { ...headers, "Content-Type": "application/json" } : headers,
      body: body === undefined ? null : isForm || body instanceof Blob ? body : JSON.stringify(body),
    };
    try {
      const response = await fetch(this.#url() + path, { ...init, signal: AbortSignal.timeout(RESPONSE_MS) });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    } catch {
      return undefined;
    }
  }

  /** Repeats a request until the server has decided about it: neither its failure nor a limit. */
  async decide(path: string, request: Request = {}): Promise<Response> {
    for (;;) {
      const response = await this.request(path, request);
      if (response && response.status < 500 && response.status !== TOO_MANY_REQUESTS) return response;
      await sleep(PAUSE_MS);
    }
  }

  /** As `decide`, for a request that can only succeed. */
  async succeed(path: string, request: Request = {}): Promise<unknown> {
    const { status, body } = await this.decide(path, request);
    if (status >= 300) throw new Error(`${request.method ?? "GET"} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** A file's bytes; undefined: no such file. */
  async download(path: string): Promise<Uint8Array | undefined> {
    const response = await fetch(this.#url() + path, { headers: STAFF });
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
  }
}
