import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { TifoProblem } from "#sdk/client/index.ts";
import { ifMatch, type Loaded } from "#sdk/client/latest.ts";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";

interface Options<Item, Body> {
  /** In the singular: "overlay". */
  noun: string;
  /** The address of the list below `/studio`, which is also the start of its queries' keys. */
  path: string;
  /** Null for a new one. */
  saved: Loaded<Item> | null;
  create: (body: Body) => Promise<{ _id: string }>;
  read: () => Promise<Loaded<Item>>;
  update: (body: Body, headers: Record<string, string>) => Promise<unknown>;
  remove: () => Promise<unknown>;
  /** Whether a field shows what the server objects to at this path; the rest is shown below the form. */
  isShown: (path: string) => boolean;
  /** Reads the item again, after it was saved. */
  onReload: () => void;
}

/** Creates, changes and deletes an item of a screen that is made for it. What somebody else has changed is `theirs`, and isn't overwritten. */
export function useSaving<Item, Body>({ noun, path, saved, create, read, update, remove, isShown, onReload }: Options<Item, Body>) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isPending, setPending] = useState(false);
  const [issues, setIssues] = useState<ReadonlyMap<string, string>>(new Map());
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [theirs, setTheirs] = useState<Loaded<Item> | null>(null);

  function fail(error: unknown): void {
    const found = error instanceof TifoProblem ? error.issues : [];
    setIssues(new Map(found.map((issue) => [issue.path, issue.message])));
    const elsewhere = found
      .filter((issue) => !isShown(issue.path))
      .map((issue) => (issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`));
    setProblems(found.length === 0 ? [errorText(error)] : elsewhere.length === 0 ? ["Some fields aren’t right yet."] : elsewhere);
  }

  async function run(work: () => Promise<void>): Promise<void> {
    setPending(true);
    setIssues(new Map());
    setProblems([]);
    await work().catch(fail);
    setPending(false);
  }

  const save = (body: Body, etag = saved?.etag): Promise<void> =>
    run(async () => {
      setTheirs(null);
      if (!saved) {
        const { _id } = await create(body);
        toast(`The ${noun} has been created.`);
        await queries.invalidateQueries({ queryKey: [path] });
        return navigate({ to: `${path}/${_id}` });
      }
      try {
        await update(body, ifMatch(etag ?? null));
      } catch (error) {
        if (!(error instanceof TifoProblem) || error.status !== 412) throw error;
        return setTheirs(await read());
      }
      toast("Saved.");
      await queries.invalidateQueries({ queryKey: [path, "list"] });
      onReload();
    });

  const removeItem = (): void =>
    void run(async () => {
      await remove();
      toast(`The ${noun} has been deleted.`);
      await queries.invalidateQueries({ queryKey: [path, "list"] });
      await navigate({ to: path });
    });

  return { isPending, issues, problems, theirs, save, remove: removeItem, keepEditing: () => setTheirs(null) };
}
