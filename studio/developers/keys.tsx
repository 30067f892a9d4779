import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { done, ok, type Schemas } from "#sdk/client/index.ts";
import { readAll } from "#sdk/client/lists.ts";
import { cellText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, LiveTable } from "#studio/ui/data-table.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Empty, errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

type Key = Schemas["ApiKey"];
const LIST = ["api-keys"];

/** The site's developer keys: each secret is shown once, when it is made. */
export default function Keys() {
  const { client, access } = useSession();
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<Schemas["ApiKeyWithSecret"] | null>(null);
  const keys = useQuery({
    queryKey: LIST,
    queryFn: () => readAll((query) => ok(client.api.GET("/site/v1/api-keys", { params: { query } }))),
  });
  const actions: Column<Key> = { title: "Actions", kind: "actions", cell: (key) => <KeyActions apiKey={key} onSecret={setSecret} /> };
  return (
    <>
      <PageHeader
        title="API keys"
        description={
          <>
            For servers only. A key acts as a site admin, limited to its roles.{" "}
            <a href="/concepts/authentication">How requests are authenticated</a>
          </>
        }
      >
        {access.writesSite && (
          <Button look="primary" onPress={() => setCreating(true)}>
            New key
          </Button>
        )}
      </PageHeader>
      <LiveTable
        label="API keys"
        noun="the keys"
        list={keys}
        read={keys.data ?? null}
        empty={
          <Empty
            title="There are no keys yet."
            icon="key"
            action={access.writesSite && <Button onPress={() => setCreating(true)}>Create the first key</Button>}
          >
            A server needs one to call the API: to show overlays, to send what happens in a match, to read results.
          </Empty>
        }
        keyOf={({ _id }) => _id}
        columns={access.writesSite ? [...COLUMNS, actions] : COLUMNS}
      />
      {isCreating && (
        <NewKeyDialog
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false);
            setSecret(key);
            void keys.refetch();
          }}
        />
      )}
      {secret && <SecretDialog name={secret.name} secret={secret.key} onClose={() => setSecret(null)} />}
    </>
  );
}

const COLUMNS: readonly Column<Key>[] = [
  { title: "Name", kind: "heading", cell: ({ name }) => name },
  { title: "Used by", cell: ({ clientName }) => cellText("clientName", clientName) },
  { title: "Roles", cell: ({ roles }) => (roles.includes("*") ? "Everything" : roles.join(", ")) },
  { title: "Expires", cell: ({ expirationTime }) => (expirationTime === null ? "Never" : cellText("expirationTime", expirationTime)) },
  { title: "Previous secret works until", cell: ({ previousKeyExpires }) => cellText("previousKeyExpires", previousKeyExpires) },
];

function KeyActions({ apiKey, onSecret }: { apiKey: Key; onSecret: (key: Schemas["ApiKeyWithSecret"]) => void }) {
  const { client } = useSession();
  const queries = useQueryClient();
  const [asking, setAsking] = useState<"rotate" | "revoke" | null>(null);
  const params = { path: { id: apiKey._id } };
  const settled = {
    onError: (error: unknown) => toast(errorText(error), "danger"),
    async onSettled() {
      setAsking(null);
      await queries.invalidateQueries({ queryKey: LIST });
    },
  };
  const rotation = useMutation({
    mutationFn: () => ok(client.api.POST("/site/v1/api-keys/{id}/rotate", { params })),
    onSuccess: onSecret,
    ...settled,
  });
  const revocation = useMutation({
    mutationFn: () => done(client.api.DELETE("/site/v1/api-keys/{id}", { params })),
    onSuccess: () => toast("The key has been revoked."),
    ...settled,
  });
  return (
    <div className="page-header-actions">
      <Button size="small" aria-label={`Rotate ${apiKey.name}`} onPress={() => setAsking("rotate")}>
        Rotate…
      </Button>
      <Button size="small" aria-label={`Revoke ${apiKey.name}`} onPress={() => setAsking("revoke")}>
        Revoke…
      </Button>
      {asking === "rotate" && (
        <Confirm
          title="Rotate the key?"
          action="Rotate"
          isPending={rotation.isPending}
          onConfirm={() => rotation.mutate()}
          onClose={() => setAsking(null)}
        >
          <p>
            <strong>{apiKey.name}</strong> gets a new secret. The present one keeps working for 24 hours; an older one stops now.
          </p>
        </Confirm>
      )}
      {asking === "revoke" && (
        <Confirm
          title="Revoke the key?"
          action="Revoke"
          isPending={revocation.isPending}
          onConfirm={() => revocation.mutate()}
          onClose={() => setAsking(null)}
        >
          <p>
            Requests with <strong>{apiKey.name}</strong> are rejected from now on. This can&apos;t be undone.
          </p>
        </Confirm>
      )}
    </div>
  );
}
