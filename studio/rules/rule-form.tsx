import { choices, useChannels } from "#studio/api/lists.ts";
import { Notice } from "#studio/ui/notice.tsx";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { ActionFields } from "./action-fields.tsx";
import { FactSelect } from "./binding-field.tsx";
import { type FormProps, OPERATOR_NAMES, operatorsFor } from "./draft.ts";
import { useProviders } from "./queries.ts";

/** A rule as a sentence: when this happens, do that. */
export function RuleForm(props: FormProps) {
  const { draft, problems, onChange, isDisabled } = props;
  const channels = useChannels();
  return (
    <fieldset className="rule-form" disabled={isDisabled}>
      <legend className="visually-hidden">Rule</legend>
      <div className="rule-pair">
        <TextField label="Name" value={draft.name} maxLength={200} onChange={(name) => onChange({ name })} error={problems["name"]} />
        <Select
          label="Channel of the rule"
          value={draft.channelId}
          onChange={(channelId) => onChange({ channelId })}
          empty="None: the whole site"
          options={choices(channels.data)}
          isLoading={channels.isPending}
          error={problems["channelId"]}
        />
      </div>
      <TriggerFields {...props} />
      <ActionFields {...props} />
    </fieldset>
  );
}

const YES_NO = [
  { value: "true", text: "true" },
  { value: "false", text: "false" },
];

function TriggerFields({ draft, problems, onChange }: FormProps) {
  const providers = useProviders();
  const provider = providers.data?.find(({ _id }) => _id === draft.providerId);
  const type = provider?.factTypes[draft.fact];
  const problem = (field: string) => problems[`jsonRule.trigger.${field}`];
  const chooseFact = (fact: string): void => {
    const next = provider?.factTypes[fact];
    const operators = operatorsFor(next);
    const [first = "equals"] = operators;
    onChange({
      fact,
      operator: operators.includes(draft.operator) ? draft.operator : first,
      value: next === "boolean" ? "true" : draft.value,
    });
  };
  return (
    <section className="rule-part" aria-labelledby="rule-when">
      <h2 id="rule-when">
        <span className="rule-step" aria-hidden="true">
          1
        </span>
        When
      </h2>
      {providers.data?.length === 0 && (
        <Notice tone="warning">The site has no data provider yet. A system that sends events is registered with a developer key.</Notice>
      )}
      <div className="rule-pair">
        <Select
          label="Events from"
          value={draft.providerId}
          onChange={(providerId) => onChange({ providerId, fact: "" })}
          empty="Choose…"
          options={choices(providers.data)}
          isLoading={providers.isPending}
          error={problem("dataProviderId")}
        />
        <FactSelect label="Fact" value={draft.fact} facts={provider?.facts ?? []} onChange={chooseFact} error={problem("fact")} />
      </div>
      <div className="rule-pair">
        <Select
          label="Comparison"
          value={draft.operator}
          onChange={(text) => {
            const operator = operatorsFor(type).find((known) => known === text);
            if (operator) onChange({ operator });
          }}
          options={[...new Set([...operatorsFor(type), draft.operator])].map((value) => ({ value, text: OPERATOR_NAMES[value] }))}
          error={problem("operator")}
        />
        {type === "boolean" ? (
          <Select label="Value" value={draft.value} options={YES_NO} onChange={(value) => onChange({ value })} error={problem("value")} />
        ) : (
          <TextField
            label="Value"
            value={draft.value}
            maxLength={1000}
            onChange={(value) => onChange({ value })}
            error={problem("value")}
            {...(type === "number" && { inputMode: "decimal" as const })}
          />
        )}
        <Select
          label="Then act"
          value={draft.isDelayed ? "delayed" : "immediate"}
          onChange={(value) => onChange({ isDelayed: value === "delayed" })}
          options={[
            { value: "immediate", text: "Immediately" },
            { value: "delayed", text: "After some seconds" },
          ]}
        />
        {draft.isDelayed && (
          <TextField
            label="Seconds"
            value={draft.delaySeconds}
            inputMode="numeric"
            onChange={(delaySeconds) => onChange({ delaySeconds })}
            error={problem("delaySeconds")}
          />
        )}
      </div>
      <p className="soft">A rule fires when this becomes true, and again only after it was false in between.</p>
    </section>
  );
}
