import createFetchClient, { type Client } from "openapi-fetch";
import type { components, paths } from "../generated/rest.d.ts";
import { problemOf, TifoProblem } from "./problem.ts";
import { type RetryOptions, withRetries } from "./retry.ts";
import { alone, memoryTokens, type Tokens, type TokenStore } from "./tokens.ts";

/** The wire's types by their names in the OpenAPI document, such as `Schemas["Overlay"]`. */
export type Schemas = components["schemas"];

export interface ClientOptions {
  /** Origin of the deployment. */
  origin: string;
  /** The site's id. */
  clientId: string;
  /** A server's key. Never in a browser. */
  developerKey?: string;
  /** A JWT of somebody else's making, asked for before each request. Without it, {@link TifoClient.signIn} fills a session of the client's own. */
  getToken?: () => string | null | Promise<string | null>;
  tokens?: TokenStore;
  retry?: RetryOptions;
  fetch?: (request: Request) => Promise<Response>;
}

export interface SignInOptions {
  /** The code of the account's authenticator app, or a recovery code: ask for it after a {@link TifoProblem} with the code `totp_required`. */
  totp?: string;
  /** The viewer's device. Where it has signed in before, wrong passwords from elsewhere can't lock the viewer out. */
  deviceId?: string;
}

/** The REST API: `client.api.GET("/page/v2/{id}", { params: { path: { id } } })`, with every path, parameter and answer typed. */
export interface TifoClient {
  readonly api: Client<paths>;
  /** Signs an account of the site in and keeps its session. `totp_required`: ask for a one-time code too; `email_not_verified`: the site requires a verified address. */
  signIn(email: string, password: string, options?: SignInOptions): Promise<Tokens>;
  /**
   * Verifies an e-mail address with the token from a mail, for the account that is signed in. Otherwise it takes the account's `password`,
   * or a `newPassword`, which ends the old one and all sessions; without either, a {@link TifoProblem} with the code `password_required`.
   */
  verifyEmail(token: string, proof?: { password?: string; newPassword?: string }): Promise<void>;
  /** Requests a new verification mail: for `email`, or for the account that is signed in. `baseUrl` is the page that the link opens. */
  requestVerification(request?: { email?: string; baseUrl?: string }): Promise<void>;
  /** Ends the session on the server and forgets it here. */
  signOut(): Promise<void>;
  /** The token that requests carry now, renewed where it has run out. Null: nobody is signed in. */
  token(): Promise<string | null>;
}

// A token that ends this soon may end on the way.
const LEEWAY_MS = 15_000;
// The server repeats the answer to a renewal for half a minute: it is asked thrice within that.
const RENEWAL_TIMEOUT_MS = 8_000;

