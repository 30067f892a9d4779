import { type ComponentType, lazy } from "react";
import { loadReleaseFile, releaseUrl } from "../../react/release-file.ts";
import { KIT_FONT, KIT_FONT_FILES } from "./fonts.ts";
import type { KitTemplateName, PieceModule, PieceProps } from "./piece.ts";
import { adoptStyles, BASE_CSS } from "./styles.ts";

/** Defined at build time by scripts/build-sdk.ts and astro.config.mjs: whether this is the script for plain pages. */
declare const TIFO_SCRIPT: boolean;

type Loaders = { [Name in KitTemplateName]: () => Promise<PieceModule<Name>> };

/** The templates in the app's own bundle; the script for plain pages loads them from their own files of the release. */
const bundled: Loaders | null =
  typeof TIFO_SCRIPT === "boolean" && TIFO_SCRIPT
    ? null
    : {
        scorebug: () => import("./templates/scorebug.tsx"),
        goal: () => import("./templates/goal.tsx"),
        card: () => import("./templates/card.tsx"),
        substitution: () => import("./templates/substitution.tsx"),
        "line-up": () => import("./templates/line-up.tsx"),
        "lower-third": () => import("./templates/lower-third.tsx"),
        poll: () => import("./templates/poll.tsx"),
        countdown: () => import("./templates/countdown.tsx"),
        question: () => import("./templates/question.tsx"),
        "chat-message": () => import("./templates/chat-message.tsx"),
        sponsor: () => import("./templates/sponsor.tsx"),
        "breaking-news": () => import("./templates/breaking-news.tsx"),
        "final-result": () => import("./templates/final-result.tsx"),
      };

type Pieces = { [Name in KitTemplateName]?: ComponentType<PieceProps<Name>> };

const loaded = new Map<string, Pieces>();

/** A template's component, loaded when it is first rendered. */
export function pieceOf<Name extends KitTemplateName>(origin: string, name: Name): ComponentType<PieceProps<Name>> {
  const pieces: Pieces = loaded.get(origin) ?? {};
  loaded.set(origin, pieces);
  const known: Pieces[Name] = pieces[name];
  if (known) return known;
  const piece = lazy(async () => {
    const { Piece, css } = await (bundled ? bundled[name]() : loadReleaseFile<PieceModule<Name>>(origin, `kit-${name}`));
    adoptStyles("base", BASE_CSS);
    adoptStyles(name, css);
    loadFonts(origin);
    return { default: Piece };
  });
  // An assignment by a generic name would require every template's component at once.
  Object.assign(pieces, { [name]: piece });
  return piece;
}

/** After a failure, the next one of these templates is loaded again. */
export function forgetPieces(): void {
  loaded.clear();
}

let fontsRequested = false;

/** The kit's typeface, from the deployment. Where the page's policy doesn't allow it, the system's condensed one is used. */
function loadFonts(origin: string): void {
  if (fontsRequested) return;
  fontsRequested = true;
  for (const { file, weight, range } of KIT_FONT_FILES) {
    const source = `url(${releaseUrl(origin)}/${file})`;
    document.fonts.add(new FontFace(KIT_FONT, source, { weight: String(weight), unicodeRange: range, display: "swap" }));
  }
}
