import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { readAll } from "#sdk/client/lists.ts";
import { MONEY } from "#studio/money/charge-table.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Select } from "#studio/ui/select.tsx";
import { ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";

interface Props {
  accountId: string;
  name: string;
  onClose: () => void;
}

/** Gives somebody what others buy. */
export function GrantDialog({ accountId, name, onClose }: Props) {
  const { client } = useSession();
  const queries = useQueryClient();
  const [subscriptionId, setSubscriptionId] = useState("");
  const subscriptions = useQuery({
    queryKey: ["subscriptions", "names"],
    queryFn: () => readAll((query) => ok(client.api.GET("/subscription/v2", { params: { query } }))),
  });
  const grant = useMutation({
    mutationFn: () => {
      const query = { accountId, subscriptionId };
      return ok(client.api.POST("/community/v1/grant-entitlement", { params: { query } }));
    },
    async onSuccess({ success, message }) {
      if (!success) return;
      toast(message ?? "The access has been granted.");
      await queries.invalidateQueries({ queryKey: [MONEY] });
      onClose();
    },
  });
  const rejection = grant.isError
    ? errorText(grant.error)
    : grant.data?.success === false
      ? (grant.data.message ?? "It was rejected.")
      : null;
  const options = (subscriptions.data ?? []).map(({ _id, name: text }) => ({ value: _id, text }));
  return (
    <Dialog
      title="Grant access"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button look="primary" isPending={grant.isPending} isDisabled={subscriptionId === ""} onPress={() => grant.mutate()}>
            Grant
          </Button>
        </>
      }
    >
      {rejection !== null && <Notice tone="danger">{rejection}</Notice>}
      {subscriptions.isPending && <Loading />}
      {subscriptions.isError && <ErrorState error={subscriptions.error} retry={() => void subscriptions.refetch()} />}
      {subscriptions.isSuccess && options.length === 0 && <p>The site has nothing to grant yet: create a subscription first.</p>}
      {options.length > 0 && (
        <Select
          label="Subscription"
          value={subscriptionId}
          onChange={setSubscriptionId}
          options={[{ value: "", text: "Choose…" }, ...options]}
          description={`${name} gets it free of charge, until it is ended here.`}
        />
      )}
    </Dialog>
  );
}
