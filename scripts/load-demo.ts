// Loads the demo sites into the local database and bucket of a state folder: node scripts/load-demo.ts <folder>
import { join } from "node:path";
import { getPlatformProxy } from "wrangler";
import { loadDemo } from "#db/demo.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new TypeError("usage: node scripts/load-demo.ts <folder>");

const { env, dispose } = await getPlatformProxy<Env>({ persist: { path: join(folder, "v3") }, remoteBindings: false });
try {
  await loadDemo(env.DB, env.MEDIA, env);
} finally {
  await dispose();
}
