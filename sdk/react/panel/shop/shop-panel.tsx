import type { PanelRenderer } from "../../../model/state.ts";
import { Donations } from "./donations.tsx";
import { Products } from "./products.tsx";

interface Props {
  panelId: string;
  renderer: Extract<PanelRenderer, { panel_type: "donations" | "shopify" }>;
}

/** The panels in which viewers spend money. */
export function Panel({ panelId, renderer }: Props) {
  return renderer.panel_type === "donations" ? (
    <Donations panelId={panelId} renderer={renderer} />
  ) : (
    <Products panelId={panelId} renderer={renderer} />
  );
}
