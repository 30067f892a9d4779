import { z } from "@hono/zod-openapi";
import { Time } from "#worker/lib/schemas/common.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { CreateSite, SiteAsRead } from "./schemas.ts";

const DAY_SECONDS = 24 * 60 * 60;

export const CreateSetupLink = z
  .strictObject({
    lifetime: z
      .number()
      .int()
      .min(60)
      .max(7 * DAY_SECONDS)
      .default(DAY_SECONDS)
      .describe("How long the link is valid, in seconds"),
  })
  .openapi("CreateSetupLink", { example: { lifetime: 3600 } });

export const SetupLink = z
  .object({
    url: z.string().describe("The page of Studio that uses the token. The token is in the fragment, which browsers don't send to servers"),
    setupToken: z.string().describe("Shown only once"),
    expires: Time.describe("Until when the link is valid: milliseconds since 1970 UTC"),
  })
  .openapi("SetupLink");

export const SetUpSite = z
  .strictObject({ setupToken: z.string().min(1).max(100).describe("The token of a setup link"), ...CreateSite.shape })
  .openapi("SetUpSite", {
    example: {
      setupToken: "tifo_setup_4Yb2",
      name: "Harbour City FC",
      slug: "harbour-city",
      admin: { email: "producer@demo.example", password: "demo-admin-pass", name: "Paula Producer" },
    },
  });

export const NewSite = z.object({ site: SiteAsRead, admin: Account }).openapi("NewSite");

export type SetUpSite = z.output<typeof SetUpSite>;
