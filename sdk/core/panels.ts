import type { Schemas } from "../client/index.ts";
import type { PanelInfo, PanelKind } from "../model/state.ts";

/** A page's configuration, as the REST API returns it. */
export type Configuration = Schemas["PageConfiguration"];

/** The panels of the page's sidebar, in order. */
export function panelsOf(configuration: Configuration): PanelInfo[] {
  return configuration.panels.map(({ _id, panel_name, panel_type, renderer }) => ({
    id: _id,
    kind: panel_type,
    name: panel_name,
    ...(renderer.image_url === undefined ? {} : { iconUrl: renderer.image_url }),
    renderer,
  }));
}

/** Finds a panel by id, or the first one of a kind. */
export function findPanel(panels: readonly PanelInfo[], wanted: string | { kind: PanelKind }): PanelInfo | undefined {
  return panels.find(typeof wanted === "string" ? ({ id }) => id === wanted : ({ kind }) => kind === wanted.kind);
}

/** Ids of the polls in a panel. */
export function pollsOf({ renderer }: PanelInfo): string[] {
  return "questions" in renderer ? renderer.questions.map(({ poll_id }) => poll_id) : [];
}

/** Ids of the quests in a panel. */
export function questsOf({ renderer }: PanelInfo): string[] {
  return "quests" in renderer ? renderer.quests.map(({ quest_id }) => quest_id) : [];
}
