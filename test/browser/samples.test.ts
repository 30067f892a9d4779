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
import { allFences, type Fence, fencesIn, place, expectedOutput, showsErrors } from "./samples/fences.ts";
import { createSampleFolder, type Run, type SampleFolder } from "./samples/programs.ts";
import { type Exchange, type Recorder, startRecorder } from "./samples/recorder.ts";
import { startServer } from "./server.ts";

// Runs every program on the site against a server of its own, because some of them delete data.

/** Operations that the demo has to reject, and why. Their samples still send the right request. */
const REJECTED: Record<string, string> = {
  pollTvCode: "a TV code is valid only for minutes",
  resetPassword: "the token is sent by email",
  resetGlobalPassword: "the token is sent by email",
  verifyEmail: "the token is sent by email",
  deleteGlobalAccount: "other samples need the demo's global account",
  confirmGlobalAccount: "the token is sent by email",
  refreshTokens: "a refresh token comes from a sign-in and works once",
  createIntent: "a partner's server signs the token",
  consumeIntent: "an intent's token comes with a magic link's redirect",
  acceptRegisterInvite: "the token is sent by email",
  getExport: "an export is created on request",
  downloadExport: "the link comes from an export",
  getSiteExport: "an export is created on request",
  downloadSiteExport: "the link comes from an export",
  setUpSite: "a setup token comes with a setup link",
  claimSandbox: "a claim token comes with a sandbox",
  discardSandbox: "a claim token comes with a sandbox",
  getSiteImport: "an import is created on request",
  getBackup: "a backup is created on request",
  downloadBackup: "a backup is created on request",
  restoreBackup: "a backup is created on request",
  deleteBackup: "a backup is created on request",
  moveSite: "the demo has one database",
  getSiteMove: "as for moveSite",
  cancelSiteMove: "as for moveSite",
  getReceipt: "a broadcast has an id only once it is sent",
  retractBroadcast: "a broadcast has an id only once it is sent",
  deletePage: "the demo's channel is live",
  getDeliveryPayload: "a delivery has an id only once it exists",
  redeliver: "a delivery has an id only once it exists",
  verifyApplePay: "the demo has no Stripe key",
  checkoutBundle: "the demo has no Stripe key",
  checkoutDonation: "the demo has no Stripe key",
  connectShop: "tests call no external service",
  disconnectShop: "the demo has no shop",
  listShopProducts: "the demo has no shop",
  listPanelProducts: "the demo has no shop",
  receiveShopifyWebhook: "Shopify signs its webhooks",
  checkoutSubscription: "the demo has no Stripe key",
  refundCharge: "the demo has no Stripe key",
  cancelRecurringSubscription: "the demo has no Stripe key",
  putSenderEmail: "the domain's records are looked up externally",
  importYoutubePlaylist: "the demo has no YouTube key",
  getVideoMetadata: "tests call no external service",
  uploadGraphic: "the sample's file isn't an archive",
  deleteGraphic: "an overlay of the demo shows its graphic",
  getPanelOembed: "the recorder's origin isn't the deployment's",
  openManifest: "the example's stream doesn't exist",
  searchGames: "the demo has no IGDB key",
  resetTotp: "the demo's accounts have no authenticator app",
  beginTotp: "it requires the account's own password",
  confirmTotp: "the code comes from an authenticator app",
  disableTotp: "the demo's accounts have no authenticator app",
  getStripeConnection: "the demo has no Stripe key",
  connectStripe: "the demo has no Stripe key",
  updateNavigation: "the sample's tree omits private entries of the demo",
  createStream: "the demo's stream providers don't exist",
  startStream: "the demo's stream providers don't exist",
  stopStream: "the demo's stream providers don't exist",
  deleteStream: "the demo's stream providers don't exist",
  removeStreamProvider: "the demo's streams use its providers",
  banFromChat: "a ban would keep an account of the demo from chatting",
  liftChatBan: "nobody is banned from the demo's chat",
  decideChatMessage: "a message has an id only once it is sent",
  deleteChatMessage: "a message has an id only once it is sent",
  reportChatMessage: "a message has an id only once it is sent",
  reactToChatMessage: "a message has an id only once it is sent",
  deletePoll: "a panel of the demo shows its polls",
  deleteQuest: "a panel of the demo shows its quests",
  claimQuest: "no account has completed a quest of the demo",
  getStatEntity: "an entity's id depends on the provider's",
  listStatHistory: "an entity's id depends on the provider's",
  getScheduledAction: "an action has an id only once it is scheduled",
  cancelScheduledAction: "an action has an id only once it is scheduled",
  deleteSubscription: "accounts hold the demo's subscriptions",
};

