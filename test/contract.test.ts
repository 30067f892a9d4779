import { beforeAll, describe, expect, test } from "vitest";
import wrangler from "../wrangler.toml?raw";
import { TAGS } from "#worker/routes/areas.ts";
import { type Case, forbiddenCases, invalidInputCases, unauthenticatedCases, unknownIdCases } from "./contract-cases.ts";
import { requiresCredentials, excludedCallers, leastPrivilegedCallers, wrongCredentials } from "./contract-credentials.ts";
import { waitForExports } from "./contract-commerce.ts";
import { signed } from "./contract-providers.ts";
import { change, draft, type Draft, validCall, validParams } from "./contract-requests.ts";
import { type CallOptions, newSite, send, strongestCaller, type TestSite } from "./harness.ts";
import { databaseChecksum } from "./database-checksum.ts";
import { definitions, document, namedSchemas, type Operation, operations, successStatuses } from "./openapi.ts";

/** Where an operation differs from the rules below, and why. */
const EXCEPTIONS: Record<string, { noCredentials?: string; unknownSite?: string; unknownIds?: string; role?: string; input?: string }> = {
  connectToChannel: {
    noCredentials: "a browser can't read the status of an upgrade: an error frame and the close code say it; see the tests of realtime",
    unknownSite: "as without a client id",
    unknownIds: "as without a client id",
    input: "as without a client id",
  },
  streamChannel: {
    noCredentials: "as for the socket, whose frames it carries",
    unknownIds: "as for the socket: an EventSource can't read a status, an error event says it",
  },
  getCalendarFeed: { noCredentials: "as for the socket: what is wrong with a subscription's address is that it names no site" },
  createTvCode: { unknownSite: "a television that names no site of ours is told so with a 404" },
  replaceQuest: { role: "the product answers an account that is no channel admin with 400" },
  getTheme: { unknownIds: "whoever has a theme's id may read it, on whatever site it is used" },
  updateDefaultTheme: { unknownIds: "the operator's themes belong to no site" },
  replaceSiteFeatures: { unknownIds: "the operator reaches every site" },
  setAccountTags: { unknownIds: "the operator reaches the accounts of every site; a key's reach is tested with the tags" },
  addAccountTags: { unknownIds: "as for replacing them" },
  cancelRecurringSubscription: { unknownIds: "the product answers an unknown subscription with 200 and `success: false`" },
  deleteAutomationRule: { unknownIds: "the spec has it answer success: false" },
  getMedia: { unknownIds: "a file is for whoever has its id, on whatever site it is shown" },
};

/** The tests of the areas, and the modules by which they call the API. */
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
  test("names each operation once, in words and with everything that a reader needs", () => {
    const ids = operations.map((operation) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operationId, summary, description, responses } of operations) {
      expect.soft(operationId).toMatch(/^[a-z][A-Za-z]+$/);
      expect.soft(summary, operationId).toMatch(/^[A-Z].{5,60}[^.]$/);
      expect.soft(description, operationId).toMatch(/^[A-Z][^]{15,}\.$/);
      expect.soft(successStatuses({ responses }), operationId).not.toEqual([]);
    }
  });

  test("loses no route to another of the same method and path", () => {
    const routes = definitions.flatMap((definition) =>
      definition.type === "route" ? [`${definition.route.method} ${definition.route.path}`] : [],
    );
    expect(new Set(routes).size).toBe(routes.length);
    expect(operations.length).toBe(routes.length);
  });

  test("gives no two schemas one name", () => {
    const named = namedSchemas();
    expect(named.size).toBeGreaterThan(20);
    for (const [name, shapes] of named) expect.soft(shapes.size, name).toBe(1);
  });

  test("declares the tags that are in use, and no other", () => {
    expect(new Set(operations.flatMap((operation) => operation.tags))).toEqual(new Set(Object.keys(TAGS)));
    expect(document.tags?.map((tag) => tag.name)).toEqual(Object.keys(TAGS));
  });

  test("says of each operation who may call it", () => {
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

  test("has an example of every body and of every parameter that must be given", () => {
    for (const { operationId, body, parameters } of operations) {
      if (body) expect.soft(body.example, operationId).toBeTypeOf("object");
      for (const { name, required, example } of parameters) if (required) expect.soft(example, `${operationId} ${name}`).toBeDefined();
    }
  });

  test("has only paths that reach the Worker before the static files", () => {
    const listed = [...(/run_worker_first = \[([^\]]+)\]/.exec(wrangler)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "");
    const covers = (pattern: string, path: string): boolean =>
      pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
    const paths = Object.keys(document.paths).flatMap((path) => (path.endsWith(".json") ? [path] : [path, `${path}/`]));
    const prefix = (path: string): string => path.replace(/^(\/[^/]+\/).+/, "$1*");
    const missing = paths.filter((path) => !listed.some((pattern) => covers(pattern, path))).map(prefix);
    const unused = listed.filter((pattern) => !paths.some((path) => covers(pattern, path)));
    expect([...new Set(missing)], "add these to run_worker_first in wrangler.toml").toEqual([]);
    expect(unused, "remove these from run_worker_first in wrangler.toml").toEqual([]);
  });
});

