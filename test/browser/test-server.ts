import { afterAll } from "vitest";
import { startServer } from "./server.ts";

const server = await startServer();
afterAll(() => server.stop());

/** URL of this test file's own server, with the demo sites. Files run side by side, and none sees what another one changes. */
export const { url } = server;
