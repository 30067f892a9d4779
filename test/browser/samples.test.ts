import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "@hono/zod-openapi";
import { DEMO } from "#docs/src/components/key/credentials.ts";
import { type Operation, operations } from "#docs/src/components/operation/document.ts";
import { samplesOf } from "#docs/src/components/samples/languages.ts";
import type { Sample } from "#docs/src/components/samples/sample.ts";
import type { Server } from "#scripts/lib/server.ts";
import { launchBrowser } from "./browser.ts";
import { NODE_DRIVER, PYTHON_DRIVER, SHELL_DRIVER } from "./samples/drivers.ts";
import { allFences, type Fence, fencesIn, place, promisedOutput, showsErrors } from "./samples/fences.ts";
import { openWorkshop, type Run, type Workshop } from "./samples/programs.ts";
import { type Exchange, type Recorder, startRecorder } from "./samples/recorder.ts";
import { startServer } from "./server.ts";

// Every program that the site shows runs against a server with the demo sites of its own: some of them delete.

/** Operations that the demo refuses, and why it has to. Their samples still make the right request. */
const REFUSED: Record<string, string> = {
  pollTvCode: "a television's code lives for minutes",
  resetPassword: "the token comes by mail",
  resetGlobalPassword: "the token comes by mail",
  verifyEmail: "the token comes by mail",
  deleteGlobalAccount: "other samples need the demo's global account",
  confirmGlobalAccount: "the token comes by mail",
  refreshTokens: "a refresh token comes with a sign-in and works once",
  createIntent: "a partner's server signs the token",
  consumeIntent: "an intent's token comes with a magic link's redirect",
  acceptRegisterInvite: "the token comes by mail",
  getExport: "an export is made when it is asked for",
  downloadExport: "the link comes with an export",
  getReceipt: "a broadcast has an id only once it is made",
  deletePage: "the demo's channel is on the air",
  redeliver: "a delivery has an id only once it is made",
  verifyApplePay: "the demo has no keys to Stripe",
  checkoutBundle: "the demo has no keys to Stripe",
  checkoutSubscription: "the demo has no keys to Stripe",
  refundCharge: "the demo has no keys to Stripe",
  cancelRecurringSubscription: "the demo has no keys to Stripe",
  putSenderEmail: "the domain's records are asked for outside",
  importYoutubePlaylist: "the demo has no key to YouTube",
  getVideoMetadata: "tests call nobody outside",
  searchGames: "the demo has no key to the games database",
  resetTotp: "the demo's accounts have no authenticator app",
  beginTotp: "it takes the account's own password",
  confirmTotp: "the code comes from an authenticator app",
  disableTotp: "the demo's accounts have no authenticator app",
  getStripeConnection: "the demo has no keys to Stripe",
  connectStripe: "the demo has no keys to Stripe",
  updateNavigation: "the sample's tree leaves out private entries of the demo's",
  createStream: "nobody is behind the demo's stream providers",
  startStream: "nobody is behind the demo's stream providers",
  stopStream: "nobody is behind the demo's stream providers",
  deleteStream: "nobody is behind the demo's stream providers",
  removeStreamProvider: "the demo's streams use its providers",
  deletePoll: "a panel of the demo shows its polls",
  deleteQuest: "a panel of the demo shows its quests",
  claimQuest: "nobody has completed a quest of the demo",
  deleteSubscription: "accounts hold what the demo sells",
};

/** Whose token a sample runs with where the site's admin is the wrong one. */
const TOKENS: Record<string, Person> = { listGlobalSites: "global", freeDevice: "viewer", logout: "viewer", listDevices: "viewer" };

const PEOPLE = {
  admin: { email: "admin@demo.example", password: "demo-admin-pass", siteId: DEMO.clientId },
  viewer: { email: "viewer@demo.example", password: "demo-viewer-pass", siteId: DEMO.clientId },
  global: { email: "global@demo.example", password: "demo-global-pass" },
};
type Person = keyof typeof PEOPLE;

/** A page whose programs a test of its own runs: they start a server, and watch until they are told to stop. */
const OWN_TEST = "docs/src/content/docs/start.mdx";

/** What takes the credentials away that the others call with, in the order in which nothing is missed. */
const LAST = ["replaceSiteFeatures", "logout", "deleteAccount", "rotateApiKey", "revokeApiKey", "changePassword"];
/** What the demo has not until others have run. */
const AFTER_CHANGES = ["testWebhooks", "listDeliveries", "rotateDataProviderSecret"];
/** What others would leave no room for. */
const FIRST_CHANGES = ["respondToPoll"];