export function createClient(options: ClientOptions): TifoClient {
  const { origin, clientId, developerKey, getToken, tokens = memoryTokens() } = options;
  const once = options.fetch ?? ((request) => fetch(request));
  const send = withRetries(once, options.retry);
  const headers = { "Tifo-Client-Id": clientId, ...(developerKey === undefined ? {} : { "Tifo-Developer-Key": developerKey }) };
  const plain = createFetchClient<paths>({ baseUrl: origin, headers, fetch: send });
  const renewals = createFetchClient<paths>({
    baseUrl: origin,
    headers,
    fetch: withRetries(once, { ...options.retry, timeout: RENEWAL_TIMEOUT_MS }),
  });
  const api = createFetchClient<paths>({ baseUrl: origin, headers, fetch: authorized });
  let renewing: Promise<Tokens | null> | null = null;
  /** The renewal that was tried last: one whose answer was lost is asked for again by the same key, and answered alike. */
  let renewal = { refreshToken: "", key: "" };

  /** Sends with the session's token; one that was refused is renewed, once, however many requests it fails. */
  async function authorized(request: Request): Promise<Response> {
    const jwt = developerKey === undefined ? await token() : null;
    if (jwt === null) return send(request);
    const first = request.clone();
    first.headers.set("Authorization", `Bearer ${jwt}`);
    const response = await send(first);
    if (response.status !== 401 || getToken || tokens.get() === null) return response;
    const renewed = await renew(jwt);
    if (!renewed) return response;
    request.headers.set("Authorization", `Bearer ${renewed.jwt}`);
    return send(request);
  }

  async function token(): Promise<string | null> {
    if (getToken) return getToken();
    const session = tokens.get();
    if (!session) return null;
    return endsSoon(session.jwt) ? ((await renew(session.jwt))?.jwt ?? null) : session.jwt;
  }

  /** What follows the token that has ended. Many who find it ended, here and in other tabs, share one renewal: a refresh token works once. */
  function renew(ended: string): Promise<Tokens | null> {
    renewing ??= alone(`tifo.refresh.${clientId}`, () => renewOnce(ended)).finally(() => (renewing = null));
    return renewing;
  }

  async function renewOnce(ended: string): Promise<Tokens | null> {
    const session = tokens.get();
    if (session?.jwt !== ended) return session;
    const { refreshToken } = session;
    if (renewal.refreshToken !== refreshToken) renewal = { refreshToken, key: crypto.randomUUID() };
    const headers = { "Idempotency-Key": renewal.key };
    const next = await ok(renewals.POST("/auth/v2/refresh", { headers, body: { refreshToken } })).catch(endIfRefused);
    // Whoever signed in or out meanwhile is not overruled.
    if (tokens.get()?.refreshToken === refreshToken) tokens.set(next);
    return tokens.get();
  }

  return {
    api,
    token,
    async signIn(email, password, { totp, deviceId } = {}) {
      const body = { email, password, siteId: clientId, ...(totp !== undefined && { totp }) };
      const headers = deviceId === undefined ? {} : { "Tifo-Device-Id": deviceId };
      const login = () => ok(plain.POST("/auth/v2/login", { body, headers }));
      const session = await login().catch((error: unknown) => {
        if (isUnanswered(error)) return login();
        throw error;
      });
      tokens.set(session);
      return session;
    },
    async verifyEmail(token, proof = {}) {
      await done(api.POST("/account/v3/verify-email", { body: { token, ...proof } }));
    },
    async requestVerification(request = {}) {
      await done(api.POST("/account/v3/verify-email/request", { body: request }));
    },
    async signOut() {
      if (tokens.get()) await done(api.POST("/auth/v2/logout", {})).catch(ignoreRefusal);
      tokens.set(null);
    },
  };
}

interface ApiResult<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer, or a {@link TifoProblem} thrown: `const page = await ok(client.api.GET(…))`. */
export async function ok<T>(call: Promise<ApiResult<T>>): Promise<T> {
  const { data, response } = await succeeded(call);
  if (data === undefined) throw new TifoProblem({ status: response.status, code: "empty", message: "The answer holds no data" });
  return data;
}

/** The same for calls whose success answers nothing (204). */
export async function done(call: Promise<ApiResult<unknown>>): Promise<void> {
  await succeeded(call);
}

async function succeeded<T>(call: Promise<ApiResult<T>>): Promise<ApiResult<T>> {
  const answer = await call.catch((cause: unknown) => {
    throw new TifoProblem({ status: 0, code: "network", message: "The server can't be reached" }, { cause });
  });
  const { response, error } = answer;
  if (response.ok) return answer;
  // What was read of the body is the error; its text is given back to be read once more.
  throw await problemOf(new Response(typeof error === "string" ? error : JSON.stringify(error ?? {}), response));
}

/** Only a refusal ends the session, or that the next pair was made and is lost; a network that is down doesn't. */
function endIfRefused(error: unknown): null {
  if (isUnanswered(error) || (error instanceof TifoProblem && error.status === 401)) return null;
  throw error;
}

/** An earlier try took effect, and its answer is lost. */
function isUnanswered(error: unknown): boolean {
  return error instanceof TifoProblem && error.code === "idempotency_unanswered";
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof TifoProblem)) throw error;
}

/** By the token's own `exp`, in seconds since 1970. A token that can't be read is the server's to judge. */
function endsSoon(jwt: string): boolean {
  try {
    const payload: unknown = JSON.parse(atob((jwt.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")));
    const exp = typeof payload === "object" && payload !== null && "exp" in payload ? payload.exp : undefined;
    return typeof exp === "number" && exp * 1000 < Date.now() + LEEWAY_MS;
  } catch {
    return false;
  }
}
