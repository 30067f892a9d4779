import { useState } from "react";
import { isAnswer } from "#sdk/client/problem.ts";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Select } from "#studio/ui/select.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { Switch } from "#studio/ui/switch.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { formatMoney } from "#worker/lib/money.ts";
import { editable, readAmount } from "./amount.ts";

const REASONS = [
  { value: "requested_by_customer", text: "Requested by the customer" },
  { value: "duplicate", text: "Paid twice" },
  { value: "fraudulent", text: "Fraudulent" },
] as const;
export type RefundReason = (typeof REASONS)[number]["value"];

export interface Refund {
  amount: number;
  reason: RefundReason;
  /** Only of an entitlement: whether it ends too. */
  endsAccess: boolean;
  /** The same until the server answers, so that a lost response doesn't refund twice. */
  key: string;
}

interface Props {
  description: string;
  currency: string;
  /** What can still be refunded, in minor units. */
  left: number;
  /** Asks whether the access ends too. A charge that is refunded in full ends what was bought by itself. */
  asksForAccess: boolean;
  /** Null if the refund was accepted, otherwise why not. */
  refund: (input: Refund) => Promise<string | null>;
  onClose: () => void;
}

/** Says exactly what will be paid back before it is. */
export function RefundDialog({ description, currency, left, asksForAccess, refund, onClose }: Props) {
  const [text, setText] = useState(() => editable(left, currency));
  const [reason, setReason] = useState<RefundReason>("requested_by_customer");
  const [endsAccess, setEndsAccess] = useState(false);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const amount = readAmount(text, currency, left);

  async function submit(): Promise<void> {
    if (amount.problem !== undefined) return;
    setPending(true);
    try {
      const found = await refund({ amount: amount.minor, reason, endsAccess, key });
      setProblem(found);
      if (found === null) onClose();
      else setKey(crypto.randomUUID());
    } catch (error) {
      setProblem(errorText(error));
      if (isAnswer(error)) setKey(crypto.randomUUID());
    } finally {
      setPending(false);
    }
  }

  return (
    <Dialog
      title="Refund"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button look="danger" isPending={isPending} isDisabled={amount.problem !== undefined} onPress={() => void submit()}>
            {amount.problem === undefined ? `Refund ${formatMoney(amount.minor, currency)}` : "Refund"}
          </Button>
        </>
      }
    >
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      <p>
        <strong>{description}</strong>: {formatMoney(left, currency)} can be refunded. A refund can&apos;t be undone.
      </p>
      <TextField
        label={`Amount in ${currency.toUpperCase()}`}
        inputMode="decimal"
        value={text}
        onChange={setText}
        error={amount.problem}
        autoFocus
      />
      <Select
        label="Reason"
        value={reason}
        onChange={(value) => setReason(REASONS.find((known) => known.value === value)?.value ?? "requested_by_customer")}
        options={REASONS}
      />
      {asksForAccess && (
        <Switch
          label="End the access too"
          description="Otherwise the person keeps it, and recurring payments continue."
          isSelected={endsAccess}
          onChange={setEndsAccess}
        />
      )}
    </Dialog>
  );
}
