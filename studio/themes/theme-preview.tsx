import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useDeferredValue, useMemo, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import type { PollState } from "#sdk/model/state.ts";
import { shownElement, type Template } from "#studio/overlays/model.ts";
import { useSession } from "#studio/session/context.tsx";
import { Select } from "#studio/ui/select.tsx";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { type Draft, HEX } from "./model.ts";

const Previews = lazy(() => import("#studio/overlays/previews.tsx"));

/** Overlays of the kit that are seen together in a show, and one that has the picture to itself. */
const SCENES = [
  { value: "match", text: "During the match", templates: ["scorebug", "lower-third", "poll"] },
  { value: "goal", text: "A goal", templates: ["scorebug", "goal"] },
  { value: "break", text: "In a break", templates: ["countdown", "breaking-news", "sponsor"] },
];
const POLL_ID = "0".repeat(24);
const POLL: PollState = {
  pollId: POLL_ID,
  type: "poll",
  question: "Who is the player of the match?",
  open: true,
  total: 1_280,
  answers: [
    { answerId: "1", answer: "Marta Oliveira", responses: 742, share: 0.58 },
    { answerId: "2", answer: "Ines Duarte", responses: 346, share: 0.27 },
    { answerId: "3", answer: "Nadia Rahmani", responses: 192, share: 0.15 },
  ],
};

/** Overlays of the kit in the theme, as viewers would see them. */
export function ThemePreview({ draft }: { draft: Draft }) {
  const { client } = useSession();
  const [chosen, setChosen] = useState("match");
  const kit = useQuery({
    queryKey: ["kit"],
    queryFn: async () => (await ok(client.api.GET("/overlay/v1/kit"))).templates,
    staleTime: Infinity,
  });
  const shown = useDeferredValue(draft);
  const theme = useMemo(() => {
    const { name, mode, colors, button, typography } = shown;
    const valid = Object.fromEntries(Object.entries(colors).filter(([, color]) => HEX.test(color)));
    return { ...{ name, mode, button, typography }, type: "custom" as const, colors: valid, logo: shown.logo || null };
  }, [shown]);
  const contents = useMemo(() => elementsOf(kit.data ?? [], chosen), [kit.data, chosen]);
  return (
    <section className="card overlay-preview" aria-labelledby="theme-preview">
      <div className="overlay-preview-head">
        <h2 id="theme-preview">Preview</h2>
        <Select label="Overlays" value={chosen} onChange={setChosen} options={SCENES} />
      </div>
      {kit.isError ? (
        <ErrorState error={kit.error} retry={() => void kit.refetch()} />
      ) : (
        <Suspense fallback={<Loading label="Loading the preview…" />}>
          <Previews contents={contents} theme={theme} poll={POLL} isDark={shown.mode === "dark"} />
        </Suspense>
      )}
    </section>
  );
}

function elementsOf(kit: readonly Template[], scene: string) {
  const names = SCENES.find(({ value }) => value === scene)?.templates ?? [];
  return names.flatMap((name) => {
    const template = kit.find((known) => known.name === name);
    if (!template) return [];
    const variables = { ...template.sample, ...(name === "poll" && { pollId: POLL_ID }) };
    return shownElement({ kind: "kit", template: template.name, position: template.position, variables }, kit, `theme-${name}`) ?? [];
  });
}
