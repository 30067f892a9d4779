// `npm run test:shards`: the tests of the API and those with a Worker of their own, with every new site on a second database.
import { argv, env } from "node:process";

env["TIFO_TEST_SHARD"] = "2";
argv.push("--project", "api", "--project", "isolated");
await import("./test.ts");
