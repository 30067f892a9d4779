import { z } from "@hono/zod-openapi";
import { FIRST_RUN_STEPS } from "#db/enums.ts";
import type { SiteRow } from "#db/schema/sites.ts";
import { FreeObject, Id, Tags, Tracked } from "#worker/lib/schemas/common.ts";
import { UserSegments } from "#worker/services/segments/schemas.ts";
import { Account, Email, PersonName, StaffPassword } from "#worker/services/accounts/schemas.ts";
import { CodeInjection, Localization, LoginMarketingOptIn, ManifestSettings, Transitions } from "./setting-schemas.ts";

export const Slug = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "Lower-case letters, digits and single hyphens")
  .openapi({ example: "main-stage" });

const Origin = z
  .url({ protocol: /^https?$/ })
  .refine((url) => URL.canParse(url) && new URL(url).origin === url, "An origin: scheme, host and port, without a path")
  .openapi({ example: "https://demo.example" });

const Security = z.strictObject({
  allowedOrigins: z
    .array(Origin)
    .max(50)
    .default([])
    .describe("Origins of redirects, reset links and browser requests with a developer key"),
  allowNewAdmins: z.boolean().default(true),
  requireVerifiedEmail: z.boolean().default(false).describe("Password sign-ins need a verified email address (403 `email_not_verified`)"),
  longInviteTokens: z.boolean().optional().describe("New magic links have unguessable tokens of 22 characters"),
  requireStaffTotp: z.boolean().optional().describe("Roles take effect only once the account has an authenticator app"),
  providers: z
    .array(
      z.strictObject({ name: z.string().min(1).max(100), jwksUrl: z.url({ protocol: /^https?$/ }), audience: z.string().min(1).max(200) }),
    )
    .max(20)
    .refine((providers) => new Set(providers.map(({ name }) => name)).size === providers.length, "Names must be unique")
    .default([])
    .describe("Identity providers whose signed tokens may sign in"),
});

const FirstRun = z.strictObject({
  steps: z.array(z.enum(FIRST_RUN_STEPS)).max(FIRST_RUN_STEPS.length).describe("Done steps"),
  closed: z.boolean().describe("Completed or dismissed"),
});

export const SiteSettings = z
  .strictObject({
    security: Security.prefault({}),
    transitions: Transitions.optional(),
    userSegments: UserSegments.optional(),
    events: FreeObject.optional(),
    email: FreeObject.optional(),
    domain: z.string().max(253).optional(),
    code_injection: CodeInjection.optional(),
    customEmails: FreeObject.optional(),
    loginMarketingOptIn: LoginMarketingOptIn.optional(),
    localization: Localization.optional(),
    style: FreeObject.optional(),
    seo: FreeObject.optional(),
    insights: z
      .strictObject({ collect: z.boolean().default(true).describe("Impressions and actions of viewers are counted") })
      .optional()
      .describe("Votes, claims, messages, payments and viewers count in either case"),
    manifest: ManifestSettings.optional(),
    studio: z
      .strictObject({ firstRun: FirstRun.optional().describe("Its set-up") })
      .optional()
      .describe("What Studio remembers")
      .openapi({ example: {} }),
    streamProvider: z
      .string()
      .min(1)
      .max(50)
      .optional()
      .describe("The default stream provider, by name; if omitted, the one registered first"),
  })
  .openapi("SiteSettings");

export const SiteRegions = z
  .strictObject({
    header: FreeObject.optional(),
    footer: FreeObject.optional(),
    navigation: FreeObject.optional(),
    player: FreeObject.optional(),
    featured: FreeObject.optional(),
  })
  .openapi("SiteRegions");

const fields = {
  name: z.string().trim().min(1).max(200).openapi({ example: "Harbour City FC" }),
  collections: z.array(Slug).max(200),
  regions: SiteRegions,
  settings: SiteSettings,
  style: FreeObject,
  shards: z.array(z.string().max(100)).max(50),
  tags: Tags,
  devicelimit: z.number().int().min(1).max(100).describe("How many devices one account may watch on"),
};

const editable = {
  ...fields,
  collections: fields.collections.default([]),
  regions: fields.regions.prefault({}),
  settings: fields.settings.prefault({}),
  style: fields.style.default({}),
  shards: fields.shards.default([]),
  tags: fields.tags.default([]),
  devicelimit: fields.devicelimit.default(3),
};

