import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { useOverlays } from "./kind-fields.tsx";
import type { Item, Previewed, Variables } from "./model.ts";
import { VariableFields } from "./variable-fields.tsx";
import { fieldsOf, ownVariables } from "./variables.ts";

/** What viewers would see of the next item: as the server would send it. Without anything to show, a note says why. */
export function usePreview(
  rundownId: string,
  next: Item | undefined,
  variables: Variables | undefined,
  /** When the rundown was edited last. */
  modified: number | undefined,
): { overlay: Previewed | null; note: string } {
  const { client } = useSession();
  const itemId = next?._id ?? "";
  const preview = useQuery({
    queryKey: ["preview", rundownId, itemId, modified, variables ?? null],
    queryFn: () => {
      const body = { itemId, ...(variables && { variables }) };
      return ok(client.api.POST("/rundown/v1/{id}/preview", { params: { path: { id: rundownId } }, body }));
    },
    enabled: next?.kind === "broadcast",
    // While somebody types a variable, the previous picture stays.
    placeholderData: (previous) => (previous?.itemId === itemId ? keepPreviousData(previous) : undefined),
  });
  if (!next) return { overlay: null, note: "Nothing follows." };
  if (next.kind !== "broadcast") return { overlay: null, note: "This item shows nothing on viewers’ screens." };
  if (preview.isError) return { overlay: null, note: errorText(preview.error) };
  return { overlay: preview.data?.overlay ?? null, note: "Loading the preview…" };
}

interface NextVariablesProps {
  item: Item | undefined;
  /** What the operator has typed. */
  given: Variables;
  onChange: (given: Variables) => void;
}

/** The variables of the next item, which the take sends as they are here. */
export function NextVariables({ item, given, onChange }: NextVariablesProps) {
  const overlays = useOverlays();
  if (item?.kind !== "broadcast") return null;
  const overlay = overlays.data?.find(({ _id }) => _id === item.overlayId);
  if (!overlay) return null;
  const fields = fieldsOf(overlay, { ...ownVariables(item), ...given });
  return <VariableFields key={item._id} fields={fields} onChange={(name, value) => onChange({ ...given, [name]: value })} />;
}
