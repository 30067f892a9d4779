import { type TestProject } from "vitest/node";
import { startServer } from "./server.ts";

/** Starts one server for all browser tests; a test that needs to stop or kill one starts its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  project.provide("url", server.url);
  return () => server.stop();
}
