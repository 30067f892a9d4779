import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ok, TifoProblem } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import type { Draft, Loaded } from "./model.ts";

/** Fields that show what the server objects to; the rest is shown below the form. */
const SHOWN_AT_FIELD = /^(name|description|duration|contents\.\d+\.(html|variables\..+))$/;

/** Creates, changes and deletes an overlay. */
export function useSaving(saved: Loaded | null, onReload: () => void) {
  const { siteId, client } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isPending, setPending] = useState(false);
  const [issues, setIssues] = useState<ReadonlyMap<string, string>>(new Map());
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [theirs, setTheirs] = useState<Loaded | null>(null);
  const id = saved?.overlay._id ?? "";

  function fail(error: unknown): void {
    const found = error instanceof TifoProblem ? error.issues : [];
    setIssues(new Map(found.map(({ path, message }) => [path, message])));
    const elsewhere = found
      .filter(({ path }) => !SHOWN_AT_FIELD.test(path))
      .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
    setProblems(found.length === 0 ? [errorText(error)] : elsewhere.length === 0 ? ["Some fields aren’t right yet."] : elsewhere);
  }

  async function run(work: () => Promise<void>): Promise<void> {
    setPending(true);
    setIssues(new Map());
    setProblems([]);
    await work().catch(fail);
    setPending(false);
  }

  const save = (draft: Draft, etag = saved?.etag): Promise<void> =>
    run(async () => {
      setTheirs(null);
      const body = { siteId, ...draft, ...(saved && { cta: saved.overlay.cta }) };
      if (!saved) {
        const { _id } = await ok(client.api.POST("/overlay/v1", { body }));
        toast("The overlay has been created.");
        await queries.invalidateQueries({ queryKey: ["/overlays"] });
        return navigate({ to: `/overlays/${_id}` });
      }
      const headers = typeof etag === "string" ? { "If-Match": etag } : {};
      try {
        await ok(client.api.PUT("/overlay/v1/{id}", { params: { path: { id } }, body, headers }));
      } catch (error) {
        if (!(error instanceof TifoProblem) || error.status !== 412) throw error;
        const call = client.api.GET("/overlay/v1/{id}", { params: { path: { id } } });
        return setTheirs({ overlay: await ok(call), etag: (await call).response.headers.get("ETag") });
      }
      toast("Saved.");
      await queries.invalidateQueries({ queryKey: ["/overlays", "list"] });
      onReload();
    });

  const remove = (): void =>
    void run(async () => {
      await ok(client.api.DELETE("/overlay/v1/{id}", { params: { path: { id } } }));
      toast("The overlay has been deleted.");
      await queries.invalidateQueries({ queryKey: ["/overlays", "list"] });
      await navigate({ to: "/overlays" });
    });

  return { isPending, issues, problems, theirs, save, remove, keepEditing: () => setTheirs(null) };
}
