import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { request, type ApiAnswer } from "#studio/api/request.ts";
import { type ApiExcerpt, operationOf } from "#studio/api/schema.ts";
import { useParam } from "#studio/app/param.ts";
import { useSession } from "#studio/session/context.tsx";
import { BackLink } from "#studio/ui/back-link.tsx";
import { Button } from "#studio/ui/button.tsx";
import { DeleteDialog } from "#studio/ui/delete-dialog.tsx";
import { FormSkeleton } from "#studio/ui/form-skeleton.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ErrorState } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { changedText } from "./cell.tsx";
import { EditForm } from "./edit-form.tsx";
import { nameOf, type Resource, valueAt } from "./resource.ts";

interface Props {
  resource: Resource;
  excerpt: ApiExcerpt;
}

/** A form for one of a resource's items, or for a new one. */
export function EditScreen({ resource, excerpt }: Props) {
  const id = useParam("id");
  return (
    <>
      <BackLink to={resource.path}>{resource.title}</BackLink>
      {id === "" ? <NewItem resource={resource} excerpt={excerpt} /> : <Item key={id} resource={resource} excerpt={excerpt} id={id} />}
    </>
  );
}

function NewItem({ resource, excerpt }: Props) {
  const navigate = useNavigate();
  const created = () => {
    toast(`The ${resource.singular} has been created.`);
    void navigate({ to: resource.path });
  };
  return (
    <>
      <PageHeader title={`New ${resource.singular}`} />
      <EditForm resource={resource} excerpt={excerpt} onSaved={created} />
    </>
  );
}

function Item({ resource, excerpt, id }: Props & { id: string }) {
  const session = useSession();
  const item = useQuery({
    queryKey: [resource.path, "item", id],
    queryFn: () => request(session, operationOf(excerpt, resource.operations.read), { path: idPath(resource, excerpt, id) }),
    // What somebody is editing isn't replaced under their hands; a conflict shows when they save.
    staleTime: Infinity,
    gcTime: 0,
  });
  if (item.isPending) return <FormSkeleton label={`Loading the ${resource.singular}…`} />;
  if (item.isError) return <ErrorState error={item.error} retry={() => void item.refetch()} />;
  return <LoadedItem resource={resource} excerpt={excerpt} id={id} answer={item.data} onReload={() => void item.refetch()} />;
}

function LoadedItem({ resource, excerpt, id, answer, onReload }: Props & { id: string; answer: ApiAnswer; onReload: () => void }) {
  const { access } = useSession();
  const [isDeleting, setDeleting] = useState(false);
  const canRemove = resource.operations.remove !== undefined && resource.canRemove(access, id);
  return (
    <>
      <PageHeader title={nameOf(resource, answer.data)} description={changedText(valueAt(answer.data, "modified"))}>
        {resource.itemLinks?.map(({ path, text }) => (
          <Link key={path} to={`${resource.path}/${id}/${path}`} className="button button-secondary">
            {text}
          </Link>
        ))}
        {canRemove && (
          <Button onPress={() => setDeleting(true)} look="secondary">
            Delete…
          </Button>
        )}
      </PageHeader>
      <EditForm
        key={answer.etag}
        resource={resource}
        excerpt={excerpt}
        item={{ id, ...answer }}
        onSaved={() => {
          toast("Saved.");
          onReload();
        }}
        onReload={onReload}
      />
      {isDeleting && (
        <DeleteResource
          resource={resource}
          excerpt={excerpt}
          id={id}
          name={nameOf(resource, answer.data)}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}

function DeleteResource({ resource, excerpt, id, name, onClose }: Props & { id: string; name: string; onClose: () => void }) {
  const session = useSession();
  const operation = operationOf(excerpt, resource.operations.remove ?? "");
  return (
    <DeleteDialog
      noun={resource.singular}
      remove={() => request(session, operation, { path: idPath(resource, excerpt, id) })}
      list={[resource.path, "list"]}
      screen={resource.path}
      onClose={onClose}
    >
      <strong>{name}</strong> is deleted for everybody.
    </DeleteDialog>
  );
}

/** The parameter of the operation's path, whatever it is called. */
function idPath(resource: Resource, excerpt: ApiExcerpt, id: string): Record<string, string> {
  const [, name = "id"] = /\{(\w+)\}/.exec(operationOf(excerpt, resource.operations.read).path) ?? [];
  return { [name]: id };
}
