import createFetchClient from "openapi-fetch";
import { ok } from "#sdk/client/index.ts";
import { readAll } from "#sdk/client/lists.ts";
import type { paths } from "#sdk/generated/rest.d.ts";
import type { KnownSite } from "./sites.ts";

export interface SignInInput {
  email: string;
  password: string;
  totp?: string;
}

/** The sites of a global account. Its tokens are good for nothing else in Studio, so they aren't kept. */
export async function sitesOfGlobalAccount({ email, password, totp }: SignInInput): Promise<KnownSite[]> {
  const api = createFetchClient<paths>({ baseUrl: location.origin });
  const body = { email, password, ...(totp !== undefined && { totp }) };
  const { jwt } = await ok(api.POST("/auth/v2/login", { body }));
  const headers = { Authorization: `Bearer ${jwt}` };
  const accounts = await readAll((query) => ok(api.GET("/account/v3/global/accounts", { params: { query }, headers })));
  await api.POST("/auth/v2/logout", { headers });
  return accounts.map(({ siteId, slug }) => ({ siteId, name: slug }));
}
