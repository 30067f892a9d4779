import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { timeText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, DataTable } from "#studio/ui/data-table.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { formatMoney } from "#worker/lib/money.ts";
import { type Refund, RefundDialog } from "./refund-dialog.tsx";
import "./money.css";

type Charge = Schemas["Charge"];

export const STATES = { complete: "Paid", pending: "Waiting for payment", declined: "Not paid" } as const;

/** Everything that shows money is read anew after a refund. */
export const MONEY = "money";

interface Props {
  charges: Charge[];
  /** Links to whoever paid; not on their own page. */
  showsPerson: boolean;
}

const COLUMNS: readonly Column<Charge>[] = [
  { title: "What", kind: "heading", cell: ({ description }) => description },
  { title: "Amount", kind: "number", cell: ({ amount, currency }) => formatMoney(amount, currency) },
  { title: "State", cell: (charge) => <State charge={charge} /> },
  { title: "Time", kind: "time", cell: ({ created }) => timeText(created) },
  { title: "Receipt", kind: "code", cell: ({ receiptNumber }) => receiptNumber ?? "–" },
];
export const CHARGE_TITLES = COLUMNS.map(({ title }) => title);
const PERSON: Column<Charge> = {
  title: "Person",
  cell: ({ accountId, receiptNumber, description }) => (
    <Link to={`/people/${accountId}/access`} aria-label={`Open the person who paid ${receiptNumber ?? description}`}>
      Open
    </Link>
  ),
};
const ACTIONS: Column<Charge> = { title: "Actions", kind: "actions", cell: (charge) => <ChargeActions charge={charge} /> };

export function ChargeTable({ charges, showsPerson }: Props) {
  const { access } = useSession();
  const columns = [...COLUMNS, ...(showsPerson ? [PERSON] : []), ...(access.writesSite ? [ACTIONS] : [])];
  return <DataTable label="Payments" rows={charges} keyOf={({ _id }) => _id} columns={columns} />;
}

function State({ charge: { status, refunded, refundPending, currency, failure } }: { charge: Charge }) {
  const notes = [
    refunded > 0 && `${formatMoney(refunded, currency)} refunded`,
    refundPending > 0 && `${formatMoney(refundPending, currency)} being refunded`,
    failure,
  ].filter((note) => typeof note === "string");
  return (
    <>
      <span className={`badge badge-${status}`}>{STATES[status]}</span>
      {notes.length > 0 && <span className="soft money-note">{notes.join(", ")}</span>}
    </>
  );
}

function ChargeActions({ charge }: { charge: Charge }) {
  const { client } = useSession();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const left = charge.amount - charge.refunded - charge.refundPending;
  if (charge.status !== "complete" || left <= 0) return null;

  async function refund({ amount, reason, key }: Refund): Promise<string | null> {
    const body = { accountId: charge.accountId, chargeId: charge._id, amount, reason };
    const call = ok(client.api.POST("/billing/v1/refund", { body, headers: { "Idempotency-Key": key } }));
    // Also after a failure: what was done may show there.
    const result = await call.finally(() => queries.invalidateQueries({ queryKey: [MONEY] }));
    // Stripe may not have confirmed it yet; then it is settled later.
    if (!result.success && result.status !== "pending") return result.errorMessage ?? "The refund was declined.";
    toast(`${formatMoney(amount, charge.currency)} ${result.status === "pending" ? "is being refunded" : "has been refunded"}.`);
    return null;
  }

  return (
    <>
      <Button size="small" aria-label={`Refund… ${charge.receiptNumber ?? charge.description}`} onPress={() => setOpen(true)}>
        Refund…
      </Button>
      {isOpen && (
        <RefundDialog
          description={charge.description}
          currency={charge.currency}
          left={left}
          asksForAccess={false}
          refund={refund}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
