import { type Command, JSON_OPTION, SITE_OPTIONS } from "../lib/command.ts";
import { Credentials } from "../lib/credentials.ts";
import { jsonLine } from "../lib/io.ts";
import { notSignedIn, openSite } from "../lib/session.ts";

export const logout: Command = {
  name: "logout",
  summary: "Delete a login from this machine.",
  details: "The session of an account ends on the server too. A developer key stays valid: revoke it in Studio if it is no longer needed.",
  options: { ...SITE_OPTIONS, ...JSON_OPTION },
  examples: ["tifo logout", "tifo logout --site 5eed00000000000000000001"],
  async run(values, io) {
    // The environment's key isn't stored.
    const { origin, siteId, session, client } = openSite(values, { ...io, env: { ...io.env, TIFO_DEVELOPER_KEY: undefined } });
    if (session === undefined) throw notSignedIn(origin);
    if (session.tokens) await client.signOut();
    new Credentials(io.env).remove(session);
    io.out(values.flag("json") ? jsonLine({ origin, siteId }) : `Signed out of site ${siteId} at ${origin}.`);
  },
};