interface Phase {
  name: string;
  operations: () => Operation[];
}

/** Each language does a phase before any does the next, so that what one deletes is there for all. */
const PHASES: Phase[] = [
  { name: "reads", operations: () => others().filter(({ method }) => method === "get") },
  { name: "first changes", operations: () => named(FIRST_CHANGES) },
  { name: "changes", operations: () => others().filter(({ method }) => method !== "get" && method !== "delete") },
  { name: "what changes make room for", operations: () => named(AFTER_CHANGES) },
  { name: "deletions", operations: () => others().filter(({ method }) => method === "delete") },
  { name: "endings", operations: () => named(LAST) },
];

function named(ids: string[]): Operation[] {
  return ids.flatMap((id) => operations.filter(({ operationId }) => operationId === id));
}

function others(): Operation[] {
  const apart = [...LAST, ...AFTER_CHANGES, ...FIRST_CHANGES];
  return operations.filter(({ operationId }) => !apart.includes(operationId));
}

const fences = allFences();
const pages = Map.groupBy(
  fencesIn(fences, "sh", "js", "python").filter(({ page }) => page !== OWN_TEST),
  ({ page }) => page,
);

let server: Server;
let workshop: Workshop;
let tokens: Record<Person, string>;

beforeAll(async () => {
  workshop = openWorkshop();
  server = await startServer();
  tokens = { admin: await signIn("admin"), viewer: await signIn("viewer"), global: await signIn("global") };
});

afterAll(async () => {
  await server.stop();
  workshop.clear();
});

describe("programs of the pages run and are refused nothing", () => {
  test.concurrent.each([...pages])("%s", async (page, programs) => {
    const recorder = await startRecorder(server.url);
    const failed: string[] = [];
    for (const { name, run } of runsOf(page, programs, recorder)) {
      const { code, output } = await run();
      if (code !== 0) failed.push(`${name} exits with ${code}:\n${output}`);
    }
    await recorder.close();
    failed.push(...wrongOutputs(page, programs));
    const refused = programs.some(showsErrors) ? [] : recorder.exchanges.filter(({ status }) => status >= 400).map(inWords);
    expect([...failed, ...refused]).toEqual([]);
  });
});

describe("HTML of the pages runs without an error", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  test.each(fencesIn(fences, "html").map((fence) => [place(fence), fence] as const))("%s", async (_, fence) => {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    const recorder = await startRecorder(server.url);
    await page.route("**/favicon.ico", (route) => route.fulfill({ status: 204 }));
    await page.goto(recorder.show(here(fence.code, recorder.url)), { waitUntil: "networkidle" });
    await page.close();
    await recorder.close();
    expect(errors).toEqual([]);
  });
});

describe("samples of the reference", () => {
  const exchanges: Partial<Record<Sample["language"], Exchange[]>> = {};
  // What one language has asked already is answered from memory for the next.
  const answers: Parameters<typeof startRecorder>[1] = new Map();

  async function runAll(language: keyof typeof EXTENSIONS, phase: Phase): Promise<Record<string, string>> {
    const recorder = await startRecorder(server.url, answers);
    const list = phase.operations().flatMap(({ operationId }) => {
      const sample = samplesById.get(operationId)?.find((one) => one.language === language);
      if (!sample) return [];
      const file = workshop.write(`${operationId}.${EXTENSIONS[language]}`, here(sample.code, recorder.url));
      return [{ id: operationId, file, token: tokens[TOKENS[operationId] ?? "admin"] }];
    });
    const { code, output } = await drive(language, list, recorder);
    await recorder.close();
    exchanges[language] = [...(exchanges[language] ?? []), ...recorder.exchanges];
    expect(code, output).toBe(0);
    return z.record(z.string(), z.string()).parse(JSON.parse(output));
  }

  describe.each(PHASES)("$name", (phase) => {
    test.each(["sh", "js", "python"] as const)("run to their end: %s", async (language) => {
      expect(await runAll(language, phase)).toEqual({});
    });
  });

  test("make one and the same request in each language", () => {
    const asked = (language: Sample["language"], id: string): string[] =>
      (exchanges[language] ?? []).filter(({ sample }) => sample === id).map(({ key }) => key);
    for (const { operationId } of operations) {
      const languages = (samplesById.get(operationId) ?? []).map(({ language }) => language).filter((language) => language in exchanges);
      const [first, ...others] = languages.map((language) => asked(language, operationId));
      if (first) expect.soft(first, operationId).toHaveLength(1);
      for (const other of others) expect.soft(other, operationId).toEqual(first);
    }
  });

  test("get the documented responses, and errors from the demo only where expected", () => {
    const byId = Map.groupBy(Object.values(exchanges).flat(), ({ sample }) => sample);
    const wrong = operations.flatMap(({ operationId, responses: declared, errors }) => {
      const statuses = (REFUSED[operationId] === undefined ? declared : errors).map(({ status }) => status);
      return (byId.get(operationId) ?? [])
        .filter(({ status }) => !statuses.includes(status))
        .map((exchange) => `${operationId} ${inWords(exchange)}`);
    });
    expect([...new Set(wrong)]).toEqual([]);
    expect(Object.keys(REFUSED).filter((id) => !byId.has(id))).toEqual([]);
  });
});

