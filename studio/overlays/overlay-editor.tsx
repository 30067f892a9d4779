import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useParam } from "#studio/app/param.ts";
import { useSession } from "#studio/session/context.tsx";
import { BackLink } from "#studio/ui/back-link.tsx";
import { FormSkeleton } from "#studio/ui/form-skeleton.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ErrorState } from "#studio/ui/states.tsx";
import { Editor } from "./editor.tsx";
import { draftOf, newDraft, readOverlay, type Template } from "./model.ts";
import "./overlays.css";

/** An overlay, or the choice of what a new one is. */
export default function OverlayEditor() {
  const id = useParam("id");
  const { client } = useSession();
  const kit = useQuery({
    queryKey: ["kit"],
    queryFn: async () => (await ok(client.api.GET("/overlay/v1/kit"))).templates,
    staleTime: Infinity,
  });
  return (
    <>
      <BackLink to="/overlays">Overlays</BackLink>
      {kit.isPending && <FormSkeleton label="Loading the kit…" />}
      {kit.isError && <ErrorState error={kit.error} retry={() => void kit.refetch()} />}
      {kit.data && (id === "" ? <NewOverlay templates={kit.data} /> : <SavedOverlay key={id} id={id} templates={kit.data} />)}
    </>
  );
}

function SavedOverlay({ id, templates }: { id: string; templates: readonly Template[] }) {
  const { client } = useSession();
  const overlay = useQuery({
    queryKey: ["/overlays", "edited", id],
    queryFn: () => readOverlay(client, id),
    // What somebody is editing isn't replaced under their hands; a conflict shows when they save.
    staleTime: Infinity,
    gcTime: 0,
  });
  if (overlay.isPending) return <FormSkeleton label="Loading the overlay…" />;
  if (overlay.isError) return <ErrorState error={overlay.error} retry={() => void overlay.refetch()} />;
  return (
    <Editor
      key={overlay.data.etag}
      saved={overlay.data}
      first={draftOf(overlay.data.item)}
      templates={templates}
      onReload={() => void overlay.refetch()}
    />
  );
}

function NewOverlay({ templates }: { templates: readonly Template[] }) {
  const [chosen, setChosen] = useState<{ template: Template | null } | null>(null);
  if (chosen) return <Editor saved={null} first={newDraft(chosen.template)} templates={templates} onReload={() => undefined} />;
  return (
    <>
      <PageHeader title="New overlay" description="Start with a designed template, or write html of your own." />
      <ul className="template-choice">
        {templates.map((template) => (
          <Choice key={template.name} title={template.title} text={template.description} onChoose={() => setChosen({ template })} />
        ))}
        <Choice
          title="HTML"
          text="Your own markup and styles, shown in a sandboxed frame."
          onChoose={() => setChosen({ template: null })}
        />
      </ul>
    </>
  );
}

function Choice({ title, text, onChoose }: { title: string; text: string; onChoose: () => void }) {
  return (
    <li>
      <button type="button" className="card template" onClick={onChoose}>
        <strong>{title}</strong>
        <span className="soft">{text}</span>
      </button>
    </li>
  );
}
