import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type Schemas, TifoProblem } from "#sdk/client/index.ts";
import { labelOf } from "#studio/api/fields.ts";
import { useSearch } from "#studio/app/search.ts";
import { cellText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Breakable } from "#studio/ui/breakable.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, LiveTable } from "#studio/ui/data-table.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { DeliveryDialog } from "./delivery-dialog.tsx";
import { DELIVERY_STATES, DeliveryState } from "./delivery-state.tsx";
import { EndpointDialog } from "./endpoint-dialog.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import "./developers.css";

type Delivery = Schemas["WebhookDelivery"];

const LIST = ["webhook-deliveries"];
const REFRESH_MS = 10_000;

/** What was sent to the site's webhook endpoints, what they answered, and what is due. */
export default function Deliveries() {
  const { client, access } = useSession();
  const queries = useQueryClient();
  const [search, setSearch] = useSearch();
  const [isConfiguring, setConfiguring] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [opened, setOpened] = useState<Delivery | null>(null);
  const state = DELIVERY_STATES.find(({ value }) => value === search["state"])?.value;
  const webhookId = search["webhook"] ?? "";
  const endpoints = useQuery({
    queryKey: ["webhook-endpoints"],
    queryFn: async () => (await ok(client.api.GET("/webhooks/v1"))).programmatic,
    staleTime: 60_000,
  });
  const deliveries = useQuery({
    queryKey: [...LIST, webhookId, state],
    queryFn: () => {
      const query = { limit: 100, ...(state && { state }), ...(webhookId !== "" && { webhookId }) };
      return ok(client.api.GET("/webhooks/v1/deliveries", { params: { query } }));
    },
    refetchInterval: REFRESH_MS,
  });
  const resend = useResend();
  // One that is sent again may leave the list, which has a single state.
  const shown = deliveries.data?.results.find(({ _id }) => _id === opened?._id) ?? opened;
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
        {endpoints.data && endpoints.data.length > 0 && (
          <Select
            label="Endpoint"
            value={webhookId}
            onChange={(webhook) => setSearch({ webhook })}
            options={[
              { value: "", text: "The site's own" },
              ...endpoints.data.map(({ id, webhookUrl, service }) => ({ value: id, text: `${serviceText(service)} → ${webhookUrl}` })),
            ]}
          />
        )}
        <Select
          label="State"
          value={state ?? ""}
          onChange={(next) => setSearch({ state: next })}
          options={[{ value: "", text: "All" }, ...DELIVERY_STATES]}
        />
      </div>
      {hasEndpoint ? (
        <LiveTable
          label="Webhook deliveries"
          noun="the deliveries"
          list={deliveries}
          read={deliveries.data?.results ?? null}
          empty={
            state === undefined ? (
              <Empty title="There are no deliveries." icon="webhook">
                Each event that the endpoint has chosen appears here, with what the endpoint answered.
              </Empty>
            ) : (
              <Empty
                title="No delivery is in this state."
                icon="webhook"
                action={<Button onPress={() => setSearch({ state: "" })}>Show all deliveries</Button>}
              />
            )
          }
          keyOf={({ _id }) => _id}
          columns={[
            ...COLUMNS,
            {
              title: "Actions",
              kind: "actions",
              cell: (delivery) => (
                <span className="delivery-actions">
                  <Button size="small" aria-label={`Details of ${delivery.type}`} onPress={() => setOpened(delivery)}>
                    Details
                  </Button>
                  {access.writesSite && (
                    <Button
                      size="small"
                      aria-label={`Resend ${delivery.type}`}
                      isPending={resend.isPending && resend.variables === delivery._id}
                      onPress={() => resend.mutate(delivery._id)}
                    >
                      Resend
                    </Button>
                  )}
                </span>
              ),
            },
          ]}
        />
      ) : (
        <Empty
          title="The site has no webhook endpoint."
          icon="webhook"
          action={access.writesSite && <Button onPress={() => setConfiguring(true)}>Add an endpoint</Button>}
        >
          {access.writesSite
            ? "The events of the site are sent to an address of yours, signed, and again until it has them."
            : "A site admin can say where its events are sent."}
        </Empty>
      )}
      {shown && (
        <DeliveryDialog
          delivery={shown}
          onClose={() => setOpened(null)}
          onResend={access.writesSite ? () => resend.mutate(shown._id) : null}
          isResending={resend.isPending}
        />
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
  { title: "State", cell: ({ state }) => <DeliveryState state={state} /> },
  { title: "Created", kind: "time", cell: ({ created }) => cellText("created", created) },
  { title: "Attempts", kind: "number", cell: ({ attempts }) => attempts.length },
  { title: "Last response", kind: "prose", cell: lastResponse },
  { title: "Next attempt", kind: "time", cell: ({ nextTry }) => cellText("nextTry", nextTry) },
];

function lastResponse({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (!last) return "–";
  const answer = last.status === null ? (last.error ?? "No response") : String(last.status);
  return `${answer}, after ${String(last.duration)} ms`;
}

function serviceText(service: string): string {
  return labelOf(service.replace(/-service-v\d+$/, ""));
}

function useResend() {
  const { client } = useSession();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => ok(client.api.POST("/webhooks/v1/deliveries/{id}/redeliver", { params: { path: { id } } })),
    async onSuccess() {
      toast("The delivery is sent again.");
      await queries.invalidateQueries({ queryKey: LIST });
    },
    onError: (error) => toast(errorText(error), "danger"),
  });
}
