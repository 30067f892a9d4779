import { createClient, memoryTokens, type TifoProblem, type Tokens } from "#sdk/client/index.ts";

export type Responder = (request: Request) => Response | Promise<Response>;

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) => Response.json(body, { status, headers });

/** A token that expires at `exp`, in seconds since 1970. */
export function jwt(name: string, exp = Date.now() / 1000 + 600): string {
  return `h.${btoa(JSON.stringify({ exp, name }))}.s`;
}

interface SetUp {
  tokens?: Tokens;
  developerKey?: string;
  attempts?: number;
  timeout?: number;
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** A client whose requests `respond` answers, with what it has sent and how long it has waited before each further attempt. */
export function setUp(respond: Responder, options: SetUp = {}) {
  const requests: Request[] = [];
  const waits: number[] = [];
  const tokens = memoryTokens();
  tokens.set(options.tokens ?? null);
  const client = createClient({
    origin: "https://tifo.example",
    clientId: "5eed00000000000000000001",
    developerKey: options.developerKey,
    tokens,
    fetch: async (request) => {
      requests.push(request.clone());
      return respond(request);
    },
    retry: {
      attempts: options.attempts ?? 4,
      random: () => 0.5,
      sleep: options.sleep ?? (async (milliseconds) => void waits.push(milliseconds)),
      ...(options.timeout !== undefined && { timeout: options.timeout }),
    },
  });
  return { client, requests, waits, tokens };
}

export const listPages = (client: ReturnType<typeof createClient>) => client.api.GET("/page/v2/channel", {});

/** A response that never arrives: the request ends when it is aborted. */
export function never({ signal }: Request): Promise<Response> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new DOMException("Aborted", "AbortError"))));
}

export const logout = (client: ReturnType<typeof createClient>) => client.api.POST("/auth/v2/logout", {});

export async function problem(call: Promise<unknown>): Promise<TifoProblem> {
  return call.then(
    () => Promise.reject(new Error("It succeeded")),
    (error: TifoProblem) => error,
  );
}
