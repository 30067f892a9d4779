import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Tokens } from "../../sdk/client/index.ts";
import { EXIT, Failure } from "./failure.ts";
import { isRecord } from "./json.ts";

/** A login: a developer key or an account of one site. */
export interface Session {
  origin: string;
  siteId: string;
  /** The channel of a sandbox, which commands use by default. */
  channelId?: string;
  developerKey?: string;
  email?: string;
  tokens?: Tokens;
}

interface Stored {
  version: 1;
  /** The one that commands use by default is the last. */
  sessions: Session[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's folder for settings of programs, as each platform has it. */
export function configFolder(env: Environment): string {
  if (env.TIFO_CONFIG_DIR) return env.TIFO_CONFIG_DIR;
  if (process.platform === "win32" && env.APPDATA) return join(env.APPDATA, "tifo");
  return join(env.XDG_CONFIG_HOME || join(homedir(), ".config"), "tifo");
}

/** The logins of this user, in a file that only the user can read. */
export class Credentials {
  readonly path: string;
  readonly #folder: string;

  constructor(env: Environment) {
    this.#folder = configFolder(env);
    this.path = join(this.#folder, "credentials.json");
  }

  list(): Session[] {
    const text = this.#read();
    if (text === undefined) return [];
    try {
      const value: unknown = JSON.parse(text);
      if (isRecord(value) && value.version === 1 && Array.isArray(value.sessions)) return value.sessions.filter(isSession);
    } catch {
      // Reported below, without the parser's message, which quotes the text.
    }
    throw new Failure(`${this.path} isn't a file of credentials.`, EXIT.failed, {
      reason: "It was changed by hand or by another program.",
      fix: "Delete it, and sign in again with tifo login.",
    });
  }

  /** Stores a login, or replaces that of the same site. It becomes the default. */
  save(session: Session): void {
    this.#write([...this.#others(session), session]);
  }

  /** Replaces what is stored of a login, unless it was removed in the meantime. */
  update(session: Session): void {
    const sessions = this.list();
    if (sessions.some((one) => isSame(one, session))) this.#write(sessions.map((one) => (isSame(one, session) ? session : one)));
  }

  remove(session: Session): void {
    this.#write(this.#others(session));
  }

  /** What is stored of a login now: another process may have renewed its tokens. */
  find(session: Session): Session | undefined {
    return this.list().find((one) => isSame(one, session));
  }

  #others(session: Session): Session[] {
    return this.list().filter((one) => !isSame(one, session));
  }

  #read(): string | undefined {
    try {
      const { mode } = statSync(this.path);
      if (process.platform !== "win32" && (mode & 0o077) !== 0) chmodSync(this.path, 0o600);
      return readFileSync(this.path, "utf8");
    } catch (error) {
      if (isRecord(error) && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Written beside the file and renamed, so that no reader sees half of it, and none but the user any of it. */
  #write(sessions: Session[]): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const stored: Stored = { version: 1, sessions };
    const temporary = `${this.path}.${process.pid}`;
    rmSync(temporary, { force: true });
    writeFileSync(temporary, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(temporary, this.path);
  }
}

function isSame(one: Session, other: Session): boolean {
  return one.origin === other.origin && one.siteId === other.siteId;
}

function isSession(value: unknown): value is Session {
  if (!isRecord(value) || typeof value.origin !== "string" || typeof value.siteId !== "string") return false;
  const { developerKey, tokens } = value;
  return (
    typeof developerKey === "string" || (isRecord(tokens) && typeof tokens.jwt === "string" && typeof tokens.refreshToken === "string")
  );
}
