import createFetchClient from "openapi-fetch";
import { ok } from "#sdk/client/index.ts";
import type { paths } from "#sdk/generated/rest.d.ts";
import type { SiteConnection } from "./session.ts";

/** Signs in with an intent. The session that it replaces ends, but only once there is another one. */
export async function redeemIntent({ siteId, client, tokens }: SiteConnection, intent: string): Promise<void> {
  // Without the session, so that nothing depends on who has been signed in.
  const api = createFetchClient<paths>({ baseUrl: location.origin, headers: { "Tifo-Client-Id": siteId } });
  const { jwt, refreshToken } = await ok(api.GET("/auth/v2/intent/consume/{token}", { params: { path: { token: intent } } }));
  await client.signOut();
  tokens.set({ jwt, refreshToken });
}
