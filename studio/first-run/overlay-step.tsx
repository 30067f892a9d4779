import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { useForm } from "react-hook-form";
import { ok } from "#sdk/client/index.ts";
import { once } from "#studio/api/once.ts";
import { useThemes } from "#studio/overlays/brand.tsx";
import { fieldsOf } from "#studio/overlays/kit-schema.ts";
import { newDraft, shownElement, type Template, type Values, withValue } from "#studio/overlays/model.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import type { StepProps } from "./step.ts";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";

// The SDK itself, which is larger than all steps.
const Previews = lazy(() => import("#studio/overlays/previews.tsx"));

/** Designed templates that say something without a match. */
const OFFERED: readonly string[] = ["lower-third", "breaking-news", "sponsor", "goal"];
const ASKED = 3;

/** One overlay of the kit, with texts of one's own. */
export function OverlayStep({ created: { overlay }, onDone }: StepProps) {
  const { client } = useSession();
  const { problem, run } = useServerIssues(useForm(), () => null);
  const kit = useQuery({
    queryKey: ["kit"],
    queryFn: async () => (await ok(client.api.GET("/overlay/v1/kit"))).templates,
    staleTime: Infinity,
  });
  if (overlay) {
    return (
      <div className="first-run-form">
        <p>
          Your first overlay is <strong>{overlay.name}</strong>. You can change it and add more under Overlays.
        </p>
        {problem !== null && <Notice tone="danger">{problem}</Notice>}
        <div className="first-run-actions">
          <Button look="primary" onPress={() => void run(() => onDone())}>
            Continue
          </Button>
        </div>
      </div>
    );
  }
  if (kit.isPending) return <Loading label="Loading the kit…" />;
  if (kit.isError) return <ErrorState error={kit.error} retry={() => void kit.refetch()} />;
  return <OverlayForm templates={OFFERED.flatMap((name) => kit.data.find((one) => one.name === name) ?? [])} onDone={onDone} />;
}

function OverlayForm({ templates, onDone }: { templates: readonly Template[]; onDone: StepProps["onDone"] }) {
  const { client, siteId } = useSession();
  const form = useForm();
  const { problem, run } = useServerIssues(form, () => null);
  const themes = useThemes();
  const [name, setName] = useState<string>(OFFERED[0] ?? "");
  const [own, setOwn] = useState<Values>({});
  const template = templates.find((one) => one.name === name) ?? templates[0];
  const draft = useMemo(() => (template ? filledDraft(template, own) : null), [template, own]);
  const shown = useMemo(
    () => draft?.contents.map((element) => shownElement(element, templates, "first")).filter((one) => one !== null) ?? [],
    [draft, templates],
  );
  if (!template || !draft) return null;
  const theme = themes.data?.[0] ?? null;
  const texts = fieldsOf(template)
    .filter(({ kind }) => kind === "text" || kind === "lines")
    .slice(0, ASKED);
  const create = () =>
    run(async () => {
      await ok(client.api.POST("/overlay/v1", { body: { siteId, ...draft }, ...once }));
      await onDone();
    });
  return (
    <form className="first-run-form" noValidate onSubmit={(event) => void form.handleSubmit(create)(event)}>
      <p className="soft">An overlay is what you show over the video. Choose one, and write what it says.</p>
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      <div className="first-run-preview">
        <Suspense fallback={<Loading label="Loading the preview…" />}>
          <Previews contents={shown} theme={theme} poll={null} isDark={theme?.mode !== "light"} widths={ONE_WIDTH} />
        </Suspense>
      </div>
      <fieldset className="first-run-templates">
        <legend className="field-label">Template</legend>
        {templates.map((one) => (
          <label key={one.name} className="first-run-template">
            <input
              type="radio"
              name="template"
              value={one.name}
              checked={one.name === template.name}
              onChange={() => {
                setName(one.name);
                setOwn({});
              }}
            />
            {one.title}
          </label>
        ))}
      </fieldset>
      {texts.map((field) => (
        <TextField
          key={`${template.name}.${field.name}`}
          label={field.label}
          value={String(draft.contents[0]?.kind === "kit" ? (draft.contents[0].variables?.[field.name] ?? "") : "")}
          onChange={(text) => setOwn({ ...own, [field.name]: text })}
          {...(field.maxLength !== undefined && { maxLength: field.maxLength })}
        />
      ))}
      <div className="first-run-actions">
        <Button type="submit" look="primary" isPending={form.formState.isSubmitting}>
          Create the overlay
        </Button>
      </div>
    </form>
  );
}

const ONE_WIDTH = [1280];

function filledDraft(template: Template, own: Values) {
  const draft = newDraft(template);
  const contents = draft.contents.map((element) =>
    element.kind === "kit"
      ? {
          ...element,
          variables: Object.entries(own).reduce((values, [name, value]) => withValue(values, name, value), element.variables ?? {}),
        }
      : element,
  );
  return { ...draft, contents };
}
