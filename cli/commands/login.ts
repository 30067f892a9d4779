import { ok, TifoProblem, type Tokens } from "../../sdk/client/index.ts";
import { type Command, JSON_OPTION, SITE_OPTIONS } from "../lib/command.ts";
import { Credentials, type Session } from "../lib/credentials.ts";
import { wrongUsage } from "../lib/failure.ts";
import { type Io, jsonLine, plain } from "../lib/io.ts";
import { parseId, parseOrigin } from "../lib/origin.ts";
import { solve } from "../lib/proof-of-work.ts";
import { clientOf, wantedSite } from "../lib/session.ts";
import type { Values } from "../lib/values.ts";

export const login: Command = {
  name: "login",
  summary: "Sign in to a site with a developer key or an account.",
  details: [
    "Keys and passwords are read from the terminal without showing them, or from standard input, never from an option:",
    "command lines are visible to other users and stay in the shell's history. They are stored in your configuration",
    "folder, readable only by you. Scripts can set TIFO_ORIGIN, TIFO_SITE_ID and TIFO_DEVELOPER_KEY instead.",
  ].join("\n"),
  options: {
    ...SITE_OPTIONS,
    "key-stdin": { type: "boolean", description: "Read a developer key from standard input" },
    email: { type: "string", value: "<address>", description: "Sign in as this account instead" },
    "password-stdin": { type: "boolean", description: "Read the account's password from standard input" },
    totp: { type: "string", value: "<code>", description: "A code of the account's authenticator app" },
    sandbox: { type: "boolean", description: "Create a sandbox, a site for 72 hours, and sign in to it" },
    ...JSON_OPTION,
  },
  examples: [
    "tifo login --origin https://tifo.example.com --site 5eed00000000000000000001",
    "tifo login --origin http://localhost:8787 --sandbox",
    'echo "$KEY" | tifo login --origin https://tifo.example.com --site 5eed00000000000000000001 --key-stdin',
  ],
  async run(values, io) {
    const credentials = new Credentials(io.env);
    const session = values.flag("sandbox") ? await createSandbox(values, io) : await signIn(values, io);
    credentials.save(session);
    const { origin, siteId, channelId } = session;
    if (values.flag("json")) return io.out(jsonLine({ origin, siteId, ...(channelId !== undefined && { channelId }) }));
    io.out(`Signed in to site ${siteId} at ${origin}.`);
    if (channelId !== undefined) io.out(`Its channel is ${channelId}. Commands use it unless you pass --channel.`);
    io.note(`The credentials are in ${credentials.path}.`);
  },
};

async function originOf(values: Values, io: Io): Promise<string> {
  const { origin } = wantedSite(values, io);
  if (origin !== undefined) return origin;
  if (!io.interactive) throw wrongUsage("--origin is required.");
  return parseOrigin(await io.ask("Origin of the deployment: "));
}

async function signIn(values: Values, io: Io): Promise<Session> {
  const origin = await originOf(values, io);
  const siteId = wantedSite(values, io).siteId ?? (await askSite(io));
  const email = values.text("email");
  return email === undefined ? withKey({ origin, siteId }, values, io) : withAccount({ origin, siteId, email }, values, io);
}

async function askSite(io: Io): Promise<string> {
  if (!io.interactive) throw wrongUsage("--site is required.");
  return parseId(await io.ask("Site id: "), "site");
}

async function withKey(site: { origin: string; siteId: string }, values: Values, io: Io): Promise<Session> {
  const developerKey = await secretOf("Developer key: ", "key-stdin", values, io);
  const session = { ...site, developerKey };
  // Reading the site requires no role; a wrong key is rejected like everywhere.
  await ok(clientOf(session, io).api.GET("/site/v1", {}));
  return session;
}

async function withAccount(account: { origin: string; siteId: string; email: string }, values: Values, io: Io): Promise<Session> {
  const { origin, siteId, email } = account;
  const password = await secretOf("Password: ", "password-stdin", values, io);
  const client = clientOf(account, io);
  const totp = values.text("totp");
  const attempt = (code?: string) => client.signIn(email, password, code === undefined ? {} : { totp: code });
  const { jwt, refreshToken }: Tokens = await attempt(totp).catch(async (error: unknown) => {
    if (!(error instanceof TifoProblem) || error.code !== "totp_required") throw error;
    if (!io.interactive) throw error;
    return attempt(await io.ask("Code of your authenticator app: "));
  });
  return { origin, siteId, email, tokens: { jwt, refreshToken } };
}

async function secretOf(question: string, option: string, values: Values, io: Io): Promise<string> {
  if (!values.flag(option) && !io.interactive) throw wrongUsage(`Without a terminal, pass --${option}.`);
  const secret = (values.flag(option) ? await io.readStdin() : await io.askSecret(question)).trim();
  // Headers can't contain anything else, and fetch would quote the key in its error.
  if (!/^[\x20-\x7e]+$/.test(secret) && option === "key-stdin") throw wrongUsage("That isn't a developer key.");
  if (secret === "") throw wrongUsage("Nothing was entered.");
  return secret;
}

async function createSandbox(values: Values, io: Io): Promise<Session> {
  if (values.text("email") !== undefined || values.text("site") !== undefined) {
    throw wrongUsage("--sandbox creates a new site: leave out --site and --email.");
  }
  const origin = await originOf(values, io);
  const { api } = clientOf({ origin, siteId: "" }, io);
  const { challenge, bits } = await ok(api.GET("/site/v1/sandbox/challenge", {}));
  const proof = bits === 0 ? {} : { body: { challenge, solution: solve({ challenge, bits }) } };
  const { site, developerKey, channel, expires } = await ok(api.POST("/site/v1/sandbox", proof));
  io.note(`The sandbox "${plain(site.name)}" is deleted at ${new Date(expires).toISOString()}.`);
  return { origin, siteId: site._id, channelId: channel._id, developerKey };
}
