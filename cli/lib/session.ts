import { createClient, type TifoClient, type TokenStore } from "../../sdk/client/index.ts";
import { Credentials, type Session } from "./credentials.ts";
import { EXIT, Failure, wrongUsage } from "./failure.ts";
import type { Io } from "./io.ts";
import { parseId, parseOrigin } from "./origin.ts";
import type { Values } from "./values.ts";

/** A site, and the API as its caller. */
export interface Site {
  origin: string;
  siteId: string;
  session: Session | undefined;
  client: TifoClient;
}

/** The site that the options, the environment or the last login select. Without credentials it fails. */
export function openSite(values: Values, io: Io): Site {
  const site = openPublicSite(values, io);
  if (site.session === undefined) throw notSignedIn(site.origin);
  return site;
}

/** The same for what anybody may read: credentials are used if there are any. */
export function openPublicSite(values: Values, io: Io): Site {
  const wanted = wantedSite(values, io);
  const key = io.env.TIFO_DEVELOPER_KEY;
  if (key) {
    const { origin, siteId } = wanted;
    if (origin === undefined || siteId === undefined) {
      throw wrongUsage("With TIFO_DEVELOPER_KEY, set TIFO_ORIGIN and TIFO_SITE_ID, or pass --origin and --site.");
    }
    return siteOf({ origin, siteId, developerKey: key }, io);
  }
  const session = savedSession(wanted, new Credentials(io.env));
  if (session) return siteOf(session, io);
  const { origin, siteId } = wanted;
  if (origin === undefined || siteId === undefined) throw notSignedIn(origin);
  return { origin, siteId, session: undefined, client: clientOf({ origin, siteId }, io) };
}

export function notSignedIn(origin?: string): Failure {
  return new Failure(`You aren't signed in${origin === undefined ? "" : ` at ${origin}`}.`, EXIT.unauthorized, {
    fix: "Run tifo login, or set TIFO_ORIGIN, TIFO_SITE_ID and TIFO_DEVELOPER_KEY.",
  });
}

interface WantedSite {
  origin: string | undefined;
  siteId: string | undefined;
}

export function wantedSite(values: Values, io: Io): WantedSite {
  const origin = values.text("origin") ?? (io.env.TIFO_ORIGIN || undefined);
  const siteId = values.text("site") ?? (io.env.TIFO_SITE_ID || undefined);
  return { origin: origin && parseOrigin(origin), siteId: siteId && parseId(siteId, "site") };
}

/** The last login that matches. Credentials are never used at another origin than that of their login. */
function savedSession({ origin, siteId }: WantedSite, credentials: Credentials): Session | undefined {
  const matches = (session: Session) =>
    (origin === undefined || session.origin === origin) && (siteId === undefined || session.siteId === siteId);
  return credentials.list().findLast(matches);
}

function siteOf(session: Session, io: Io): Site {
  return { origin: session.origin, siteId: session.siteId, session, client: clientOf(session, io) };
}

/** The API with a login's credentials. The tokens of an account are renewed in the file. */
export function clientOf(session: Session, io: Io): TifoClient {
  const { origin, siteId, developerKey, tokens } = session;
  return createClient({
    origin,
    clientId: siteId,
    ...(developerKey === undefined ? {} : { developerKey }),
    ...(tokens === undefined ? {} : { tokens: storedTokens(session, new Credentials(io.env)) }),
    fetch: withoutRedirects(io),
    retry: { sleep: (milliseconds) => io.sleep(milliseconds) },
  });
}

function storedTokens(session: Session, credentials: Credentials): TokenStore {
  return {
    get: () => credentials.find(session)?.tokens ?? null,
    set: (tokens) => {
      const stored = credentials.find(session);
      if (!stored) return;
      if (tokens === null) credentials.remove(session);
      else credentials.update({ ...stored, tokens });
    },
  };
}

/** A redirect could lead to another host, and fetch would send it the key too. */
export function withoutRedirects(io: Io): (request: Request) => Promise<Response> {
  return async (request) => {
    const response = await io.fetch(new Request(request, { redirect: "manual" }));
    if (response.type !== "opaqueredirect" && (response.status < 300 || response.status > 399)) return response;
    const message = `${new URL(request.url).origin} redirects. Sign in to the origin that it redirects to.`;
    return Response.json({ code: "redirected", message }, { status: 400 });
  };
}