describe.each(operations.map((operation) => [operation.operationId, operation] as const))("%s", (operationId, operation) => {
  const exceptions = EXCEPTIONS[operationId] ?? {};

  test("answers its own example to the least of those who may call, with and without a trailing slash", async () => {
    for (const slash of ["", "/"]) {
      for (const [name, credentials] of Object.entries(await leastPrivilegedCallers(own, operation))) {
        const base = draft(own, operation, await validCall(own, operation), credentials);
        const request = await signed(operation, base);
        const answer = await send(operation, change(request, { path: base.url.pathname + slash }).url, init(operation, request));
        expect(successStatuses(operation), `${name}: ${answer.text}`).toContain(answer.status);
        expect(answer.log.route, "the route that answers").toBe(operation.path);
      }
    }
  });

  test("asks who calls before it looks at anything else", async () => {
    const { base } = await prepare(operation);
    const cases = unauthenticatedCases(operation, base, await wrongCredentials(own, foreign, operation));
    const excepted = ({ name }: Case): boolean =>
      (exceptions.noCredentials !== undefined && name.startsWith("nothing")) ||
      (exceptions.unknownSite !== undefined && name.includes("client id"));
    await refuseAll(
      operation,
      cases.filter((one) => !excepted(one)),
    );
  });

  test.runIf(requiresCredentials(operation))("lets in no valid caller of another kind or of too small a role", async () => {
    const { base } = await prepare(operation);
    const excepted = ({ name }: Case): boolean => exceptions.role !== undefined && name.startsWith("the token of");
    const cases = forbiddenCases(operation, base, await excludedCallers(own, operation));
    await refuseAll(
      operation,
      cases.filter((one) => !excepted(one)),
    );
  });

  test.skipIf(exceptions.input)("refuses every input that is not as declared, and names what is wrong", async () => {
    const { base } = await prepare(operation);
    await refuseAll(operation, invalidInputCases(operation, base));
  });

  test.skipIf(exceptions.unknownIds)("knows no id of another site", async () => {
    const { base, call } = await prepare(operation);
    await refuseAll(operation, unknownIdCases(operation, base, call, await validParams(foreign, operation)));
  });
});

describe("every operation", () => {
  test("is called by the tests of its area", () => {
    const called = new Set(Object.values(suites).flatMap((text) => [...text.matchAll(/"([a-z][A-Za-z]+)"/g)].map((match) => match[1])));
    expect(called.size).toBeGreaterThan(operations.length);
    expect(operations.filter(({ operationId }) => !called.has(operationId)).map(({ operationId }) => operationId)).toEqual([]);
  });

  test("that is named as an exception exists", () => {
    const ids = operations.map((operation) => operation.operationId);
    expect(Object.keys(EXCEPTIONS).filter((id) => !ids.includes(id))).toEqual([]);
  });
});

/** Sends each case, and finds it refused as it should be and nothing written by any of them. */
async function refuseAll(operation: Operation, cases: Case[]): Promise<void> {
  const before = await sumAtRest();
  const check = async ({ name, draft: sent, status, code, path }: Case): Promise<void> => {
    const answer = await send(operation, sent.url, init(operation, await signed(operation, sent)));
    expect.soft({ case: name, status: answer.status, code: answer.problem?.code }, answer.text).toEqual({ case: name, status, code });
    if (!path || answer.status !== status) return;
    const named = answer.fields.some((field) => field === path || field.startsWith(`${path}.`));
    expect.soft(named, `${name} names ${path}: ${answer.text}`).toBe(true);
  };
  await Promise.all(cases.map(check));
  expect(await databaseChecksum(), "what the database holds").toEqual(before);
}

/** A valid request by the strongest caller, to be spoilt. */
async function prepare(operation: Operation): Promise<{ base: Draft; call: CallOptions }> {
  const call = await validCall(own, operation);
  return { base: draft(own, operation, call, await own.headersOf(strongestCaller(operation))), call };
}

function init(operation: Operation, { headers, body }: Draft): RequestInit {
  return { method: operation.method.toUpperCase(), headers, body };
}

/** What the database holds once what was prepared has left the outbox, and all that follows from it too: that would count as a write. */
async function sumAtRest(): ReturnType<typeof databaseChecksum> {
  for (let last = ""; ;) {
    for (const site of [own, foreign]) await site.call("listEvents");
    await waitForExports();
    const sum = await databaseChecksum();
    if (JSON.stringify(sum) === last) return sum;
    last = JSON.stringify(sum);
  }
}
