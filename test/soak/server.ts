import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { runOrFail } from "#scripts/lib/command.ts";
import { readConfig } from "#scripts/lib/databases.ts";
import { ROOT } from "#scripts/lib/root.mjs";
import { type Server, startServer } from "#scripts/lib/server.ts";
import { prepareState, type Secrets } from "#scripts/lib/state.ts";

/** What a server has to live with. */
export interface Adversity {
  /** How often a call of D1 or R2 fails, from 0 to 1. */
  faults: number;
  /** How wrong its clock is. */
  clockMs: number;
  /** The mean life of an object; 0: until the runtime evicts it. */
  evictionSeconds: number;
}

export const NO_ADVERSITY: Adversity = { faults: 0, clockMs: 0, evictionSeconds: 0 };

const SECOND_DATABASE = `
[[d1_databases]]
binding = "DB_2"
database_name = "tifo-2"
database_id = "00000000-0000-0000-0000-000000000002"
migrations_dir = "db/migrations"
`;

/** Starts and kills one deployment, whose data outlives each server. */
export class SoakServer {
  readonly #state: string;
  /** In the project, where its packages are found. */
  readonly #config: string;
  readonly #stripeUrl: string;
  #secrets: Secrets | undefined;
  #port = 0;
  #server: Server | undefined;

  constructor(state: string, stripeUrl: string) {
    this.#state = state;
    this.#config = join(ROOT, ".wrangler", `${basename(state)}.toml`);
    this.#stripeUrl = stripeUrl;
  }

  /** The same at each start. */
  get url(): string {
    return this.current.url;
  }

  get current(): Server {
    if (!this.#server) throw new Error("The server hasn't been started");
    return this.#server;
  }

  /** The folder of the files of both databases. */
  get databases(): string {
    return join(this.#state, "v3/d1/miniflare-D1DatabaseObject");
  }

  async start(adversity: Adversity): Promise<void> {
    writeFileSync(this.#config, this.#configText(adversity));
    this.#secrets ??= await this.#prepare();
    this.#server = await startServer({
      ...{ port: this.#port, state: this.#state, secrets: this.#secrets, config: this.#config },
      isHealthy: adversity.faults === 0,
    });
    this.#port = Number(new URL(this.url).port);
  }

  async #prepare(): Promise<Secrets> {
    const secrets = await prepareState(this.#state);
    const migrate = ["d1", "migrations", "apply", "DB_2", "--local", "--persist-to", this.#state, "--config", this.#config];
    await runOrFail("wrangler", migrate, { env: { ...secrets } });
    return secrets;
  }

  async kill(): Promise<void> {
    await this.#server?.kill();
    rmSync(this.#config, { force: true });
  }

  /** Runs what the cron runs every minute. It fails when a binding does, and runs again. */
  async runScheduled(): Promise<void> {
    await fetch(`${this.url}/cdn-cgi/local/scheduled`).catch(() => undefined);
  }

  /** The project's configuration with the soak's Worker, a second database, the stand-in for Stripe, and what the Worker has to live with. */
  #configText({ faults, clockMs, evictionSeconds }: Adversity): string {
    const variables = {
      SOAK_FAULTS: faults,
      SOAK_CLOCK_MS: clockMs,
      SOAK_EVICTION_SECONDS: evictionSeconds,
      TIFO_STRIPE_KEY: "sk_test_tifo",
      TIFO_STRIPE_WEBHOOK_SECRET: "whsec_tifo",
      TIFO_LOG_LINES: 0,
    };
    const lines = Object.entries(variables).map(([name, value]) => `${name} = "${value}"`);
    return (readConfig() + SECOND_DATABASE)
      .replace('main = "worker/index.ts"', `main = "${join(ROOT, "test/soak/worker.ts")}"`)
      .replace('directory = "docs/dist"', `directory = "${join(ROOT, "docs/dist")}"`)
      .replaceAll('migrations_dir = "db/migrations"', `migrations_dir = "${join(ROOT, "db/migrations")}"`)
      .replace(/^TIFO_STRIPE_URL = .*$/m, `TIFO_STRIPE_URL = "${this.#stripeUrl}"`)
      .replace(/^TIFO_LOG_LINES = .*$/m, "")
      .replace(/^\[vars\]$/m, ["[vars]", ...lines].join("\n"));
  }
}
