import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ok } from "#sdk/client/index.ts";
import { changeLatest } from "#sdk/client/latest.ts";
import { useSession } from "#studio/session/context.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { Switch } from "#studio/ui/switch.tsx";
import { toast } from "#studio/ui/toast.tsx";
import type { Rule } from "./draft.ts";
import { readRule, ruleKey, RULES_LIST } from "./queries.ts";

/** Switches a rule on or off, for everybody, at once. */
export function RuleSwitch({ rule, isLabelHidden = false }: { rule: Rule; isLabelHidden?: boolean }) {
  const { client, access } = useSession();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (active: boolean) =>
      changeLatest(
        () => readRule(client, rule._id),
        ({ _id: id, jsonRule }, headers) =>
          ok(client.api.PUT("/personalization/v1/automation-rule/{id}", { params: { path: { id } }, body: { jsonRule, active }, headers })),
      ),
    onSuccess: ({ name, active }) => toast(`“${name}” is ${active ? "on" : "off"}.`),
    onError: (error) => toast(errorText(error), "danger"),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: RULES_LIST });
      await queries.invalidateQueries({ queryKey: ruleKey(rule._id) });
    },
  });
  return (
    <div className={isLabelHidden ? "rule-switch rule-switch-bare" : "rule-switch"}>
      <Switch
        label={isLabelHidden ? `${rule.name} is on` : "On"}
        isSelected={change.isPending ? change.variables : rule.active}
        isDisabled={!access.writesSite || change.isPending}
        onChange={(active) => change.mutate(active)}
      />
    </div>
  );
}
