import { z } from "@hono/zod-openapi";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { bounded } from "#worker/lib/schemas/common.ts";

// The settings that Tifo's own parts follow. Further fields are allowed, because sites keep their own beside them.

const TRANSITIONS = ["none", "fade", "slide", "scale"] as const;

/** The languages that the SDK has texts in. */
export const SDK_LANGUAGES = ["en", "es", "fr", "de", "pt", "it", "ar"] as const;

const Transition = z
  .strictObject({
    name: z.enum(TRANSITIONS),
    duration: z.number().int().min(0).max(2000).describe("Milliseconds; 0 is the same as `none`").openapi({ example: 250 }),
  })
  .openapi("OverlayTransition");

export const Transitions = bounded(
  z.looseObject({
    enter: Transition.optional().describe("How overlays appear; the SDK's own way if omitted"),
    exit: Transition.optional().describe("How overlays disappear before they are removed"),
  }),
)
  .describe("How overlays come and go, unless a viewer prefers reduced motion")
  .openapi("Transitions", { example: { enter: { name: "slide", duration: 300 }, exit: { name: "fade", duration: 150 } } });

export const LoginMarketingOptIn = bounded(
  z.looseObject({
    shown: z.boolean().optional().describe("Whether sign-up forms ask for it; false by default"),
    default: z
      .boolean()
      .optional()
      .describe("The checkbox at first, and `marketingOptin` of accounts created without it; false by default"),
    text: z.string().max(500).optional().describe("The checkbox's label; the SDK has one in each of its languages"),
  }),
)
  .describe("Consent to marketing where accounts are created")
  .openapi("LoginMarketingOptIn", { example: { shown: true, default: false, text: "Send me news about the club" } });

const Html = z.string().max(20_000);

export const CodeInjection = bounded(
  z.looseObject({
    head: Html.optional().describe("For your own page templates; neither Tifo nor its SDKs use it"),
    body: Html.optional().describe("HTML without scripts, for the page's `codeInjection` element"),
  }),
)
  .describe("HTML for the pages that embed the site. Never part of Tifo's own pages")
  .openapi("CodeInjection", { example: { body: '<p>Presented by <a href="https://demo.example">Harbour Ferries</a></p>' } });

const PlaylistHost = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/, "A host name in lower case, with its port if that isn't 443")
  .openapi({ example: "live.demo.example" });

export const ManifestSettings = z
  .strictObject({
    hosts: z.array(PlaylistHost).max(50).default([]).describe("Full names of hosts whose HLS playlists may be read"),
    cues: z
      .array(
        z.strictObject({
          src: z
            .url({ protocol: /^https?$/ })
            .max(2000)
            .describe("An HLS playlist at one of the hosts")
            .openapi({ example: "https://live.demo.example/derby/main.m3u8" }),
          dataProviderId: z
            .string()
            .regex(ID_PATTERN, "24 lowercase hex characters")
            .describe("The data provider whose events its cues become"),
        }),
      )
      .max(10)
      .default([])
      .describe("Playlists whose date ranges become a data provider's events"),
  })
  .describe("HLS playlists that the site reads, for manifests and cues")
  .openapi("ManifestSettings", { example: { hosts: ["live.demo.example"] } });

const LanguageTag = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/, "A BCP 47 language tag");

export const Localization = bounded(
  z.looseObject({
    language: LanguageTag.optional().describe(`For viewers without one of \`languages\`; the SDK has ${SDK_LANGUAGES.join(", ")}`),
    languages: z.array(LanguageTag).min(1).max(50).optional().describe("The site's languages; if omitted, every one that the SDK has"),
    timeZone: z
      .string()
      .max(64)
      .regex(/^[A-Za-z0-9_+-]+(\/[A-Za-z0-9_+-]+)*$/, "An IANA time zone")
      .optional(),
  }),
)
  .describe("The site's languages")
  .openapi("Localization", { example: { language: "en", languages: ["en", "es", "ar"] } });

/** What a player follows; settings that were stored in another form are left out. */
export const PlayerSettings = z.object({
  transitions: Transitions.nullable().catch(null),
  localization: Localization.nullable().catch(null),
});
export type PlayerSettings = z.output<typeof PlayerSettings>;
