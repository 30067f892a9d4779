import { useState } from "react";
import { useForm } from "react-hook-form";
import { ok } from "#sdk/client/index.ts";
import { once } from "#studio/api/once.ts";
import { useThemes } from "#studio/overlays/brand.tsx";
import type { Theme } from "#studio/overlays/model.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Select } from "#studio/ui/select.tsx";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { ACCENTS, LOOKS, themeOf } from "./brand-theme.ts";
import type { StepProps } from "./step.ts";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";

/** The site's name and its look, which every overlay and panel uses. */
export function SiteStep(props: StepProps) {
  const themes = useThemes();
  if (themes.isPending) return <Loading label="Loading the theme…" />;
  if (themes.isError) return <ErrorState error={themes.error} retry={() => void themes.refetch()} />;
  return <SiteForm {...props} theme={themes.data[0] ?? null} />;
}

function SiteForm({ site, onDone, theme }: StepProps & { theme: Theme | null }) {
  const { client } = useSession();
  const form = useForm({ defaultValues: { name: site.name } });
  const { problem, run } = useServerIssues(form, (path) => (path === "name" ? "name" : null));
  const [accent, setAccent] = useState(theme?.colors.accent ?? ACCENTS[0].color);
  const [mode, setMode] = useState<string>(theme?.mode ?? "dark");

  const save = ({ name }: { name: string }) =>
    run(async () => {
      const body = themeOf({ name, accent, isDark: mode !== "light" }, theme);
      if (theme) await ok(client.api.PUT("/themes/v1/custom/{id}", { params: { path: { id: theme._id } }, body }));
      else await ok(client.api.POST("/themes/v1/custom", { body, ...once }));
      await onDone({ name });
    });
  return (
    <form className="first-run-form" noValidate onSubmit={(event) => void form.handleSubmit(save)(event)}>
      <p className="soft">Your viewers see this name, and overlays are drawn in these colours.</p>
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      <FormField control={form.control} name="name" label="Site name" rules={{ required: "Enter a name." }} />
      <fieldset className="first-run-accents">
        <legend className="field-label">Accent colour</legend>
        {ACCENTS.map(({ color, name }) => (
          <label key={color} className="first-run-accent" title={name}>
            <input
              type="radio"
              name="accent"
              value={color}
              checked={accent.toLowerCase() === color}
              aria-label={name}
              onChange={() => setAccent(color)}
            />
            <span style={{ backgroundColor: color }} aria-hidden="true" />
          </label>
        ))}
        <input
          type="color"
          className="first-run-color"
          aria-label="Another colour"
          value={accent}
          onChange={(event) => setAccent(event.target.value)}
        />
      </fieldset>
      <Select label="Look" value={mode} onChange={setMode} options={LOOKS} />
      <ThemeSample name={form.watch("name")} accent={accent} isDark={mode !== "light"} />
      <div className="first-run-actions">
        <Button type="submit" look="primary" isPending={form.formState.isSubmitting}>
          Save and continue
        </Button>
      </div>
    </form>
  );
}

/** The colours, as an overlay has them. */
function ThemeSample({ name, accent, isDark }: { name: string; accent: string; isDark: boolean }) {
  return (
    <div className="first-run-sample" role="img" aria-label={`A ${isDark ? "dark" : "light"} overlay in the accent colour ${accent}`}>
      <div data-look={isDark ? "dark" : "light"} aria-hidden="true">
        <span style={{ backgroundColor: accent }} />
        <strong>{name === "" ? "Your site" : name}</strong>
        <em>Live now</em>
      </div>
    </div>
  );
}
