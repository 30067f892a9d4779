import { useQuery } from "@tanstack/react-query";
import { useParam } from "#studio/app/param.ts";
import { loaded } from "#sdk/client/latest.ts";
import { useSession } from "#studio/session/context.tsx";
import { BackLink } from "#studio/ui/back-link.tsx";
import { FormSkeleton } from "#studio/ui/form-skeleton.tsx";
import { ErrorState } from "#studio/ui/states.tsx";
import { Editor } from "./editor.tsx";
import "./navigation.css";

/** A menu, or a new one. */
export default function NavigationEditor() {
  const id = useParam("id");
  return (
    <>
      <BackLink to="/content/navigation">Navigation</BackLink>
      {id === "" ? <Editor saved={null} onReload={() => undefined} /> : <Saved key={id} id={id} />}
    </>
  );
}

function Saved({ id }: { id: string }) {
  const { client } = useSession();
  const navigation = useQuery({
    queryKey: ["/content/navigation", "edited", id],
    queryFn: () => loaded(client.api.GET("/navigation/v1/{id}", { params: { path: { id } } })),
    // What somebody is editing isn't replaced under their hands; a conflict shows when they save.
    staleTime: Infinity,
    gcTime: 0,
  });
  if (navigation.isPending) return <FormSkeleton label="Loading the navigation…" />;
  if (navigation.isError) return <ErrorState error={navigation.error} retry={() => void navigation.refetch()} />;
  return <Editor key={navigation.data.etag} saved={navigation.data} onReload={() => void navigation.refetch()} />;
}
