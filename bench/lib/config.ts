import { join } from "node:path";
import { z } from "@hono/zod-openapi";
import { unstable_readConfig } from "wrangler";
import { ROOT } from "#scripts/lib/root.mjs";

const Config = z.object({
  alias: z.record(z.string(), z.string()),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()),
  durable_objects: z.object({ bindings: z.array(z.object({ name: z.string(), class_name: z.string() })) }),
  minify: z.boolean(),
  vars: z.record(z.string(), z.string()),
});

/** The deployment's configuration from `wrangler.toml`. */
export const config = Config.parse(unstable_readConfig({ config: join(ROOT, "wrangler.toml") }, { hideWarnings: true }));
