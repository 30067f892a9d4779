// `npm run test:shards`: the tests of the API and those with a Worker of their own, with every new site on a second database.
process.env["TIFO_TEST_SHARD"] = "2";
process.argv.push("--project", "api", "--project", "isolated");
await import("./test.ts");
