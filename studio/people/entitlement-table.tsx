import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { labelOf } from "#studio/api/fields.ts";
import { MONEY } from "#studio/money/charge-table.tsx";
import { type Refund, RefundDialog } from "#studio/money/refund-dialog.tsx";
import { timeText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, DataTable } from "#studio/ui/data-table.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { Select } from "#studio/ui/select.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { formatMoney } from "#worker/lib/money.ts";
import "#studio/money/money.css";

type Entitlement = Schemas["CommunityEntitlement"];

const STATES = { active: "Active", cancelScheduled: "Ends with the period", cancelled: "Ended" } as const;

const COLUMNS: readonly Column<Entitlement>[] = [
  { title: "Name", kind: "heading", cell: nameOf },
  { title: "State", cell: ({ status }) => <span className={`badge badge-${status}`}>{STATES[status]}</span> },
  { title: "How", cell: ({ grantedMethod }) => labelOf(grantedMethod) },
  { title: "Paid", kind: "number", cell: (entitlement) => <Paid entitlement={entitlement} /> },
  { title: "Since", kind: "time", cell: ({ dateGranted }) => timeText(dateGranted) },
  { title: "Until", kind: "time", cell: untilOf },
];
const ACTIONS: Column<Entitlement> = { title: "Actions", kind: "actions", cell: (entitlement) => <Actions entitlement={entitlement} /> };

export function EntitlementTable({ entitlements }: { entitlements: Entitlement[] }) {
  const { access } = useSession();
  const columns = access.writesSite ? [...COLUMNS, ACTIONS] : COLUMNS;
  return <DataTable label="Access" rows={entitlements} keyOf={({ _id }) => _id} columns={columns} />;
}

function nameOf({ name, entitlement }: Entitlement): string {
  return name ?? entitlement;
}

function untilOf({ dateCancelled, dateEnds }: Entitlement): string {
  const end = dateCancelled ?? dateEnds;
  return end === null ? "–" : timeText(end);
}

function Paid({ entitlement: { price, refunded, presentmentCurrency: currency } }: { entitlement: Entitlement }) {
  if (currency === null || price === 0) return <>Free</>;
  return (
    <>
      {formatMoney(price, currency)}
      {refunded > 0 && <span className="soft money-note">{`${formatMoney(refunded, currency)} refunded`}</span>}
    </>
  );
}

function Actions({ entitlement }: { entitlement: Entitlement }) {
  const [open, setOpen] = useState<"refund" | "end" | null>(null);
  const update = useUpdate(entitlement);
  const { canCancel, canRefund, canRemove } = entitlement.entitlementActions;
  const { price, refunded, presentmentCurrency } = entitlement;
  const close = () => setOpen(null);

  async function refund({ amount, reason, endsAccess, key }: Refund): Promise<string | null> {
    const action = endsAccess ? "cancel" : "justRefund";
    const problem = await update({ action, grantRefund: "true", refundAmount: amount, reason }, key);
    if (problem === null) toast(`${formatMoney(amount, presentmentCurrency ?? "")} has been refunded.`);
    return problem;
  }

  return (
    <div className="page-header-actions">
      {canRefund && presentmentCurrency !== null && (
        <Button size="small" aria-label={`Refund… ${nameOf(entitlement)}`} onPress={() => setOpen("refund")}>
          Refund…
        </Button>
      )}
      {(canCancel || canRemove) && (
        <Button size="small" aria-label={`End… ${nameOf(entitlement)}`} onPress={() => setOpen("end")}>
          End…
        </Button>
      )}
      {open === "refund" && presentmentCurrency !== null && (
        <RefundDialog
          description={nameOf(entitlement)}
          currency={presentmentCurrency}
          left={price - refunded}
          asksForAccess={canCancel}
          refund={refund}
          onClose={close}
        />
      )}
      {open === "end" && <EndDialog entitlement={entitlement} update={update} onClose={close} />}
    </div>
  );
}

interface Change {
  action: "cancel" | "justRefund" | "remove" | "scheduleCancel";
  grantRefund: "true" | "false";
  refundAmount?: number;
  reason?: Refund["reason"];
}

/** Changes the entitlement; null if that succeeded, otherwise why not. */
function useUpdate({ _id: id, accountId }: Entitlement): (change: Change, key?: string) => Promise<string | null> {
  const { client } = useSession();
  const queries = useQueryClient();
  return async (change, key) => {
    const headers = key === undefined ? {} : { "Idempotency-Key": key };
    const query = { accountId, id, ...change, grantRefund: change.grantRefund === "true" };
    const call = ok(client.api.PATCH("/community/v1/update-entitlement", { params: { query }, headers }));
    // Also after a failure: what was done may show there.
    const outcome = await call.finally(() => queries.invalidateQueries({ queryKey: [MONEY] }));
    return outcome.success ? null : (outcome.message ?? "The change was rejected.");
  };
}

interface EndProps {
  entitlement: Entitlement;
  update: ReturnType<typeof useUpdate>;
  onClose: () => void;
}

function EndDialog({ entitlement, update, onClose }: EndProps) {
  const canWait = entitlement.status === "active" && entitlement.dateEnds !== null;
  const [when, setWhen] = useState<"now" | "later">(canWait ? "later" : "now");
  const isRecurring = entitlement.dateEnds !== null;
  const action = when === "later" ? "scheduleCancel" : entitlement.entitlementActions.canRemove && !isRecurring ? "remove" : "cancel";
  const ending = useMutation({
    mutationFn: () => update({ action, grantRefund: "false" }),
    onSuccess(problem) {
      toast(problem ?? "The access has been ended.", problem === null ? "success" : "danger");
      onClose();
    },
    onError: (error) => toast(errorText(error), "danger"),
  });
  return (
    <Confirm
      title="End the access?"
      action="End the access"
      isPending={ending.isPending}
      onConfirm={() => ending.mutate()}
      onClose={onClose}
    >
      <p>
        <strong>{nameOf(entitlement)}</strong>
        {isRecurring ? " ends, and so do its payments. Nothing is refunded." : " ends. Nothing is refunded."}
      </p>
      {canWait && (
        <Select
          label="When"
          value={when}
          onChange={(value) => setWhen(value === "later" ? "later" : "now")}
          options={[
            { value: "later", text: `With the paid period, ${untilOf(entitlement)}` },
            { value: "now", text: "Now" },
          ]}
        />
      )}
    </Confirm>
  );
}
