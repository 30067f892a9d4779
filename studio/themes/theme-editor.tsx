import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ok, TifoProblem } from "#sdk/client/index.ts";
import { once } from "#studio/api/once.ts";
import { ConflictDialog } from "#studio/resources/conflict-dialog.tsx";
import { useSaving } from "#studio/resources/use-saving.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { bodyOf, type Draft, type Loaded, readTheme, typeOf } from "./model.ts";
import { ThemeFields } from "./theme-fields.tsx";
import { ThemePreview } from "./theme-preview.tsx";

interface Props {
  /** Null for a new one. */
  saved: Loaded | null;
  first: Draft;
  onReload: () => void;
  onCopy?: (draft: Draft) => void;
}

const SHOWN_AT_FIELD = /^(name|mode|logo|icon|backgrounds|colors\..+|(typography|button)\..+)$/;

/** A theme's fields, and what overlays look like in it. */
export function ThemeEditor({ saved, first, onReload, onCopy }: Props) {
  const { siteId, access } = useSession();
  const [draft, setDraft] = useState(first);
  const [isDeleting, setDeleting] = useState(false);
  const isOwn = saved === null || saved.item.siteId === siteId;
  const canWrite = access.writesSite && isOwn;
  const isChanged = JSON.stringify(draft) !== JSON.stringify(first);
  const saving = useThemeSaving(saved, onReload);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void saving.save(draft);
  };
  return (
    <>
      <PageHeader title={saved?.item.name ?? "New theme"} description={saved && <span className="mono">{saved.item._id}</span>}>
        {onCopy && access.writesSite && <Button onPress={() => onCopy(draft)}>{isOwn ? "Duplicate" : "Make my own"}</Button>}
        {saved && canWrite && <Button onPress={() => setDeleting(true)}>Delete…</Button>}
      </PageHeader>
      <form className="overlay-editor" noValidate onSubmit={submit}>
        <ThemeFields draft={draft} onChange={setDraft} issues={saving.issues} isReadOnly={!canWrite} />
        <ThemePreview draft={draft} />
        <div className="overlay-actions">
          {saving.problems.map((problem) => (
            <Notice key={problem} tone="danger">
              {problem}
            </Notice>
          ))}
          {canWrite ? (
            <>
              <Button type="submit" look="primary" isDisabled={saving.isPending || (saved !== null && !isChanged)}>
                {saved ? "Save" : "Create"}
              </Button>
              {saved !== null && isChanged && <Button onPress={() => setDraft(first)}>Discard changes</Button>}
              <span className="soft">{saved !== null && isChanged && "Not saved yet"}</span>
            </>
          ) : (
            <span className="soft">
              {isOwn ? "Your role only reads." : "This theme belongs to the deployment. Make your own of it to change it."}
            </span>
          )}
        </div>
      </form>
      {isDeleting && saved && (
        <Confirm
          title="Delete the theme?"
          action="Delete"
          isPending={saving.isPending}
          onConfirm={() => {
            saving.remove();
            setDeleting(false);
          }}
          onClose={() => setDeleting(false)}
        >
          <p>
            <strong>{saved.item.name}</strong> is deleted, unless a page uses it. This can&apos;t be undone.
          </p>
        </Confirm>
      )}
      {saving.theirs && (
        <ConflictDialog
          mine={bodyOf(draft, typeOf(saved?.item ?? null))}
          theirs={saving.theirs.item}
          onKeepEditing={saving.keepEditing}
          onTakeTheirs={onReload}
          onSaveMine={() => void saving.save(draft, saving.theirs?.etag)}
        />
      )}
    </>
  );
}

function useThemeSaving(saved: Loaded | null, onReload: () => void) {
  const { client } = useSession();
  const queries = useQueryClient();
  const path = { id: saved?.item._id ?? "" };
  /** The editor of overlays has the themes, too. */
  const refreshed = async <T,>(work: Promise<T>): Promise<T> => {
    const result = await work;
    await queries.invalidateQueries({ queryKey: ["themes"] });
    return result;
  };
  return useSaving({
    noun: "theme",
    path: "/content/themes",
    saved,
    create: (draft: Draft) => refreshed(ok(client.api.POST("/themes/v1/custom", { body: bodyOf(draft, "custom"), ...once }))),
    read: () => readTheme(client, path.id),
    update: (draft, headers) => {
      const body = bodyOf(draft, typeOf(saved?.item ?? null));
      return refreshed(ok(client.api.PUT("/themes/v1/custom/{id}", { params: { path }, body, headers })));
    },
    remove: async () => {
      const { result, pages } = await refreshed(ok(client.api.DELETE("/themes/v1/{id}", { params: { path } })));
      if (result) return;
      const names = pages.map(({ name, slug }) => (name === "" ? slug : name)).join(", ");
      throw new TifoProblem({ status: 409, code: "conflict", message: `Pages use this theme; give them another one first: ${names}` });
    },
    isShown: (issue) => SHOWN_AT_FIELD.test(issue),
    onReload,
  });
}
