import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import type { Rule } from "./draft.ts";
import { RULES_LIST } from "./queries.ts";

/** Deletes several rules in one request. */
export function DeleteRules({ rules, onDeleted }: { rules: readonly Rule[]; onDeleted: () => void }) {
  const { client } = useSession();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const text = countText(rules.length);
  const deletion = useMutation({
    mutationFn: () => {
      const query = { ids: JSON.stringify(rules.map(({ _id }) => _id)) };
      return ok(client.api.DELETE("/personalization/v1/automation-rule", { params: { query } }));
    },
    onSuccess({ removed }) {
      toast(`${countText(removed)} deleted.`);
      onDeleted();
    },
    onError: (error) => toast(errorText(error), "danger"),
    async onSettled() {
      setAsking(false);
      await queries.invalidateQueries({ queryKey: RULES_LIST });
    },
  });
  return (
    <div className="rule-selection" role="group" aria-label="Selected rules">
      <span role="status">{`${text} selected`}</span>
      <Button size="small" onPress={() => setAsking(true)}>
        Delete…
      </Button>
      {isAsking && (
        <Confirm
          title={`Delete ${text}?`}
          action="Delete"
          isPending={deletion.isPending}
          onConfirm={() => deletion.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>{rules.map(({ name }) => name).join(", ")}</p>
          <p>They stop at once, for everybody. This can&apos;t be undone.</p>
        </Confirm>
      )}
    </div>
  );
}

function countText(count: number): string {
  return count === 1 ? "1 rule" : `${String(count)} rules`;
}