/** Samples that don't run with the admin's token. */
const TOKENS: Record<string, Person> = { listGlobalSites: "global", freeDevice: "viewer", logout: "viewer", listDevices: "viewer" };

const PEOPLE = {
  admin: { email: "admin@demo.example", password: "demo-admin-pass", siteId: DEMO.clientId },
  viewer: { email: "viewer@demo.example", password: "demo-viewer-pass", siteId: DEMO.clientId },
  global: { email: "global@demo.example", password: "demo-global-pass" },
};
type Person = keyof typeof PEOPLE;

/** A page whose programs have their own test: they start a server, and run until they are stopped. */
const SEPARATE_PAGE = "docs/src/content/docs/start.mdx";

/** Operations that revoke the credentials of others, in an order in which none is missed. */
const LAST = ["replaceSiteFeatures", "logout", "deleteAccount", "rotateApiKey", "revokeApiKey", "changePassword"];
/** Operations that need what others create. */
const AFTER_CHANGES = ["testWebhooks", "listDeliveries", "rotateDataProviderSecret"];
/** Operations that would fail after others. */
const FIRST_CHANGES = ["respondToPoll"];

interface Phase {
  name: string;
  operations: () => Operation[];
}

/** All languages complete a phase before the next one, so that nothing is deleted too early. */
const PHASES: Phase[] = [
  { name: "reads", operations: () => others().filter(({ method }) => method === "get") },
  { name: "first changes", operations: () => named(FIRST_CHANGES) },
  { name: "changes", operations: () => others().filter(({ method }) => method !== "get" && method !== "delete") },
  { name: "after changes", operations: () => named(AFTER_CHANGES) },
  { name: "deletions", operations: () => others().filter(({ method }) => method === "delete") },
  { name: "last", operations: () => named(LAST) },
];

function named(ids: string[]): Operation[] {
  return ids.flatMap((id) => operations.filter(({ operationId }) => operationId === id));
}

function others(): Operation[] {
  const listed = [...LAST, ...AFTER_CHANGES, ...FIRST_CHANGES];
  return operations.filter(({ operationId }) => !listed.includes(operationId));
}

const fences = allFences();
const pages = Map.groupBy(
  fencesIn(fences, "sh", "js", "python").filter(({ page }) => page !== SEPARATE_PAGE),
  ({ page }) => page,
);

let server: Server;
let sampleFolder: SampleFolder;
let tokens: Record<Person, string>;

beforeAll(async () => {
  sampleFolder = createSampleFolder();
  server = await startServer();
  tokens = { admin: await signIn("admin"), viewer: await signIn("viewer"), global: await signIn("global") };
});

afterAll(async () => {
  await server.stop();
  sampleFolder.clear();
});

describe("the programs of each page run, and no request is rejected", () => {
  test.concurrent.each([...pages])("%s", async (page, programs) => {
    const recorder = await startRecorder(server.url);
    const failed: string[] = [];
    for (const { name, run } of runsOf(page, programs, recorder)) {
      const { code, output } = await run();
      if (code !== 0) failed.push(`${name} exited with ${code}:\n${output}`);
    }
    await recorder.close();
    failed.push(...wrongOutputs(page, programs));
    const rejected = programs.some(showsErrors) ? [] : recorder.exchanges.filter(({ status }) => status >= 400).map(describeExchange);
    expect([...failed, ...rejected]).toEqual([]);
  });
});

describe("HTML samples run without errors", () => {
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
    await page.goto(recorder.show(withOrigin(fence.code, recorder.url)), { waitUntil: "networkidle" });
    await page.close();
    await recorder.close();
    expect(errors).toEqual([]);
  });
});

