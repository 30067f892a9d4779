import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import wrangler from "../wrangler.toml?raw";
import { TAGS } from "#worker/routes/areas.ts";
import { waitForArchives } from "./contract-archives.ts";
import { type Case, forbiddenCases, invalidInputCases, unauthenticatedCases, unknownIdCases } from "./contract-cases.ts";
import { requiresCredentials, excludedCallers, leastPrivilegedCallers, invalidCredentials } from "./contract-credentials.ts";
import { waitForExports } from "./contract-commerce.ts";
import { signed } from "./contract-providers.ts";
import { change, draft, type Draft, validCall, validParams } from "./contract-requests.ts";
import { newSite, send, strongestCaller, type TestSite } from "./harness.ts";
import { databaseChecksum } from "./database-checksum.ts";
import { definitions, document, namedSchemas, type Operation, operations, successStatuses } from "./openapi.ts";

/** Operations that differ from the rules below, and why. */
const EXCEPTIONS: Record<
  string,
  { noCredentials?: string; unknownSite?: string; unknownIds?: string; role?: string; input?: string; success?: string }
> = {
  connectToChannel: {
    noCredentials: "a browser can't read the status of an upgrade: an error frame and the close code report it; see the realtime tests",
    unknownSite: "as without a client id",
    unknownIds: "as without a client id",
    input: "as without a client id",
  },
  streamChannel: {
    noCredentials: "as for the socket, whose frames it sends",
    unknownIds: "as for the socket: an EventSource can't read a status, an error event reports it",
  },
  openManifest: { noCredentials: "as for the feed: a playlist's URL without a site is invalid" },
  reportImpressions: { noCredentials: "as for the feed: a request without a site is invalid" },
  getConcurrentsHistory: { unknownSite: "the operator names the site in the query" },
  getCalendarFeed: { noCredentials: "a feed's URL without a site is invalid, which is a 400" },
  createTvCode: { unknownSite: "the spec has a TV with an unknown site get a 404" },
  replaceQuest: { role: "the spec has an account that isn't a channel admin get a 400" },
  getTheme: { unknownIds: "anyone with a theme's id can read it, on any site" },
  updateDefaultTheme: { unknownIds: "the operator's themes belong to no site" },
  replaceSiteFeatures: { unknownIds: "the operator can access every site" },
  setAccountTags: { unknownIds: "the operator can access the accounts of every site; the tests of tags cover keys" },
  addAccountTags: { unknownIds: "as for setAccountTags" },
  cancelRecurringSubscription: { unknownIds: "the spec has an unknown subscription return 200 and `success: false`" },
  receiveShopifyWebhook: { unknownIds: "a site without a shop is a 401, so that nobody learns which sites have one" },
  deleteAutomationRule: { unknownIds: "the spec has an unknown rule return `success: false`" },
  getPanelOembed: {
    input: "oEmbed's consumers send parameters of their own, and expect a 404 for a wrong URL and a 501 for a wrong format",
  },
  getSiteImport: { unknownIds: "the operator can access the imports of every site" },
  listFailedEffects: { unknownIds: "the operator can access every site" },
  getBackup: { unknownIds: "the operator can access the backups of every site" },
  downloadBackup: { unknownIds: "as for getBackup" },
  restoreBackup: { unknownIds: "as for getBackup" },
  deleteBackup: { unknownIds: "as for getBackup" },
  createBackup: { unknownIds: "the operator can access every site" },
  listObjectSizes: { unknownIds: "as for listFailedEffects" },
  retryFailedEffects: { unknownIds: "as for listFailedEffects" },
  moveSite: {
    unknownIds: "as for listFailedEffects",
    success: "the tests have one database; those of test/shards move sites between two",
  },
  getSiteMove: { unknownIds: "as for listFailedEffects", success: "as for moveSite" },
  cancelSiteMove: { unknownIds: "as for listFailedEffects", success: "as for moveSite" },
  getGraphicFrame: { unknownIds: "anyone with a graphic's id can show it, as with a file's" },
  getGraphicFile: { unknownIds: "anyone with a graphic's id can read its files" },
  getMedia: { unknownIds: "anyone with a file's id can read it, on any site" },
};

/** The areas' tests and the helpers through which they call the API. */
const suites = import.meta.glob(
  ["../worker/**/*.test.ts", "./*.ts", "!./*.test.ts", "!./contract-*.ts", "!./public-*.ts", "!./openapi.ts"],
  {
    query: "?raw",
    import: "default",
    eager: true,
  },
);

let own: TestSite;
let foreign: TestSite;

beforeAll(async () => {
  [own, foreign] = [await newSite(), await newSite()];
});

