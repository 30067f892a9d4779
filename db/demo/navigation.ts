import type { navigations } from "#db/schema/navigation.ts";
import { CHANNEL_1, CHANNEL_2, CHANNEL_B, LANDING, SITE_A, SITE_B, stamps } from "./match-day.ts";

/** The navigations: the default ones, and one for days without a match. */
export function demoNavigations(): (typeof navigations.$inferInsert)[] {
  return [
    {
      ...stamps,
      id: "5eed00000000000000007001",
      siteId: SITE_A,
      name: "Match day",
      type: "default",
      parents: [
        { type: "landing", pageId: LANDING, name: "Today", private: false },
        { type: "channel", pageId: CHANNEL_1, private: false },
        {
          type: "folder",
          name: "Behind the scenes",
          private: false,
          children: [{ type: "channel", pageId: CHANNEL_2, name: "Tunnel camera", private: true }],
        },
      ],
      externalLinks: [{ name: "Tickets", url: "https://demo.example/tickets" }],
    },
    {
      ...stamps,
      id: "5eed00000000000000007002",
      siteId: SITE_A,
      name: "Midweek",
      type: "custom",
      parents: [{ type: "landing", pageId: LANDING, private: false }],
      externalLinks: [{ name: "Fan shop", url: "https://demo.example/shop" }],
    },
    {
      ...stamps,
      id: "5eed00000000000000007101",
      siteId: SITE_B,
      name: "Dock side",
      type: "default",
      parents: [{ type: "channel", pageId: CHANNEL_B, private: false }],
      externalLinks: [],
    },
  ];
}
