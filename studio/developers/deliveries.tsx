import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type Schemas, TifoProblem } from "#sdk/client/index.ts";
import { labelOf } from "#studio/api/fields.ts";
import { cellText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Breakable } from "#studio/ui/breakable.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, LiveTable } from "#studio/ui/data-table.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { EndpointDialog } from "./endpoint-dialog.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

type Delivery = Schemas["WebhookDelivery"];

const STATES = ["pending", "delivered", "failed"] as const;
const LIST = ["webhook-deliveries"];
const REFRESH_MS = 10_000;

/** What was sent to the site's webhook endpoint, what it answered, and what is due. */
export default function Deliveries() {
  const { client, access } = useSession();
  const queries = useQueryClient();
  const [isConfiguring, setConfiguring] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [wanted, setWanted] = useState("");
  const state = STATES.find((known) => known === wanted);
  const deliveries = useQuery({
    queryKey: [...LIST, state],
    queryFn: () => ok(client.api.GET("/webhooks/v1/deliveries", { params: { query: { limit: 100, ...(state && { state }) } } })),
    refetchInterval: REFRESH_MS,
  });
  const sample = useMutation({
    mutationFn: () => ok(client.api.POST("/webhooks/v1/test", { body: {} })),
    async onSuccess() {
      toast("The sample is on its way.");
      await queries.invalidateQueries({ queryKey: LIST });
    },
    onError: (error) => toast(errorText(error), "danger"),
  });
  const hasEndpoint = !(deliveries.error instanceof TifoProblem && deliveries.error.status === 404);
  return (
    <>
      <PageHeader title="Webhook deliveries" description="Kept for 7 days after they end, and while they are pending.">
        {access.writesSite && (
          <>
            {hasEndpoint && (
              <Button isPending={sample.isPending} onPress={() => sample.mutate()}>
                Send a sample
              </Button>
            )}
            <Button onPress={() => setConfiguring(true)}>Endpoint…</Button>
          </>
        )}
      </PageHeader>
      <div className="toolbar">
        <Select
          label="State"
          value={wanted}
          onChange={setWanted}
          options={[{ value: "", text: "All" }, ...STATES.map((value) => ({ value, text: labelOf(value) }))]}
        />
      </div>
      {hasEndpoint ? (
        <LiveTable
          label="Webhook deliveries"
          noun="the deliveries"
          list={deliveries}
          read={deliveries.data?.results ?? null}
          empty={<Empty title="There are no deliveries." />}
          keyOf={({ _id }) => _id}
          columns={access.writesSite ? [...COLUMNS, RESEND] : COLUMNS}
        />
      ) : (
        <Empty title="The site has no webhook endpoint.">
          {access.writesSite ? "With “Endpoint…”, choose where its events are sent." : "A site admin can say where its events are sent."}
        </Empty>
      )}
      {isConfiguring && <EndpointDialog onClose={() => setConfiguring(false)} onSecret={setSecret} />}
      {secret !== null && (
        <SecretDialog name="Webhook secret" label="Secret that signs the deliveries" secret={secret} onClose={() => setSecret(null)} />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  { title: "Event", kind: "heading", cell: ({ type }) => <Breakable text={type} /> },
  { title: "State", cell: ({ state }) => labelOf(state) },
  { title: "Created", cell: ({ created }) => cellText("created", created) },
  { title: "Attempts", kind: "number", cell: ({ attempts }) => attempts.length },
  { title: "Last response", cell: lastResponse },
  { title: "Next attempt", cell: ({ nextTry }) => cellText("nextTry", nextTry) },
];
const RESEND: Column<Delivery> = { title: "Actions", kind: "actions", cell: (delivery) => <Resend delivery={delivery} /> };

function lastResponse({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (!last) return "–";
  const answer = last.status === null ? (last.error ?? "No response") : String(last.status);
  return `${answer}, after ${String(last.duration)} ms`;
}

function Resend({ delivery }: { delivery: Delivery }) {
  const { client } = useSession();
  const queries = useQueryClient();
  const resend = useMutation({
    mutationFn: () => ok(client.api.POST("/webhooks/v1/deliveries/{id}/redeliver", { params: { path: { id: delivery._id } } })),
    async onSuccess() {
      toast("The delivery is sent again.");
      await queries.invalidateQueries({ queryKey: LIST });
    },
    onError: (error) => toast(errorText(error), "danger"),
  });
  return (
    <Button size="small" aria-label={`Resend ${delivery.type}`} isPending={resend.isPending} onPress={() => resend.mutate()}>
      Resend
    </Button>
  );
}
