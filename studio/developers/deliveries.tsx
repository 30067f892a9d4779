import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type Schemas, TifoProblem } from "#sdk/client/index.ts";
import { labelOf } from "#studio/api/fields.ts";
import { cellText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import "#studio/ui/table.css";

type Delivery = Schemas["WebhookDelivery"];

const STATES = ["pending", "delivered", "failed"] as const;
const LIST = ["webhook-deliveries"];
const REFRESH_MS = 10_000;

/** What was sent to the site's webhook endpoint, what it answered, and what is due. */
export default function Deliveries() {
  const { client, access } = useSession();
  const queries = useQueryClient();
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
  const results = deliveries.data?.results;
  const hasEndpoint = !(deliveries.error instanceof TifoProblem && deliveries.error.status === 404);
  return (
    <>
      <PageHeader title="Webhook deliveries" description="Kept for 7 days after they end, and while they are pending.">
        {access.writesSite && hasEndpoint && (
          <Button isPending={sample.isPending} onPress={() => sample.mutate()}>
            Send a sample
          </Button>
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
      {deliveries.isPending && <Loading label="Loading the deliveries…" />}
      {!hasEndpoint && <Empty title="The site has no webhook endpoint.">Create one with POST /webhooks/v1.</Empty>}
      {deliveries.isError && hasEndpoint && <ErrorState error={deliveries.error} retry={() => void deliveries.refetch()} />}
      {results?.length === 0 && <Empty title="There are no deliveries." />}
      {results && results.length > 0 && <DeliveryTable deliveries={results} />}
    </>
  );
}

function DeliveryTable({ deliveries }: { deliveries: Delivery[] }) {
  const { access } = useSession();
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label="Webhook deliveries">
      <table className="table" aria-label="Webhook deliveries">
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">State</th>
            <th scope="col">Created</th>
            <th scope="col">Attempts</th>
            <th scope="col">Last response</th>
            <th scope="col">Next attempt</th>
            {access.writesSite && <th scope="col">Actions</th>}
          </tr>
        </thead>
        <tbody>
          {deliveries.map((delivery) => (
            <tr key={delivery._id}>
              <th scope="row">{delivery.type}</th>
              <td>{labelOf(delivery.state)}</td>
              <td>{cellText("created", delivery.created)}</td>
              <td>{delivery.attempts.length}</td>
              <td>{lastResponse(delivery)}</td>
              <td>{cellText("nextTry", delivery.nextTry)}</td>
              {access.writesSite && (
                <td>
                  <Resend delivery={delivery} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

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
