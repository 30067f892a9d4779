import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { ConflictDialog } from "#studio/resources/conflict-dialog.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { ElementFields } from "./element-fields.tsx";
import { type Draft, type Element, type Loaded, newElement, type Template } from "./model.ts";
import { PreviewPanel } from "./preview-panel.tsx";
import { useSaving } from "./use-saving.ts";

interface Props {
  /** Null for a new one. */
  saved: Loaded | null;
  first: Draft;
  templates: readonly Template[];
  onReload: () => void;
}

const MAX_ELEMENTS = 8;

/** An overlay's fields, and what they look like. */
export function Editor({ saved, first, templates, onReload }: Props) {
  const { access } = useSession();
  const [draft, setDraft] = useState(first);
  const [duration, setDuration] = useState(String(first.duration));
  const [isDeleting, setDeleting] = useState(false);
  const canWrite = access.writesSite;
  const complete = { ...draft, duration: Number(duration) };
  const isChanged = JSON.stringify(complete) !== JSON.stringify(first);
  const saving = useSaving(saved, onReload);
  const issue = (path: string) => saving.issues.get(path);
  const setElement = (at: number, element: Element): void =>
    setDraft({ ...draft, contents: draft.contents.map((one, index) => (index === at ? element : one)) });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void saving.save(complete);
  };

  return (
    <>
      <PageHeader title={saved?.item.name ?? "New overlay"} description={saved && <span className="mono">{saved.item._id}</span>}>
        {saved && (
          <Link className="button button-secondary button-regular" to={`/overlays/${saved.item._id}/fields`}>
            All fields
          </Link>
        )}
        {saved && canWrite && <Button onPress={() => setDeleting(true)}>Delete…</Button>}
      </PageHeader>
      <form className="overlay-editor" noValidate onSubmit={submit}>
        <div className="overlay-fields">
          <section className="card overlay-card" aria-label="Overlay">
            <TextField
              label="Name"
              value={draft.name}
              onChange={(name) => setDraft({ ...draft, name })}
              maxLength={200}
              error={issue("name")}
              isReadOnly={!canWrite}
            />
            <TextField
              label="Description"
              value={draft.description}
              onChange={(description) => setDraft({ ...draft, description })}
              maxLength={2000}
              error={issue("description")}
              isReadOnly={!canWrite}
            />
            <TextField
              label="Seconds on screen"
              inputMode="numeric"
              value={duration}
              onChange={setDuration}
              error={issue("duration")}
              isReadOnly={!canWrite}
            />
          </section>
          {draft.contents.map((element, at) => (
            <ElementCard
              key={at}
              at={at}
              element={element}
              count={draft.contents.length}
              templates={templates}
              issues={issuesOf(saving.issues, at)}
              isReadOnly={!canWrite}
              onChange={(changed) => setElement(at, changed)}
              onRemove={() => setDraft({ ...draft, contents: draft.contents.filter((_, index) => index !== at) })}
            />
          ))}
          {canWrite && draft.contents.length < MAX_ELEMENTS && (
            <AddElement templates={templates} onAdd={(element) => setDraft({ ...draft, contents: [...draft.contents, element] })} />
          )}
        </div>
        <PreviewPanel contents={draft.contents} templates={templates} />
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
              {saved !== null && isChanged && (
                <Button
                  onPress={() => {
                    setDraft(first);
                    setDuration(String(first.duration));
                  }}
                >
                  Discard changes
                </Button>
              )}
              <span className="soft">{saved !== null && isChanged && "Not saved yet"}</span>
            </>
          ) : (
            <span className="soft">Your role only reads.</span>
          )}
        </div>
      </form>
      {isDeleting && saved && (
        <Confirm
          title="Delete the overlay?"
          action="Delete"
          isPending={saving.isPending}
          onConfirm={saving.remove}
          onClose={() => setDeleting(false)}
        >
          <p>
            <strong>{saved.item.name}</strong> is deleted for everybody. This can&apos;t be undone.
          </p>
        </Confirm>
      )}
      {saving.theirs && (
        <ConflictDialog
          mine={complete}
          theirs={saving.theirs.item}
          onKeepEditing={saving.keepEditing}
          onTakeTheirs={onReload}
          onSaveMine={() => void saving.save(complete, saving.theirs?.etag)}
        />
      )}
    </>
  );
}

interface ElementCardProps {
  at: number;
  element: Element;
  count: number;
  templates: readonly Template[];
  issues: ReadonlyMap<string, string>;
  isReadOnly: boolean;
  onChange: (element: Element) => void;
  onRemove: () => void;
}

function ElementCard({ at, element, count, onRemove, ...props }: ElementCardProps) {
  const title = titleOf(element, props.templates);
  return (
    <section className="card overlay-card" aria-labelledby={`element-${at}`}>
      <div className="overlay-card-head">
        <h2 id={`element-${at}`}>{count > 1 ? `${at + 1}. ${title}` : title}</h2>
        {count > 1 && !props.isReadOnly && (
          <Button size="small" look="quiet" onPress={onRemove} aria-label={`Remove ${title}`}>
            Remove
          </Button>
        )}
      </div>
      <ElementFields element={element} {...props} />
    </section>
  );
}

function titleOf(element: Element, templates: readonly Template[]): string {
  if (element.kind === "kit") return templates.find(({ name }) => name === element.template)?.title ?? element.template;
  return { html: "HTML", rive: "Rive animation", ograf: "OGraf graphic" }[element.kind];
}

function AddElement({ templates, onAdd }: { templates: readonly Template[]; onAdd: (element: Element) => void }) {
  const [chosen, setChosen] = useState("html");
  return (
    <div className="overlay-add">
      <Select
        label="Another element"
        value={chosen}
        onChange={setChosen}
        options={[{ value: "html", text: "HTML" }, ...templates.map(({ name, title }) => ({ value: name, text: title }))]}
      />
      <Button onPress={() => onAdd(newElement(templates.find(({ name }) => name === chosen) ?? null))}>Add</Button>
    </div>
  );
}

/** The server's objections to one element, by the path within it. */
function issuesOf(issues: ReadonlyMap<string, string>, at: number): ReadonlyMap<string, string> {
  const start = `contents.${at}.`;
  return new Map([...issues].filter(([path]) => path.startsWith(start)).map(([path, message]) => [path.slice(start.length), message]));
}
