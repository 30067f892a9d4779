import { createElement, type ReactNode } from "react";
import { pieceOf } from "./load.ts";
import type { KitElement, KitTemplateName, PieceProps } from "./piece.ts";

/** What every template gets besides its variables. */
export type CommonProps = Omit<PieceProps<KitTemplateName>, "variables">;

/** A template with its variables. Its file is loaded when it is first rendered, for which it suspends. */
export function renderPiece(origin: string, { template, variables }: KitElement, props: CommonProps): ReactNode {
  return createElement(pieceOf(origin, template), { ...props, variables });
}
