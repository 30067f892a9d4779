import { PanelRenderer } from "#worker/lib/schemas/panel-renderer.ts";
import type { channelTemplates } from "#db/schema/channel-templates.ts";
import type { devices } from "#db/schema/devices.ts";
import { DAY, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";
import { THEME_A } from "./themes.ts";

const ADMIN = "5eed0000000000000000a001";
const ADMIN_B = "5eed0000000000000000a101";
const VIEWER = "5eed0000000000000000a003";

/** The club's channel templates. */
export function demoChannelTemplates(): (typeof channelTemplates.$inferInsert)[] {
  const bare = { ...stamps, rules: [], archived: false };
  return [
    {
      ...bare,
      id: "5eed00000000000000007e01",
      siteId: SITE_A,
      title: "Match day",
      description: "Chat and fixtures beside the video, in the club's colours",
      icon: "whistle",
      theme: THEME_A,
      creator: ADMIN,
      owner: ADMIN,
      panels: [
        {
          ...panelOf(SITE_A, ADMIN, "match-chat"),
          renderer: PanelRenderer.parse({ panel_type: "chat", panel_name: "Match chat", icon_name: "chat", filtered_words: "offside ref" }),
        },
        panelOf(SITE_A, ADMIN, "fixtures"),
      ],
    },
    {
      ...bare,
      id: "5eed00000000000000007e02",
      siteId: SITE_A,
      title: "Press conference",
      description: "One camera, no panels",
      creator: ADMIN,
      owner: ADMIN,
      panels: [],
    },
    {
      ...bare,
      id: "5eed00000000000000007e11",
      siteId: SITE_B,
      title: "Dock day",
      description: "",
      creator: ADMIN_B,
      owner: ADMIN_B,
      panels: [panelOf(SITE_B, ADMIN_B, "dock-chat")],
    },
  ];
}

/** The demo viewer's devices, which use two of the three slots. */
export function demoDevices(): (typeof devices.$inferInsert)[] {
  const own = { siteId: SITE_A, accountId: VIEWER };
  return [
    { ...own, id: "5eed00000000000000007d01", deviceId: "living-room-tv", description: "Tifo TV 2.1", created: KICK_OFF - 3 * DAY },
    { ...own, id: "5eed00000000000000007d02", deviceId: "veras-phone", description: "Tifo for Android 2.1", created: KICK_OFF - 2 * DAY },
  ];
}

function panelOf(siteId: string, account: string, slug: string) {
  return { collection: "panels", type: "panel", creator: account, owner: account, site_id: siteId, slug } as const;
}
