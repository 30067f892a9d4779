import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";
import { Sandbox } from "#worker/services/sandboxes/schemas.ts";
import { SetupLink } from "#worker/services/sites/setup-schemas.ts";
import { type CallOptions, siteIds, type TestSite } from "./harness.ts";
import { resetLimit } from "./limit-usage.ts";

/** All calls of the tests come from one address. */
async function resetLimits(): Promise<CallOptions> {
  for (const name of ["createSandbox", "claimSandbox"] as const) await resetLimit(GLOBAL_AUDIENCE, name, "local");
  for (const name of ["createSandboxes", "claimSandboxes"] as const) await resetLimit(GLOBAL_AUDIENCE, name, "");
  return {};
}

async function newClaimToken(site: TestSite): Promise<string> {
  await resetLimits();
  const { site: created, claimToken } = (await site.call("createSandbox", { as: "nobody" })).as(Sandbox);
  siteIds.push(created._id);
  return claimToken;
}

async function newSetupToken(site: TestSite): Promise<string> {
  return (await site.call("createSetupLink", { body: {} })).as(SetupLink).setupToken;
}

export const SANDBOX_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = { createSandbox: resetLimits };

/** Body fields whose values must exist. */
export const SANDBOX_FIELDS: Record<string, (site: TestSite) => Promise<unknown>> = {
  claimToken: newClaimToken,
  setupToken: newSetupToken,
};
