import { randomBytes } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { SITE_A } from "#db/demo/match-day.ts";
import { type Api, PUBLIC, type Response } from "./api.ts";

const Account = z.object({ _id: z.string() });
const Session = z.object({ jwt: z.string() });

const UNAUTHORIZED = 401;

/** An account, which signs in again when its token has expired. */
export class Fan {
  readonly id: string;
  readonly #api: Api;
  readonly #credentials: { email: string; password: string };
  #token = "";

  constructor(api: Api, id: string, credentials: { email: string; password: string }) {
    this.#api = api;
    this.id = id;
    this.#credentials = credentials;
  }

  /** Repeats a request of the account until the server has decided about it. Without a body, it reads. */
  async decide(path: string, body?: object, key?: string): Promise<Response> {
    for (;;) {
      const headers = { ...PUBLIC, Authorization: `Bearer ${this.#token}`, ...(key !== undefined && { "Idempotency-Key": key }) };
      const response = await this.#api.decide(path, { method: body ? "POST" : "GET", ...(body && { body }), headers });
      if (response.status !== UNAUTHORIZED) return response;
      const login = { method: "POST", body: { ...this.#credentials, siteId: SITE_A }, headers: PUBLIC };
      this.#token = Session.parse(await this.#api.succeed("/auth/v2/login", login)).jwt;
    }
  }
}

/** Signs up, on a server without adversity. */
export async function newFan(api: Api, name: string): Promise<Fan> {
  const credentials = { email: `${name}-${randomBytes(4).toString("hex")}@soak.example`, password: randomBytes(16).toString("hex") };
  const { _id } = Account.parse(await api.succeed("/account/v3", { method: "POST", body: { ...credentials, name }, headers: PUBLIC }));
  return new Fan(api, _id, credentials);
}

/** The admin of the demo's first site. */
export function demoAdmin(api: Api): Fan {
  return new Fan(api, "", { email: "admin@demo.example", password: "demo-admin-pass" });
}
