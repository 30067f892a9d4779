import type { StarlightUserConfig } from "@astrojs/starlight/types";

/** One entry of a sidebar, in Starlight's own form: a page, a link or a group. */
export type SidebarItem = NonNullable<StarlightUserConfig["sidebar"]>[number];