export const UpdateSite = z
  .strictObject({
    ...editable,
    siteId: Id.optional().describe("Must equal Tifo-Client-Id"),
    slug: Slug.optional().describe("Unchanged if omitted"),
  })
  .openapi("UpdateSite", {
    example: {
      name: "Harbour City FC",
      devicelimit: 3,
      settings: {
        security: { allowedOrigins: ["https://demo.example"] },
        userSegments: {
          "gold-members": { name: "Gold members", filter: { attribute: "tags", operator: "any_of", value: ["tier:gold"] } },
        },
        localization: { language: "en", languages: ["en", "es", "ar"] },
        manifest: { hosts: ["live.demo.example"] },
      },
    },
  });

export const SiteFeatures = z
  .strictObject({
    features: FreeObject.describe("Replaces all features").openapi({ example: { overlays: true } }),
    contractServiceChargeRate: z
      .number()
      .int()
      .min(0)
      .max(10_000)
      .nullable()
      .optional()
      .describe("The deployment's share of each sale in basis points; unchanged if omitted"),
  })
  .openapi("SiteFeatures", { example: { features: { overlays: true, polls: true, quests: false } } });

export const CreateSite = z
  .strictObject({
    name: editable.name,
    slug: Slug,
    admin: z.strictObject({ email: Email, password: StaffPassword, name: PersonName }),
  })
  .openapi("CreateSite");

export const Site = z
  .object({
    ...fields,
    _id: Id,
    slug: z.string(),
    features: z.record(z.string(), z.unknown()).describe("Set only by the operator"),
    contractServiceChargeRate: z
      .number()
      .nullable()
      .describe("The deployment's share of each sale in basis points; set only by the operator"),
    ...Tracked,
  })
  .openapi("Site");

const MANAGING = "Only for developer keys and site admins";

// What a viewer's page needs, listed explicitly so that new settings aren't public by default.
const PublicSettings = SiteSettings.pick({
  transitions: true,
  domain: true,
  code_injection: true,
  loginMarketingOptIn: true,
  localization: true,
  style: true,
  seo: true,
});

/** The response to reading the site: the public part and, for its managers, the rest. */
export const SiteAsRead = Site.pick({
  _id: true,
  name: true,
  slug: true,
  collections: true,
  regions: true,
  style: true,
  features: true,
  created: true,
  modified: true,
})
  .extend({
    settings: z
      .strictObject({ ...SiteSettings.shape, security: Security.optional() })
      .describe(`The fields security, userSegments, events, email, customEmails, manifest, insights and studio: ${MANAGING}`),
    shards: Site.shape.shards.optional().describe(MANAGING),
    tags: Tags.optional().describe(MANAGING),
    devicelimit: Site.shape.devicelimit.optional().describe(MANAGING),
    contractServiceChargeRate: Site.shape.contractServiceChargeRate
      .optional()
      .describe(`The deployment's share of each sale in basis points. ${MANAGING}`),
    adminTheme: Id.nullable().optional().describe(`The admin theme that the operator has applied. ${MANAGING}`),
  })
  .openapi("SiteAsRead");

export const CreatedSite = z
  .object({ site: Site, admin: Account, developerKey: z.string().describe("Shown only once") })
  .openapi("CreatedSite");

export type SiteFeatures = z.output<typeof SiteFeatures>;
export type CreateSite = z.output<typeof CreateSite>;
export type UpdateSite = z.output<typeof UpdateSite>;

export function toSite(row: SiteRow) {
  return {
    _id: row.id,
    name: row.name,
    slug: row.slug,
    collections: row.collections,
    regions: row.regions,
    settings: row.settings,
    style: row.style,
    features: row.features,
    shards: row.shards,
    tags: row.tags,
    devicelimit: row.deviceLimit,
    contractServiceChargeRate: row.serviceChargeRate,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Site>;
}

/** The public settings, without those that were stored before their field was typed and don't match. */
function publicSettings(stored: SiteRow["settings"]): z.output<typeof PublicSettings> {
  const fields = Object.entries(PublicSettings.shape).flatMap(([name, schema]) =>
    schema.safeParse(stored[name]).success ? [[name, stored[name]] as const] : [],
  );
  return PublicSettings.strip().parse(Object.fromEntries(fields));
}

/** The public part of a site. */
export function toPublicSite(row: SiteRow) {
  const { _id, name, slug, collections, regions, style, features, created, modified } = toSite(row);
  const settings = publicSettings(row.settings);
  return { _id, name, slug, collections, regions, settings, style, features, created, modified } satisfies z.output<typeof SiteAsRead>;
}
