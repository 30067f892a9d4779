import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParam } from "#studio/app/param.ts";
import { useSession } from "#studio/session/context.tsx";
import { BackLink } from "#studio/ui/back-link.tsx";
import { FormSkeleton } from "#studio/ui/form-skeleton.tsx";
import { ErrorState } from "#studio/ui/states.tsx";
import { type Draft, draftOf, NEW_THEME, readTheme } from "./model.ts";
import { ThemeEditor } from "./theme-editor.tsx";
import "#studio/overlays/overlays.css";
import "./themes.css";

/** A theme of the site, or a new one; one of the deployment can be copied. */
export default function ThemeScreen() {
  const id = useParam("id");
  return (
    <>
      <BackLink to="/content/themes">Themes</BackLink>
      {id === "" ? <ThemeEditor saved={null} first={NEW_THEME} onReload={() => undefined} /> : <SavedTheme key={id} id={id} />}
    </>
  );
}

function SavedTheme({ id }: { id: string }) {
  const { client } = useSession();
  const [copy, setCopy] = useState<Draft | null>(null);
  const theme = useQuery({
    queryKey: ["/content/themes", "edited", id],
    queryFn: () => readTheme(client, id),
    // What somebody is editing isn't replaced under their hands; a conflict shows when they save.
    staleTime: Infinity,
    gcTime: 0,
  });
  if (theme.isPending) return <FormSkeleton label="Loading the theme…" />;
  if (theme.isError) return <ErrorState error={theme.error} retry={() => void theme.refetch()} />;
  if (copy) return <ThemeEditor saved={null} first={copy} onReload={() => undefined} />;
  const first = draftOf(theme.data.item);
  return (
    <ThemeEditor
      key={theme.data.etag}
      saved={theme.data}
      first={first}
      onReload={() => void theme.refetch()}
      onCopy={(draft) => setCopy({ ...draft, name: `${draft.name} (copy)`.slice(0, 100) })}
    />
  );
}
