import { type FormEvent, useMemo, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { once } from "#studio/api/once.ts";
import { ConflictDialog } from "#studio/resources/conflict-dialog.tsx";
import { type Loaded, loaded } from "#sdk/client/latest.ts";
import { useSaving } from "#studio/resources/use-saving.ts";
import { useSession } from "#studio/session/context.tsx";
import { changedText } from "#studio/resources/cell.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { bodyOf, described, type Draft, draftOf, NEW, pageIdsOf } from "./draft.ts";
import { EntriesCard } from "./entries-card.tsx";
import { LinksCard } from "./links-card.tsx";
import { type Navigation, usePageNames } from "./queries.ts";
import { type Entry, placeOf } from "./tree.ts";

interface Props {
  /** Null for a new one. */
  saved: Loaded<Navigation> | null;
  onReload: () => void;
}

const TYPES = [
  { value: "default", text: "Default: on every page without one of its own" },
  { value: "custom", text: "Custom: on the pages that it is applied to" },
];

const SHOWN = /^(name|externalLinks\.\d+\.(name|url))$/;

/** A menu's entries and links. */
export function Editor({ saved, onReload }: Props) {
  const { access } = useSession();
  const first = useMemo(() => (saved ? draftOf(saved.item) : NEW), [saved]);
  const [draft, setDraft] = useState(first);
  /** As they were sent: the server's issues are about their places. */
  const [sent, setSent] = useState<readonly Entry[]>([]);
  const [isDeleting, setDeleting] = useState(false);
  const saving = useNavigationSaving(saved, onReload);
  const names = usePageNames([...pageIdsOf(draft.entries), ...(saving.theirs ? pageIdsOf(draftOf(saving.theirs.item).entries) : [])]);
  const isReadOnly = !access.writesSite;
  const isChanged = draft !== first;
  const save = (etag?: string | null): void => {
    setSent(draft.entries);
    void saving.save(draft, etag ?? saved?.etag);
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save();
  };
  const common = { draft, setDraft, isReadOnly };

  return (
    <>
      <PageHeader title={saved?.item.name ?? "New navigation"} description={changedText(saved?.item.modified)}>
        {saved && !isReadOnly && <Button onPress={() => setDeleting(true)}>Delete…</Button>}
      </PageHeader>
      <form className="navigation-editor" noValidate onSubmit={submit}>
        <section className="card navigation-card" aria-label="Navigation">
          <TextField
            label="Name"
            value={draft.name}
            onChange={(name) => setDraft({ ...draft, name })}
            maxLength={200}
            error={saving.issues.get("name")}
            isReadOnly={isReadOnly}
          />
          <Select
            label="Type"
            value={draft.type}
            onChange={(type) => setDraft({ ...draft, type: type === "default" ? "default" : "custom" })}
            options={TYPES}
            isDisabled={isReadOnly}
            description="A site has one default. Another one that becomes the default makes this one custom."
          />
        </section>
        <EntriesCard {...common} names={names} issues={issuesOf(saving.issues, sent)} />
        <LinksCard {...common} issues={saving.issues} />
        <div className="navigation-actions">
          {saving.problems.map((problem) => (
            <Notice key={problem} tone="danger">
              {problem}
            </Notice>
          ))}
          {isReadOnly ? (
            <span className="soft">Your role only reads.</span>
          ) : (
            <>
              <Button type="submit" look="primary" isDisabled={saving.isPending || (saved !== null && !isChanged)}>
                {saved ? "Save" : "Create"}
              </Button>
              {saved && isChanged && <Button onPress={() => setDraft(first)}>Discard changes</Button>}
              <span className="soft">{saved && isChanged && "Not saved yet"}</span>
            </>
          )}
        </div>
      </form>
      {isDeleting && saved && (
        <Confirm
          title="Delete the navigation?"
          action="Delete"
          isPending={saving.isPending}
          onConfirm={saving.remove}
          onClose={() => setDeleting(false)}
        >
          <p>
            <strong>{saved.item.name}</strong> is deleted. Pages that used it show the default one again. This can&apos;t be undone.
          </p>
        </Confirm>
      )}
      {saving.theirs && (
        <ConflictDialog
          mine={described(draft, names)}
          theirs={described(draftOf(saving.theirs.item), names)}
          onKeepEditing={saving.keepEditing}
          onTakeTheirs={onReload}
          onSaveMine={() => save(saving.theirs?.etag)}
        />
      )}
    </>
  );
}

function useNavigationSaving(saved: Loaded<Navigation> | null, onReload: () => void) {
  const { siteId, client } = useSession();
  const path = { id: saved?.item._id ?? "" };
  return useSaving({
    noun: "navigation",
    path: "/content/navigation",
    saved,
    create: (draft: Draft) => ok(client.api.POST("/navigation/v1", { body: bodyOf(draft, siteId), ...once })),
    read: () => loaded(client.api.GET("/navigation/v1/{id}", { params: { path } })),
    update: (draft, headers) => ok(client.api.PUT("/navigation/v1/{id}", { params: { path }, body: bodyOf(draft, siteId), headers })),
    remove: () => ok(client.api.DELETE("/navigation/v1/{id}", { params: { path } })),
    isShown: (issue) => SHOWN.test(issue) || issue.startsWith("parents."),
    onReload,
  });
}

/** The server's objections by entry, with the field that each is about. */
function issuesOf(issues: ReadonlyMap<string, string>, sent: readonly Entry[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const [path, message] of issues) {
    const place = placeOf(sent, path);
    if (place) found.set(place.key, (found.get(place.key) ?? new Map<string, string>()).set(place.field, message));
  }
  return found;
}
