import createFetchClient, { type Client } from "openapi-fetch";
import type { components, paths } from "../generated/rest.d.ts";
import { withBookmark } from "./bookmark.ts";
import { problemOf, TifoProblem } from "./problem.ts";
import { type RetryOptions, withRetries } from "./retry.ts";
import { withTabLock, memoryTokens, type Tokens, type TokenStore } from "./tokens.ts";

/** The API's types by their names in the OpenAPI document, such as `Schemas["Overlay"]`. */
export type Schemas = components["schemas"];

export interface ClientOptions {
  /** Origin of the deployment. */
  origin: string;
  /** The site's id. */
  clientId: string;
  /** For servers only; never use it in a browser. */
  developerKey?: string;
  /** Returns a JWT that you manage, before each request. Without it, the client manages a session that {@link TifoClient.signIn} creates. */
  getToken?: () => string | null | Promise<string | null>;
  tokens?: TokenStore;
  retry?: RetryOptions;
  fetch?: (request: Request) => Promise<Response>;
}

export interface SignInOptions {
  /** A code of the account's authenticator app, or a recovery code: ask for it after a {@link TifoProblem} with the code `totp_required`. */
  totp?: string;
  /** The viewer's device. If it has signed in before, wrong passwords from elsewhere can't lock the viewer out. */
  deviceId?: string;
}

/** The REST API: `client.api.GET("/page/v2/{id}", { params: { path: { id } } })`, with every path, parameter and response typed. */
export interface TifoClient {
  readonly api: Client<paths>;
  /**
   * Signs in an account of the site and keeps its session. The error `totp_required` means that a one-time code is needed too,
   * `email_not_verified` that the site requires a verified address.
   */
  signIn(email: string, password: string, options?: SignInOptions): Promise<Tokens>;
  /**
   * Verifies an email address with the token from an email, for the signed-in account. Otherwise it requires the account's `password`, or a
   * `newPassword`, which voids the old one and all sessions; without either, it throws a {@link TifoProblem} with the code `password_required`.
   */
  verifyEmail(token: string, proof?: { password?: string; newPassword?: string }): Promise<void>;
  /** Requests a new verification email, for `email` or for the signed-in account. `baseUrl` is the page that the link opens. */
  requestVerification(request?: { email?: string; baseUrl?: string }): Promise<void>;
  /** Ends the session on the server, and deletes its tokens here. */
  signOut(): Promise<void>;
  /** The token that requests are sent with, renewed if it has expired. Null if nobody is signed in. */
  token(): Promise<string | null>;
}

// A token that expires this soon may expire in transit.
const LEEWAY_MS = 15_000;
// The server replays the response to a renewal for half a minute, which leaves time for three attempts.
const RENEWAL_TIMEOUT_MS = 8_000;

export function createClient(options: ClientOptions): TifoClient {
  const { origin, clientId, developerKey, getToken, tokens = memoryTokens() } = options;
  const once = withBookmark(options.fetch ?? ((request) => fetch(request)));
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
  /** The most recent renewal: if its response is lost, it is retried with the same key and gets the same response. */
  let renewal = { refreshToken: "", key: "" };

  /** Sends with the session's token. A rejected token is renewed once, however many requests it fails. */
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
    return expiresSoon(session.jwt) ? ((await renew(session.jwt))?.jwt ?? null) : session.jwt;
  }

  /** Replaces an expired token. All requests that need it, in other tabs too, share one renewal, because a refresh token works once. */
  function renew(expired: string): Promise<Tokens | null> {
    renewing ??= withTabLock(`tifo.refresh.${clientId}`, () => renewOnce(expired)).finally(() => (renewing = null));
    return renewing;
  }

  async function renewOnce(expired: string): Promise<Tokens | null> {
    const session = tokens.get();
    if (session?.jwt !== expired) return session;
    const { refreshToken } = session;
    if (renewal.refreshToken !== refreshToken) renewal = { refreshToken, key: crypto.randomUUID() };
    const headers = { "Idempotency-Key": renewal.key };
    const next = await ok(renewals.POST("/auth/v2/refresh", { headers, body: { refreshToken } })).catch(endIfRejected);
    // Don't overwrite the tokens of a sign-in or sign-out that happened in the meantime.
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
        if (hasLostResponse(error)) return login();
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
      if (tokens.get()) await done(api.POST("/auth/v2/logout", {})).catch(ignoreProblem);
      tokens.set(null);
    },
  };
}

interface ApiResult<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of a response, or a {@link TifoProblem} thrown: `const page = await ok(client.api.GET(…))`. */
export async function ok<T>(call: Promise<ApiResult<T>>): Promise<T> {
  const { data, response } = await succeeded(call);
  if (data === undefined) throw new TifoProblem({ status: response.status, code: "empty", message: "The response contains no data" });
  return data;
}

/** The same for calls that return nothing (204). */
export async function done(call: Promise<ApiResult<unknown>>): Promise<void> {
  await succeeded(call);
}

async function succeeded<T>(call: Promise<ApiResult<T>>): Promise<ApiResult<T>> {
  const result = await call.catch((cause: unknown) => {
    throw new TifoProblem({ status: 0, code: "network", message: "The server can't be reached" }, { cause });
  });
  const { response, error } = result;
  if (response.ok) return result;
  // openapi-fetch has consumed the body, so it is rebuilt from the parsed error.
  throw await problemOf(new Response(typeof error === "string" ? error : JSON.stringify(error ?? {}), response));
}

/** The session ends only if the renewal is rejected, or if the new tokens were issued and lost; network errors don't end it. */
function endIfRejected(error: unknown): null {
  if (hasLostResponse(error) || (error instanceof TifoProblem && error.status === 401)) return null;
  throw error;
}

/** An earlier attempt took effect, and its response is lost. */
function hasLostResponse(error: unknown): boolean {
  return error instanceof TifoProblem && error.code === "idempotency_unanswered";
}

function ignoreProblem(error: unknown): void {
  if (!(error instanceof TifoProblem)) throw error;
}

/** According to the token's `exp`, in seconds since 1970. A token that can't be parsed is left to the server. */
function expiresSoon(jwt: string): boolean {
  try {
    const payload: unknown = JSON.parse(atob((jwt.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")));
    const exp = typeof payload === "object" && payload !== null && "exp" in payload ? payload.exp : undefined;
    return typeof exp === "number" && exp * 1000 < Date.now() + LEEWAY_MS;
  } catch {
    return false;
  }
}
