import type { ComponentType } from "react";
import type { Access } from "#studio/session/access.ts";
import type { IconName } from "#studio/ui/icon.tsx";

/** A screen of Studio. Each is loaded when it is first opened. */
export interface Screen {
  /** Below `/studio`; `$name` is a parameter, which `useParam(name)` reads. */
  path: string;
  title: string;
  /** Its entry in the navigation; screens that are opened from others have none. */
  entry?: { section: Section; icon: IconName };
  /** Who sees it. Others get "not found", as they would from the API. */
  allows: (access: Access) => boolean;
  load: () => Promise<{ default: ComponentType }>;
}

/** The navigation's sections, in order. */
export const SECTIONS = ["Show", "Content", "People", "Developers"] as const;
export type Section = (typeof SECTIONS)[number];
