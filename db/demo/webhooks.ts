import { seal } from "#worker/lib/crypto/crypto.ts";
import { SECRET_PURPOSE } from "#worker/services/webhooks/dispatch.ts";
import type { webhookEndpoints } from "#db/schema/webhooks.ts";
import { SITE_A, SITE_B, stamps } from "./match-day.ts";

/** Disabled, because the hosts are fictional. The demo site has no endpoint of its own, so that the first POST returns its secret. */
export async function demoWebhooks(secrets: { TIFO_SECRET: string }): Promise<(typeof webhookEndpoints.$inferInsert)[]> {
  const secretSealed = await seal(secrets, SECRET_PURPOSE, "whsec_dGhlIGRlbW8ncyBvd24gc2VjcmV0LCAzMiBieXRlcyE=");
  const endpoint = { ...stamps, enabled: false, secretSealed };
  return [
    {
      ...endpoint,
      id: "5eed00000000000000007002",
      siteId: SITE_A,
      kind: "programmatic",
      url: "https://hooks.demo.example/crm",
      services: ["account-service-v3"],
    },
    {
      ...endpoint,
      id: "5eed00000000000000007101",
      siteId: SITE_B,
      kind: "site",
      url: "https://hooks.rival.example/all",
      services: ["overlay-service-v1"],
    },
  ];
}
