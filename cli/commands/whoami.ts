import { ok } from "../../sdk/client/index.ts";
import { type Command, JSON_OPTION, SITE_OPTIONS } from "../lib/command.ts";
import { jsonLine, plain } from "../lib/io.ts";
import { openSite } from "../lib/session.ts";

export const whoami: Command = {
  name: "whoami",
  summary: "Show the site that commands use, and check that its credentials are valid.",
  options: { ...SITE_OPTIONS, ...JSON_OPTION },
  examples: ["tifo whoami", "tifo whoami --json"],
  async run(values, io) {
    const { origin, siteId, session, client } = openSite(values, io);
    const { name } = await ok(client.api.GET("/site/v1", {}));
    const credential = session?.developerKey === undefined ? "account" : "developer key";
    const shown = { origin, siteId, name, credential, ...(session?.email !== undefined && { email: session.email }) };
    if (values.flag("json")) return io.out(jsonLine(shown));
    io.out(`${plain(name)} (${siteId}) at ${origin}, with ${session?.email === undefined ? "a developer key" : plain(session.email)}`);
  },
};
