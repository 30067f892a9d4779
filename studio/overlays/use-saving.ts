import { ok } from "#sdk/client/index.ts";
import { once } from "#studio/api/once.ts";
import { useSaving as useSavingOf } from "#studio/resources/use-saving.ts";
import { useSession } from "#studio/session/context.tsx";
import { type Draft, type Loaded, readOverlay } from "./model.ts";

/** Fields that show what the server objects to. */
const SHOWN_AT_FIELD = /^(name|description|duration|contents\.\d+\.(html|variables\..+))$/;

/** Creates, changes and deletes an overlay. */
export function useSaving(saved: Loaded | null, onReload: () => void) {
  const { siteId, client } = useSession();
  const path = { id: saved?.item._id ?? "" };
  return useSavingOf({
    noun: "overlay",
    path: "/overlays",
    saved,
    create: (draft: Draft) => ok(client.api.POST("/overlay/v1", { body: { siteId, ...draft }, ...once })),
    read: () => readOverlay(client, path.id),
    update: (draft, headers) => {
      const body = { siteId, ...draft, ...(saved && { cta: saved.item.cta }) };
      return ok(client.api.PUT("/overlay/v1/{id}", { params: { path }, body, headers }));
    },
    remove: () => ok(client.api.DELETE("/overlay/v1/{id}", { params: { path } })),
    isShown: (issue) => SHOWN_AT_FIELD.test(issue),
    onReload,
  });
}
