import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { TifoProblem } from "../../sdk/client/index.ts";
import { type Command, JSON_OPTION, SITE_OPTIONS } from "../lib/command.ts";
import { Credentials } from "../lib/credentials.ts";
import { EXIT, Failure, wrongUsage } from "../lib/failure.ts";
import { unwritable } from "../lib/files.ts";
import { type Io, jsonLine } from "../lib/io.ts";
import { isRecord } from "../lib/json.ts";
import { parseId, parseOrigin } from "../lib/origin.ts";
import { wantedSite } from "../lib/session.ts";
import type { Values } from "../lib/values.ts";
import { next } from "../starters/next.ts";
import { plain } from "../starters/plain.ts";
import type { Starter, StarterSite } from "../starters/starter.ts";
import { vite } from "../starters/vite.ts";

const STARTERS: Readonly<Record<string, Starter>> = { plain, vite, next };
const NAMES = Object.keys(STARTERS).join(", ");

export const init: Command = {
  name: "init",
  summary: "Write a small project that shows a channel's overlays and panels.",
  args: ["[folder]"],
  details: "The folder must be new or empty. The site, and the channel of a sandbox, are those of the last login unless you pass others.",
  options: {
    ...SITE_OPTIONS,
    channel: { type: "string", value: "<id>", description: "The channel that the page shows" },
    template: { type: "string", value: "<name>", description: `One of ${NAMES}` },
    ...JSON_OPTION,
  },
  examples: ["tifo init match --template vite", "tifo init match --template plain --channel 5eed0000000000000000c001"],
  async run(values, io) {
    const folder = resolve(values.args[0] ?? ".");
    if (existsSync(folder) && readdirSync(folder).length > 0) {
      throw wrongUsage(`${folder} isn't empty.`, {
        reason: "init never changes a project.",
        fix: "Name a new folder: tifo init <folder>.",
      });
    }
    const starter = await starterOf(values, io);
    const site = await siteOf(values, io);
    const sdk = starter.packages ? await packageUrl(site.origin, io) : "";
    const files = starter.files({ ...site, sdk, name: packageName(folder) });
    try {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text, { flag: "wx" });
      }
    } catch (error) {
      throw unwritable(folder, error, "Name another folder: tifo init <folder>.");
    }
    if (values.flag("json")) return io.out(jsonLine({ folder, files: Object.keys(files) }));
    io.out(`${starter.title} project in ${folder}. Next:`);
    for (const step of [...(values.args[0] === undefined ? [] : [`cd ${values.args[0]}`]), ...starter.next]) io.out(`  ${step}`);
  },
};

async function starterOf(values: Values, io: Io): Promise<Starter> {
  const name = values.text("template") ?? (io.interactive ? await io.ask(`Template (${NAMES}): `) : undefined);
  if (name === undefined) throw wrongUsage(`--template is required: one of ${NAMES}.`);
  const starter = Object.hasOwn(STARTERS, name) ? STARTERS[name] : undefined;
  if (!starter) throw wrongUsage(`There is no template "${name}". Choose one of ${NAMES}.`);
  return starter;
}

/** The options; for the rest the last login that matches them; for what is still missing, the person. */
async function siteOf(values: Values, io: Io): Promise<Omit<StarterSite, "sdk" | "name">> {
  const wanted = wantedSite(values, io);
  const session = new Credentials(io.env)
    .list()
    .findLast((one) => (wanted.origin ?? one.origin) === one.origin && (wanted.siteId ?? one.siteId) === one.siteId);
  const origin = wanted.origin ?? session?.origin ?? parseOrigin(await ask("Origin of the deployment", "origin"));
  const siteId = wanted.siteId ?? session?.siteId ?? parseId(await ask("Site id", "site"), "site");
  const channelId = parseId(values.text("channel") ?? session?.channelId ?? (await ask("Channel id", "channel")), "channel");
  return { origin, siteId, channelId };

  async function ask(question: string, option: string): Promise<string> {
    if (!io.interactive) throw wrongUsage(`--${option} is required.`);
    return io.ask(`${question}: `);
  }
}

/** The package of the SDK that the deployment serves, which matches its API. */
async function packageUrl(origin: string, io: Io): Promise<string> {
  const response = await io.fetch(new Request(`${origin}/sdk/integrity.json`)).catch((cause: unknown) => {
    throw new TifoProblem({ status: 0, code: "network", message: "The server can't be reached" }, { cause });
  });
  const value: unknown = await response.json().catch(() => undefined);
  const version = isRecord(value) ? value.version : undefined;
  if (!response.ok || typeof version !== "string" || !/^[\w.-]+$/.test(version)) {
    throw new Failure(`${origin} doesn't serve the Web SDK.`, EXIT.failed, {
      reason: "It isn't a Tifo deployment, or is older than this command.",
      fix: "Check --origin.",
    });
  }
  return `${origin}/sdk/tifo-web-${version}.tgz`;
}

/** A name that npm accepts. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return name === "" ? "match" : name;
}
