import { z } from "@hono/zod-openapi";
import { POSITIONS } from "#db/enums.ts";
import * as templates from "./templates.ts";

/** The variables of each template. */
export const KIT_VARIABLES = {
  scorebug: templates.Scorebug,
  goal: templates.Goal,
  card: templates.Card,
  substitution: templates.Substitution,
  "line-up": templates.LineUp,
  "lower-third": templates.LowerThird,
  poll: templates.PollTemplate,
  countdown: templates.Countdown,
  question: templates.QuestionTemplate,
  "chat-message": templates.ChatMessageTemplate,
  sponsor: templates.Sponsor,
  "breaking-news": templates.BreakingNews,
  "final-result": templates.FinalResult,
} as const;

export type KitTemplateName = keyof typeof KIT_VARIABLES;

export const KIT_TEMPLATES = [
  ...(["scorebug", "goal", "card", "substitution", "line-up", "lower-third", "poll"] as const),
  ...(["countdown", "question", "chat-message", "sponsor", "breaking-news", "final-result"] as const),
] satisfies KitTemplateName[];

/** Overlays with the same key and template update each other instead of appearing anew. */
export const KitKey = z.string().min(1).max(100);

/** A template with its variables, as viewers receive it. */
function shown<Name extends KitTemplateName>(template: Name) {
  return z.object({
    kind: z.literal("kit"),
    template: z.literal(template),
    key: KitKey.describe("A later element with the same template and key updates this one in place"),
    variables: KIT_VARIABLES[template],
    position: z.enum(POSITIONS),
  });
}

export const ShownKitElement = z.discriminatedUnion("template", [
  shown("scorebug"),
  shown("goal"),
  shown("card"),
  shown("substitution"),
  shown("line-up"),
  shown("lower-third"),
  shown("poll"),
  shown("countdown"),
  shown("question"),
  shown("chat-message"),
  shown("sponsor"),
  shown("breaking-news"),
  shown("final-result"),
]);
export type ShownKitElement = z.output<typeof ShownKitElement>;
