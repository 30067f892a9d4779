import { UserSegments } from "#worker/services/segments/schemas.ts";

/** The segments of the demo sites: one by tag, with a panel of its own, and one by entitlement. */
export function demoSegments(): UserSegments {
  return UserSegments.parse({
    "gold-members": { name: "Gold members", filter: { attribute: "tags", operator: "any_of", value: ["tier:gold"] } },
    "season-ticket-holders": {
      name: "Season ticket holders",
      filter: {
        any: [
          { attribute: "entitlements", operator: "any_of", value: ["season-pass"] },
          {
            all: [
              { attribute: "signedIn", operator: "is", value: true },
              { attribute: "watchMinutes", operator: "at_least", value: 600 },
            ],
          },
        ],
      },
    },
  });
}
