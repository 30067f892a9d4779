import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import type { PollState } from "#sdk/model/state.ts";
import { choices } from "#studio/api/lists.ts";
import { useSession } from "#studio/session/context.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Loading } from "#studio/ui/states.tsx";
import { colorsOf, useThemes } from "./brand.tsx";
import { type Element, shownElement, type Template, type Theme } from "./model.ts";

// The SDK, which is as large as the rest of the screen.
const Previews = lazy(() => import("./previews.tsx"));

interface Props {
  contents: readonly Element[];
  templates: readonly Template[];
}

const MODES = [
  { value: "dark", text: "Dark mode" },
  { value: "light", text: "Light mode" },
];

/** The overlay as viewers would see it, in the look of one of the site's themes. */
export function PreviewPanel({ contents, templates }: Props) {
  const themes = useThemes();
  const [themeId, setThemeId] = useState<string | null>(null);
  const [mode, setMode] = useState("dark");
  const theme = themeId === "" ? undefined : (themes.data?.find(({ _id }) => _id === themeId) ?? themes.data?.[0]);
  const shown = useMemo(
    () => contents.map((element, at) => shownElement(element, templates, `preview-${at}`)).filter((element) => element !== null),
    [contents, templates],
  );
  const poll = usePoll(
    shown
      .map((element) => (element.kind === "kit" && element.template === "poll" ? element.variables.pollId : null))
      .find((id) => id !== null) ?? null,
  );
  return (
    <section className="card overlay-preview" aria-labelledby="overlay-preview">
      <div className="overlay-preview-head">
        <h2 id="overlay-preview">Preview</h2>
        <Select
          label="Theme"
          value={theme?._id ?? ""}
          onChange={setThemeId}
          options={[...choices(themes.data), { value: "", text: "No theme" }]}
        />
        <Select label="Viewer" value={mode} onChange={setMode} options={MODES} />
      </div>
      {theme && <Palette theme={theme} />}
      {shown.length < contents.length && <p className="soft">Rive animations and graphics are shown on channels only.</p>}
      <Suspense fallback={<Loading label="Loading the preview…" />}>
        <Previews contents={shown} theme={theme ?? null} poll={poll} isDark={mode === "dark"} />
      </Suspense>
    </section>
  );
}

function Palette({ theme }: { theme: Theme }) {
  return (
    <p className="palette" aria-label={`Colours of ${theme.name}`} role="img">
      {colorsOf([theme]).map(({ color, name }) => (
        <span key={color} className="swatch" style={{ backgroundColor: color }} title={`${name} ${color}`} />
      ))}
    </p>
  );
}

/** The poll that is shown, with its votes of now. */
function usePoll(pollId: string | null): PollState | null {
  const { client } = useSession();
  const isId = pollId !== null && /^[0-9a-f]{24}$/.test(pollId);
  const { data } = useQuery({
    queryKey: ["preview-poll", pollId],
    queryFn: async (): Promise<PollState> => {
      const params = { path: { id: pollId ?? "" } };
      const [poll, results] = await Promise.all([
        ok(client.api.GET("/poll/v3/{id}", { params })),
        ok(client.api.GET("/poll/v3/{id}/results", { params })),
      ]);
      const { type, question } = poll;
      const answers = results.answers.map(({ answerId, answer, responses, share }) => ({
        ...{ answerId, answer },
        ...(responses !== undefined && { responses }),
        ...(share !== undefined && { share }),
      }));
      return { pollId: poll._id, type, question, open: results.open, answers, total: results.total };
    },
    enabled: isId,
  });
  return isId ? (data ?? null) : null;
}