describe("the document", () => {
  test("describes each operation completely, under a unique id", () => {
    const ids = operations.map((operation) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operationId, summary, description, responses } of operations) {
      expect.soft(operationId).toMatch(/^[a-z][A-Za-z]+$/);
      expect.soft(summary, operationId).toMatch(/^[A-Z].{5,60}[^.]$/);
      expect.soft(description, operationId).toMatch(/^[A-Z][^]{15,}\.$/);
      expect.soft(successStatuses({ responses }), operationId).not.toEqual([]);
    }
  });

  test("has no two routes with the same method and path", () => {
    const routes = definitions.flatMap((definition) =>
      definition.type === "route" ? [`${definition.route.method} ${definition.route.path}`] : [],
    );
    expect(new Set(routes).size).toBe(routes.length);
    expect(operations.length).toBe(routes.length);
  });

  test("has no two schemas with the same name", () => {
    const named = namedSchemas();
    expect(named.size).toBeGreaterThan(20);
    for (const [name, shapes] of named) expect.soft(shapes.size, name).toBe(1);
  });

  test("declares exactly the tags that are in use", () => {
    expect(new Set(operations.flatMap((operation) => operation.tags))).toEqual(new Set(Object.keys(TAGS)));
    expect(document.tags?.map((tag) => tag.name)).toEqual(Object.keys(TAGS));
  });

  test("states who can call each operation", () => {
    const schemes = new Set(Object.keys(document.components?.securitySchemes ?? {}));
    for (const { operationId, security } of operations) {
      expect.soft(security.length, operationId).toBeGreaterThan(0);
      expect
        .soft(
          security.flat().filter((kind) => !schemes.has(kind)),
          operationId,
        )
        .toEqual([]);
    }
  });

  test("has an example of every body and every required parameter", () => {
    for (const { operationId, body, parameters } of operations) {
      if (body) expect.soft(body.example, operationId).toBeTypeOf("object");
      for (const { name, required, example } of parameters) if (required) expect.soft(example, `${operationId} ${name}`).toBeDefined();
    }
  });

  test("has only paths that wrangler.toml routes to the Worker before the static files", () => {
    const listed = [...(/run_worker_first = \[([^\]]+)\]/.exec(wrangler)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "");
    const covers = (pattern: string, path: string): boolean =>
      pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
    const paths = Object.keys(document.paths).flatMap((path) => (path.endsWith(".json") ? [path] : [path, `${path}/`]));
    const prefix = (path: string): string => path.replace(/^(\/[^/]+\/).+/, "$1*");
    const missing = paths.filter((path) => !listed.some((pattern) => covers(pattern, path))).map(prefix);
    // The demo's live stream and the Model Context Protocol aren't part of the document.
    const unused = listed.filter((pattern) => !["/demo/*", "/mcp"].includes(pattern) && !paths.some((path) => covers(pattern, path)));
    expect([...new Set(missing)], "add these to run_worker_first in wrangler.toml").toEqual([]);
    expect(unused, "remove these from run_worker_first in wrangler.toml").toEqual([]);
  });
});

describe.each(operations.map((operation) => [operation.operationId, operation] as const))("%s", (operationId, operation) => {
  const exceptions = EXCEPTIONS[operationId] ?? {};

  test.skipIf(exceptions.success)(
    "succeeds with its own example for the least privileged callers, with and without a trailing slash",
    async () => {
      for (const slash of ["", "/"]) {
        for (const [name, credentials] of Object.entries(await leastPrivilegedCallers(own, operation))) {
          const base = draft(own, operation, await validCall(own, operation), credentials);
          const request = await signed(operation, base);
          const response = await send(operation, change(request, { path: base.url.pathname + slash }).url, init(operation, request));
          expect(successStatuses(operation), `${name}: ${response.text}`).toContain(response.status);
          expect(response.log.route, "the matched route").toBe(operation.path);
          if (hasVersion(operation)) expect(response.headers.get("ETag"), "the version for If-Match").not.toBeNull();
        }
      }
    },
  );

  // What the rejections below break is prepared once, since none of them writes anything.
  const rejections = new Rejections(operation, exceptions.unknownIds === undefined);

  test("authenticates the caller before it validates anything else", async () => {
    const excepted = ({ name }: Case): boolean =>
      (exceptions.noCredentials !== undefined && name.startsWith("no credentials")) ||
      (exceptions.unknownSite !== undefined && name.includes("client id"));
    await expectRejections(operation, rejections, ({ unauthenticated }) => unauthenticated.filter((one) => !excepted(one)));
  });

  test.runIf(requiresCredentials(operation))("rejects valid callers of another kind or with an insufficient role", async () => {
    const excepted = ({ name }: Case): boolean => exceptions.role !== undefined && name.startsWith("the token of");
    await expectRejections(operation, rejections, ({ forbidden }) => forbidden.filter((one) => !excepted(one)));
  });

  test.skipIf(exceptions.input)("rejects every input that violates its declaration, and names the field", async () => {
    await expectRejections(operation, rejections, ({ invalidInput }) => invalidInput);
  });

  test.skipIf(exceptions.unknownIds)("returns 404 for an id of another site", async () => {
    await expectRejections(operation, rejections, ({ unknownId }) => unknownId);
  });
});