describe("samples of the reference", () => {
  const exchanges: Partial<Record<Sample["language"], Exchange[]>> = {};
  // Requests that one language has already sent are answered from the cache for the next.
  const cache: Parameters<typeof startRecorder>[1] = new Map();

  async function runAll(language: keyof typeof EXTENSIONS, phase: Phase): Promise<Record<string, string>> {
    const recorder = await startRecorder(server.url, cache);
    const list = phase.operations().flatMap(({ operationId }) => {
      const sample = samplesById.get(operationId)?.find((one) => one.language === language);
      if (!sample) return [];
      const file = sampleFolder.write(`${operationId}.${EXTENSIONS[language]}`, withOrigin(sample.code, recorder.url));
      return [{ id: operationId, file, token: tokens[TOKENS[operationId] ?? "admin"] }];
    });
    const { code, output } = await drive(language, list, recorder);
    await recorder.close();
    exchanges[language] = [...(exchanges[language] ?? []), ...recorder.exchanges];
    expect(code, output).toBe(0);
    return z.record(z.string(), z.string()).parse(JSON.parse(output));
  }

  describe.each(PHASES)("$name", (phase) => {
    test.each(["sh", "js", "python"] as const)("run without errors in %s", async (language) => {
      expect(await runAll(language, phase)).toEqual({});
    });
  });

  test("send the same request in every language", () => {
    const requestsOf = (language: Sample["language"], id: string): string[] =>
      (exchanges[language] ?? []).filter(({ sample }) => sample === id).map(({ key }) => key);
    for (const { operationId } of operations) {
      const languages = (samplesById.get(operationId) ?? []).map(({ language }) => language).filter((language) => language in exchanges);
      const [first, ...others] = languages.map((language) => requestsOf(language, operationId));
      if (first) expect.soft(first, operationId).toHaveLength(1);
      for (const other of others) expect.soft(other, operationId).toEqual(first);
    }
  });

  test("get the documented responses, and errors from the demo only where expected", () => {
    const byId = Map.groupBy(Object.values(exchanges).flat(), ({ sample }) => sample);
    const wrong = operations.flatMap(({ operationId, responses: declared, errors }) => {
      const statuses = (REJECTED[operationId] === undefined ? declared : errors).map(({ status }) => status);
      return (byId.get(operationId) ?? [])
        .filter(({ status }) => !statuses.includes(status))
        .map((exchange) => `${operationId} ${describeExchange(exchange)}`);
    });
    expect([...new Set(wrong)]).toEqual([]);
    expect(Object.keys(REJECTED).filter((id) => !byId.has(id))).toEqual([]);
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
    return sampleFolder.run("bash", [sampleFolder.write("drive.sh", SHELL_DRIVER), sampleFolder.write("samples.tsv", lines), recorder.url]);
  }
  const samples = sampleFolder.write(`samples-${language}.json`, JSON.stringify(list));
  if (language === "js") return sampleFolder.run(process.execPath, [sampleFolder.write("drive.mjs", NODE_DRIVER), samples, recorder.url]);
  return sampleFolder.run("python3", [sampleFolder.write("drive.py", PYTHON_DRIVER), samples, recorder.url]);
}

/** The programs of a page. Its shell fences run in one session, which shares variables. */
function runsOf(page: string, programs: Fence[], recorder: Recorder): { name: string; run: () => Promise<Run> }[] {
  const name = page.replaceAll(/[^\w]+/g, "-");
  const shell = programs.filter(({ language }) => language === "sh");
  const session = shell
    .map((fence) => {
      const code = withOrigin(fence.code, recorder.url);
      return `echo "# ${place(fence)}" >&2\n${expectedOutput(fence) ? `{\n${code}\n} > ${outputFile(fence)}` : code}\n`;
    })
    .join("");
  const others = programs.filter(({ language }) => language !== "sh");
  return [
    ...(shell.length > 0 ? [{ name: page, run: () => sampleFolder.run("bash", ["-e", sampleFolder.write(`${name}.sh`, session)]) }] : []),
    ...others.map((fence, index) => ({
      name: place(fence),
      run: () => {
        const file = sampleFolder.write(`${name}-${index}.${fence.language === "js" ? "mjs" : "py"}`, withOrigin(fence.code, recorder.url));
        return sampleFolder.run(fence.language === "js" ? process.execPath : "python3", [file]);
      },
    })),
  ];
}

/** The file with a fence's output. */
function outputFile({ page, line }: Fence): string {
  return join(sampleFolder.folder, `${page.replaceAll(/[^\w]+/g, "-")}-${line}.out`);
}

function wrongOutputs(page: string, programs: Fence[]): string[] {
  return programs.flatMap((fence) => {
    const expected = expectedOutput(fence);
    if (!expected) return [];
    const printed = readFileSync(outputFile(fence), "utf8").trim().replaceAll(/\s+/g, " ");
    return expected.test(printed) ? [] : [`${page}:${fence.line} prints ${printed} instead of ${expected.source}`];
  });
}

/** Replaces the page's origin in a program, for sockets too. */
function withOrigin(code: string, origin: string): string {
  return code.replaceAll(DEMO.origin, origin).replaceAll(DEMO.origin.replace("http", "ws"), origin.replace("http", "ws"));
}

function describeExchange({ method, path, status, text }: Exchange): string {
  return `${method} ${path} returned ${status}: ${text}`;
}

async function signIn(person: Person): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${server.url}/auth/v2/login`, { method: "POST", headers, body: JSON.stringify(PEOPLE[person]) });
  return z.object({ jwt: z.string() }).parse(await response.json()).jwt;
}
