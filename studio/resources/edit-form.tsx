import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type FieldValues, useForm } from "react-hook-form";
import { TifoProblem } from "#sdk/client/problem.ts";
import { isOutdated } from "#sdk/client/latest.ts";
import { fieldsOf, sortFields } from "#studio/api/fields.ts";
import { fieldNameOf, fromForm, toForm } from "#studio/api/form-values.ts";
import { type ApiAnswer, request } from "#studio/api/request.ts";
import { type ApiExcerpt, operationOf, resolve } from "#studio/api/schema.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { FieldInputs } from "./field-input.tsx";
import { useFollowing } from "./following.ts";
import type { Resource } from "./resource.ts";

interface Props {
  resource: Resource;
  excerpt: ApiExcerpt;
  /** What is changed; without it, something new is created. */
  item?: ApiAnswer & { id: string };
  onSaved: () => void;
  /** Shows the saved version instead of what has been typed. */
  onReload?: () => void;
}

/** A form that the API's schema describes. The server's issues show at the fields that they are about. */
export function EditForm({ resource, excerpt, item, onSaved, onReload }: Props) {
  const session = useSession();
  const queries = useQueryClient();
  const { operation, fields, needsSite } = useMemo(() => describe(resource, excerpt, item !== undefined), [resource, excerpt, item]);
  const [problems, setProblems] = useState<string[]>([]);
  const [saved, setSaved] = useState<ApiAnswer | null>(null);
  const first = useState(() => item?.data ?? { ...resource.preset, ...resource.initial?.(Date.now()) })[0];
  const form = useForm<FieldValues>({ defaultValues: toForm(fields, first) });
  useFollowing(form, resource.follows);
  const canSave = item ? resource.operations.update !== undefined && resource.canChange(session.access, item.id) : true;

  function bodyOf(values: FieldValues): Record<string, unknown> {
    const body = { ...(!item && resource.preset), ...fromForm(fields, values, item?.data) };
    return needsSite ? { siteId: session.siteId, ...body } : body;
  }

  async function save(values: FieldValues, ifMatch = item?.etag): Promise<void> {
    setProblems([]);
    const path = item && { [/\{(\w+)\}/.exec(operation.path)?.[1] ?? "id"]: item.id };
    try {
      await request(session, operation, { body: bodyOf(values), ...(path && { path }), ...(item && { ifMatch: ifMatch ?? null }) });
      await queries.invalidateQueries({ queryKey: [resource.path, "list"] });
      form.reset(values);
      onSaved();
    } catch (error) {
      if (item && isOutdated(error)) await showConflict(item.id);
      else showProblem(error);
    }
  }

  async function showConflict(id: string): Promise<void> {
    const read = operationOf(excerpt, resource.operations.read);
    await request(session, read, { path: { [/\{(\w+)\}/.exec(read.path)?.[1] ?? "id"]: id } }).then(setSaved, showProblem);
  }

  function showProblem(error: unknown): void {
    const issues = error instanceof TifoProblem ? error.issues : [];
    const elsewhere: string[] = [];
    for (const { path, message } of issues) {
      const name = fieldNameOf(path, fields);
      if (name === null) elsewhere.push(path === "" ? message : `${path}: ${message}`);
      else form.setError(name, { type: "server", message });
    }
    const [first] = issues.flatMap(({ path }) => fieldNameOf(path, fields) ?? []);
    if (first !== undefined) form.setFocus(first);
    setProblems(issues.length === 0 ? [errorText(error)] : elsewhere);
  }

  return (
    <form className="edit-form" noValidate onSubmit={(event) => void form.handleSubmit((values) => save(values))(event)}>
      <FieldInputs fields={fields} control={form.control} isDisabled={!canSave} />
      {canSave && (
        <div className="edit-actions">
          {problems.map((problem) => (
            <Notice key={problem} tone="danger">
              {problem}
            </Notice>
          ))}
          <Button type="submit" look="primary" isPending={form.formState.isSubmitting}>
            {item ? "Save" : "Create"}
          </Button>
          {form.formState.isDirty && <Button onPress={() => form.reset()}>Discard changes</Button>}
        </div>
      )}
      {saved && (
        <ConflictDialog
          mine={bodyOf(form.getValues())}
          theirs={withSite(fromForm(fields, toForm(fields, saved.data), saved.data), needsSite ? session.siteId : undefined)}
          onKeepEditing={() => setSaved(null)}
          onTakeTheirs={() => {
            setSaved(null);
            onReload?.();
          }}
          onSaveMine={() => {
            setSaved(null);
            void form.handleSubmit((values) => save(values, saved.etag))();
          }}
        />
      )}
    </form>
  );
}

function withSite(body: Record<string, unknown>, siteId: string | undefined): Record<string, unknown> {
  return siteId === undefined ? body : { siteId, ...body };
}

function describe(resource: Resource, excerpt: ApiExcerpt, isChange: boolean) {
  const operationId = (isChange ? resource.operations.update : resource.operations.create) ?? resource.operations.read;
  const operation = operationOf(excerpt, operationId);
  const schema = operation.body ?? {};
  return {
    operation,
    fields: sortFields(fieldsOf(schema, excerpt, resource.hidden), resource.order),
    needsSite: resolve(schema, excerpt).required?.includes("siteId") === true,
  };
}
