import type { ReactNode } from "react";
import type { OverlayContent } from "../../channel/index.ts";
import type { Translate } from "../../i18n/texts.ts";

/** A template of the kit with its variables. */
export type KitElement = Extract<OverlayContent, { kind: "kit" }>;
export type KitTemplateName = KitElement["template"];
export type VariablesOf<Name extends KitTemplateName> = Extract<KitElement, { template: Name }>["variables"];

/** What a template renders. Each has a file of its own, which is loaded when it is first shown. */
export interface PieceProps<Name extends KitTemplateName> {
  variables: VariablesOf<Name>;
  /** When its broadcast started, in ms of the server's clock. */
  startsAt: number;
  /** The server's clock, in ms since 1970 UTC. */
  now: () => number;
  /** Makes an image's address absolute. */
  address: (url: string) => string;
  /** The viewer hides it. */
  onDismiss: () => void;
  /** The kit's own texts in the viewer's language. */
  t: Translate;
  /** A poll's part that needs the event; other templates don't use it. */
  poll?: PollAccess;
}

/** How a poll on an overlay is read and answered. */
export interface PollAccess {
  answers: readonly { answerId: string; answer: string; share?: number }[];
  question: string;
  kind: string;
  open: boolean;
  total?: number;
  myAnswerId?: string;
  correctAnswerId?: string;
  /** Why the viewer's answer wasn't counted. */
  problem: string;
  answer: (answerId: string) => void;
}

/** The module of a template. */
export interface PieceModule<Name extends KitTemplateName> {
  Piece: (props: PieceProps<Name>) => ReactNode;
  /** Its own rules, written with `u(n)` for n pixels of a stage 1280 pixels wide. */
  css: string;
}
