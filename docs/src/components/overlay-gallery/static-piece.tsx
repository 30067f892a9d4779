import { createElement, type FunctionComponent } from "react";
import { ENGLISH_TEXTS } from "#sdk/i18n/texts.ts";
import type { KitElement, KitTemplateName, PieceModule, PieceProps } from "#sdk/overlay/kit/piece.ts";
import { BASE_CSS, withUnits } from "#sdk/overlay/kit/styles.ts";
import * as breakingNews from "#sdk/overlay/kit/templates/breaking-news.tsx";
import * as card from "#sdk/overlay/kit/templates/card.tsx";
import * as chatMessage from "#sdk/overlay/kit/templates/chat-message.tsx";
import * as countdown from "#sdk/overlay/kit/templates/countdown.tsx";
import * as finalResult from "#sdk/overlay/kit/templates/final-result.tsx";
import * as goal from "#sdk/overlay/kit/templates/goal.tsx";
import * as lineUp from "#sdk/overlay/kit/templates/line-up.tsx";
import * as lowerThird from "#sdk/overlay/kit/templates/lower-third.tsx";
import * as poll from "#sdk/overlay/kit/templates/poll.tsx";
import * as question from "#sdk/overlay/kit/templates/question.tsx";
import * as scorebug from "#sdk/overlay/kit/templates/scorebug.tsx";
import * as sponsor from "#sdk/overlay/kit/templates/sponsor.tsx";
import * as substitution from "#sdk/overlay/kit/templates/substitution.tsx";
import { samplePoll, STATIC_NOW } from "./sample-poll.ts";

const PIECES: { [Name in KitTemplateName]: PieceModule<Name> } = {
  ...{ scorebug, goal, card, substitution, "line-up": lineUp, "lower-third": lowerThird, poll },
  ...{ countdown, question, "chat-message": chatMessage, sponsor, "breaking-news": breakingNews, "final-result": finalResult },
};

/** For a template that is known only when the page is built, the type of its variables follows from this type parameter. */
function pieceOf<Name extends KitTemplateName>(name: Name): FunctionComponent<PieceProps<Name>> {
  return PIECES[name].Piece;
}

/** A template as static markup, for readers without scripts. */
export function StaticPiece({ template, variables }: Pick<KitElement, "template" | "variables">) {
  return (
    <div className="tifo-kit" data-look="dark">
      {createElement(pieceOf(template), {
        variables,
        startsAt: STATIC_NOW,
        now: () => STATIC_NOW,
        address: (url: string) => url,
        onDismiss: () => {},
        t: ENGLISH_TEXTS.t,
        poll: samplePoll(),
      })}
    </div>
  );
}

/** The rules of all templates, or of one. */
export function stylesOf(name?: KitTemplateName): string {
  const pieces = name === undefined ? Object.values(PIECES) : [PIECES[name]];
  return [BASE_CSS, ...pieces.map(({ css }) => css)].map(withUnits).join("\n");
}
