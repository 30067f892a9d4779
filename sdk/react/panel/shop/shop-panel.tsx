import type { PanelRenderer } from "../../../model/state.ts";
import { Donations } from "./donations.tsx";
import { Products } from "./products.tsx";
import { Wallet } from "./wallet.tsx";

/** A panel in which viewers spend money, or their wallet in the version to show. */
export type ShopProps =
  { panelId: string; renderer: Extract<PanelRenderer, { panel_type: "donations" | "shopify" }> } | { walletVersion: string };

export function Content(props: ShopProps) {
  if ("walletVersion" in props) return <Wallet version={props.walletVersion} />;
  const { panelId, renderer } = props;
  return renderer.panel_type === "donations" ? (
    <Donations panelId={panelId} renderer={renderer} />
  ) : (
    <Products panelId={panelId} renderer={renderer} />
  );
}
