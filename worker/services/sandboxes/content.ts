import type { Ctx } from "#worker/services/core/context.ts";
import { createOverlay } from "#worker/services/overlays/overlays.ts";
import { OverlayInput } from "#worker/services/overlays/schemas.ts";
import { createPage } from "#worker/services/pages/pages.ts";
import { CreatePage } from "#worker/services/pages/schemas.ts";
import { createPanel } from "#worker/services/panels/panels.ts";
import { PanelInput } from "#worker/services/panels/schemas.ts";
import { createPoll } from "#worker/services/polls/polls.ts";
import { PollInput } from "#worker/services/polls/schemas.ts";

const TEAM = { teamName: "Harbour City", teamColor: "#4b3fd1" };

/** What a new sandbox has: a channel with a chat and a prediction, and overlays to broadcast. */
export async function createContent(ctx: Ctx) {
  const { siteId } = ctx;
  const poll = await createPoll(
    ctx,
    PollInput.parse({
      siteId,
      type: "prediction",
      name: "Derby result",
      question: "Who wins the derby?",
      answers: [{ answer: "Harbour City" }, { answer: "A draw" }, { answer: "Old Dock" }],
      open: true,
    }),
  );
  const panels = [
    await createPanel(ctx, PanelInput.parse({ siteId, renderer: { panel_type: "chat", panel_name: "Match chat", icon_name: "chat" } })),
    await createPanel(
      ctx,
      PanelInput.parse({
        siteId,
        renderer: {
          panel_type: "quick_pick",
          panel_name: "Match predictor",
          icon_name: "target",
          questions: [{ array_id: "derbyRes1", poll_id: poll.id }],
        },
      }),
    ),
  ];
  const data = { name: "Main stage", sidebar: { panels: panels.map(({ id }) => id) } };
  const channel = await createPage(ctx, CreatePage.parse({ type: "channel", slug: "main-stage", data }));
  const goal = { playerName: "{{scorer}}", moment: "{{minute}}", scorer: "Ada Moreno", minute: 63, ...TEAM };
  const overlay = await createOverlay(
    ctx,
    kit(siteId, "Goal", 8, { kind: "kit", template: "goal", position: "bottomCenter", variables: goal }),
  );
  const name = { name: "{{person}}", role: "{{about}}", person: "Mira Castellanos", about: "Head coach" };
  await createOverlay(ctx, kit(siteId, "Name", 7, { kind: "kit", template: "lower-third", position: "bottomLeft", variables: name }));
  return { channel, poll, overlay };
}

function kit(siteId: string, name: string, duration: number, element: Record<string, unknown>): OverlayInput {
  return OverlayInput.parse({ siteId, name, description: "", type: "template", duration, contents: [element] });
}
