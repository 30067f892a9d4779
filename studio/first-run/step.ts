import type { Schemas } from "#sdk/client/index.ts";

/** What the site has already. */
export interface Created {
  channel: Pick<Schemas["Page"], "_id" | "slug" | "data"> | null;
  overlay: Pick<Schemas["Overlay"], "_id" | "name"> | null;
}

/** What every step is given. */
export interface StepProps {
  site: Schemas["SiteAsRead"];
  created: Created;
  /** Records that the step is done; `name` also renames the site. */
  onDone: (change?: { name: string }) => Promise<void>;
}