describe("every operation", () => {
  test("is called by a test of its area", () => {
    const called = new Set(Object.values(suites).flatMap((text) => [...text.matchAll(/"([a-z][A-Za-z]+)"/g)].map((match) => match[1])));
    expect(called.size).toBeGreaterThan(operations.length);
    expect(operations.filter(({ operationId }) => !called.has(operationId)).map(({ operationId }) => operationId)).toEqual([]);
  });

  test("in the list of exceptions exists", () => {
    const ids = operations.map((operation) => operation.operationId);
    expect(Object.keys(EXCEPTIONS).filter((id) => !ids.includes(id))).toEqual([]);
  });
});

interface Cases {
  unauthenticated: Case[];
  forbidden: Case[];
  invalidInput: Case[];
  unknownId: Case[];
  /** The database's checksum before any of them is sent. */
  before: Awaited<ReturnType<typeof databaseChecksum>>;
}

/** A valid request by the strongest caller, and all that breaks it. */
class Rejections {
  readonly #operation: Operation;
  readonly #withForeignIds: boolean;
  #cases: Promise<Cases> | undefined;

  constructor(operation: Operation, withForeignIds: boolean) {
    this.#operation = operation;
    this.#withForeignIds = withForeignIds;
  }

  /** Prepared at the first call only. */
  cases(): Promise<Cases> {
    return (this.#cases ??= this.#prepare());
  }

  /** New ones, since a body in chunks can be sent only once. */
  casesAnew(): Promise<Cases> {
    return (this.#cases = this.#prepare());
  }

  async #prepare(): Promise<Cases> {
    const operation = this.#operation;
    const call = await validCall(own, operation);
    const base = draft(own, operation, call, await own.headersOf(strongestCaller(operation)));
    return {
      unauthenticated: unauthenticatedCases(operation, base, await invalidCredentials(own, foreign, operation)),
      forbidden: requiresCredentials(operation) ? forbiddenCases(operation, base, await excludedCallers(own, operation)) : [],
      invalidInput: invalidInputCases(operation, base),
      unknownId: this.#withForeignIds ? unknownIdCases(operation, base, call, await validParams(foreign, operation)) : [],
      before: await checksumWhenIdle(),
    };
  }
}

/** Sends each case and expects the declared rejection, and that none of them writes anything. */
async function expectRejections(operation: Operation, rejections: Rejections, select: (all: Cases) => Case[]): Promise<void> {
  const check = async ({ name, draft: sent, status, code, path }: Case): Promise<void> => {
    const response = await send(operation, sent.url, init(operation, await signed(operation, sent)));
    expect.soft({ case: name, status: response.status, code: response.problem?.code }, response.text).toEqual({ case: name, status, code });
    if (!path || response.status !== status) return;
    const named = response.fields.some((field) => field === path || field.startsWith(`${path}.`));
    expect.soft(named, `${name} names ${path}: ${response.text}`).toBe(true);
  };
  const prepared = await rejections.cases();
  await Promise.all(select(prepared).map(check));
  // What the Worker does after a response, of an earlier request too, may have written since the cases were prepared: in
  // that case the same rejections are sent again, to an idle database.
  if (isDeepStrictEqual(await databaseChecksum(), prepared.before)) return;
  const anew = await rejections.casesAnew();
  await Promise.all(select(anew).map(check));
  expect(await databaseChecksum(), "the database's checksum").toEqual(anew.before);
}

function init(operation: Operation, { headers, body }: Draft): RequestInit {
  return { method: operation.method.toUpperCase(), headers, body };
}

/** The checksum after the events of the prepared requests have left the outbox and run their effects, which would count as writes. */
async function checksumWhenIdle(): ReturnType<typeof databaseChecksum> {
  for (let last = ""; ;) {
    for (const site of [own, foreign]) await site.call("listEvents");
    await waitForExports();
    await waitForArchives();
    const sum = await databaseChecksum();
    if (JSON.stringify(sum) === last) return sum;
    last = JSON.stringify(sum);
  }
}

/** Whether the operation reads what another one changes on condition that it is unchanged. */
function hasVersion({ method, path, operationId }: Operation): boolean {
  const isList = operationId.startsWith("list");
  return method === "get" && !isList && operations.some((other) => other.path === path && other.responses.has(412));
}
