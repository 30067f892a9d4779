import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { timeText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, DataTable } from "#studio/ui/data-table.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { DeliveryState } from "./delivery-state.tsx";

type Delivery = Schemas["WebhookDelivery"];
type Payload = Schemas["WebhookDeliveryPayload"];
type Attempt = Payload["attempts"][number];

interface Props {
  delivery: Delivery;
  onClose: () => void;
  /** Null for a role that only reads. */
  onResend: (() => void) | null;
  isResending: boolean;
}

/** What a delivery sends, and what became of every attempt. */
export function DeliveryDialog({ delivery, onClose, onResend, isResending }: Props) {
  const { client } = useSession();
  const { _id, type, resource, state, nextTry, attempts } = delivery;
  const sent = useQuery({
    // A further attempt has a further response.
    queryKey: ["webhook-payload", _id, attempts.length],
    queryFn: () => ok(client.api.GET("/webhooks/v1/deliveries/{id}/payload", { params: { path: { id: _id } } })),
    placeholderData: (previous) => previous,
  });
  return (
    <Dialog
      title={type}
      width="wide"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Close</Button>
          {onResend && (
            <Button look="primary" isPending={isResending} onPress={onResend}>
              Resend
            </Button>
          )}
        </>
      }
    >
      <dl className="delivery-facts">
        <dt>State</dt>
        <dd>
          <DeliveryState state={state} />{" "}
          {state === "pending" &&
            (nextTry === null ? "Waits for an earlier event of the same resource" : `Next attempt: ${timeText(nextTry)}`)}
        </dd>
        <dt>Resource</dt>
        <dd className="mono">{resource}</dd>
        {sent.data && (
          <>
            <dt>Sent to</dt>
            <dd className="mono">{sent.data.payload.webhookUrl}</dd>
          </>
        )}
      </dl>
      {sent.data ? (
        <Sent sent={sent.data} />
      ) : sent.isError ? (
        <ErrorState error={sent.error} retry={() => void sent.refetch()} />
      ) : (
        <Loading label="Loading the payload…" />
      )}
    </Dialog>
  );
}

function Sent({ sent: { payload, attempts } }: { sent: Payload }) {
  const body = JSON.stringify(payload, null, 2);
  return (
    <>
      <div className="delivery-part">
        <h3>Attempts</h3>
        {attempts.length === 0 ? (
          <p className="soft">None yet.</p>
        ) : (
          <DataTable label="Attempts" rows={attempts.toReversed()} keyOf={({ at }) => String(at)} columns={ATTEMPTS} />
        )}
      </div>
      <div className="delivery-part">
        <div className="delivery-head">
          <h3 id="delivery-body">Request body</h3>
          <CopyButton text={body} />
        </div>
        <pre className="event-data delivery-body" tabIndex={0} aria-labelledby="delivery-body">
          {body}
        </pre>
      </div>
    </>
  );
}

const ATTEMPTS: readonly Column<Attempt>[] = [
  { title: "Time", kind: "heading", cell: ({ at }) => timeText(at) },
  {
    title: "Status",
    cell: ({ status, error }) => <span className={error === null ? "badge" : "badge status-failed"}>{status ?? "None"}</span>,
  },
  { title: "Duration", kind: "number", cell: ({ duration }) => `${duration.toLocaleString("en-GB")} ms` },
  { title: "Response", cell: responseOf },
];

function responseOf({ status, error, response }: Attempt) {
  if (response !== null) return <pre className="event-data delivery-response">{response}</pre>;
  // The status already says what an error with a status does.
  return <span className="soft">{error === null ? "Accepted" : status === null ? error : "No text"}</span>;
}

function CopyButton({ text }: { text: string }) {
  const [result, setResult] = useState("Copy");
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setResult("Copied"),
      () => setResult("Not allowed by the browser"),
    );
  return (
    <Button size="small" onPress={() => void copy()}>
      {result}
    </Button>
  );
}