const EXTENSIONS = { sh: "sh", js: "mjs", python: "py" } as const;
const samplesById = new Map(operations.map((operation) => [operation.operationId, samplesOf(operation)]));

interface Listed {
  id: string;
  file: string;
  token: string;
}

function drive(language: keyof typeof EXTENSIONS, list: Listed[], recorder: Recorder): Promise<Run> {
  if (language === "sh") {
    const lines = list.map(({ id, file, token }) => `${id}\t${file}\t${token}\n`).join("");
    return workshop.run("bash", [workshop.write("drive.sh", SHELL_DRIVER), workshop.write("samples.tsv", lines), recorder.url]);
  }
  const samples = workshop.write(`samples-${language}.json`, JSON.stringify(list));
  if (language === "js") return workshop.run(process.execPath, [workshop.write("drive.mjs", NODE_DRIVER), samples, recorder.url]);
  return workshop.run("python3", [workshop.write("drive.py", PYTHON_DRIVER), samples, recorder.url]);
}

/** The programs of a page: its shell fences are one session, in which what one sets the next one has. */
function runsOf(page: string, programs: Fence[], recorder: Recorder): { name: string; run: () => Promise<Run> }[] {
  const name = page.replaceAll(/[^\w]+/g, "-");
  const shell = programs.filter(({ language }) => language === "sh");
  const session = shell
    .map((fence) => {
      const code = here(fence.code, recorder.url);
      return `echo "# ${place(fence)}" >&2\n${promisedOutput(fence) ? `{\n${code}\n} > ${outputFile(fence)}` : code}\n`;
    })
    .join("");
  const others = programs.filter(({ language }) => language !== "sh");
  return [
    ...(shell.length > 0 ? [{ name: page, run: () => workshop.run("bash", ["-e", workshop.write(`${name}.sh`, session)]) }] : []),
    ...others.map((fence, index) => ({
      name: place(fence),
      run: () => {
        const file = workshop.write(`${name}-${index}.${fence.language === "js" ? "mjs" : "py"}`, here(fence.code, recorder.url));
        return workshop.run(fence.language === "js" ? process.execPath : "python3", [file]);
      },
    })),
  ];
}

/** Where a session leaves what a fence printed. */
function outputFile({ page, line }: Fence): string {
  return join(workshop.folder, `${page.replaceAll(/[^\w]+/g, "-")}-${line}.out`);
}

function wrongOutputs(page: string, programs: Fence[]): string[] {
  return programs.flatMap((fence) => {
    const promised = promisedOutput(fence);
    if (!promised) return [];
    const printed = readFileSync(outputFile(fence), "utf8").trim().replaceAll(/\s+/g, " ");
    return promised.test(printed) ? [] : [`${page}:${fence.line} prints ${printed} instead of ${promised.source}`];
  });
}

/** A program that calls another origin than the one on the page, sockets too. */
function here(code: string, origin: string): string {
  return code.replaceAll(DEMO.origin, origin).replaceAll(DEMO.origin.replace("http", "ws"), origin.replace("http", "ws"));
}

function inWords({ method, path, status, text }: Exchange): string {
  return `${method} ${path} is answered ${status}: ${text}`;
}

async function signIn(person: Person): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${server.url}/auth/v2/login`, { method: "POST", headers, body: JSON.stringify(PEOPLE[person]) });
  return z.object({ jwt: z.string() }).parse(await response.json()).jwt;
}
