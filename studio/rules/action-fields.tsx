import { choices, useChannels, usePolls } from "#studio/api/lists.ts";
import { fieldsOf } from "#studio/run/variables.ts";
import { Button } from "#studio/ui/button.tsx";
import { Checks } from "#studio/ui/checks.tsx";
import { Icon } from "#studio/ui/icon.tsx";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { BindingField } from "./binding-field.tsx";
import { type Action, FIXED, fixedDraft, type FormProps, SCOPE_NAMES, type Scope, type Segment, SEGMENT_NAMES } from "./draft.ts";
import { useKit, useProviders, useTemplates } from "./queries.ts";

const ACTIONS: readonly { value: Action["type"]; text: string }[] = [
  { value: "SEND_OVERLAY", text: "Show an overlay" },
  { value: "LOCK_POLL", text: "Close a poll" },
  { value: "CREATE_CHANNEL", text: "Create a channel" },
];
const SCOPES: readonly Scope[] = ["channel", "specific_channels", "channel_metadata", "all_channels"];
const SEGMENTS: readonly Segment[] = ["viewers_all", "viewers_with_tags", "viewers_in_segment"];

/** What the rule does. */
export function ActionFields(props: FormProps) {
  const { draft, problems, onChange } = props;
  const facts = useFacts(draft.providerId);
  const polls = usePolls();
  return (
    <section className="rule-part" aria-labelledby="rule-then">
      <h2 id="rule-then">
        <span className="rule-step" aria-hidden="true">
          2
        </span>
        Do
      </h2>
      <Select
        label="Action"
        value={draft.action}
        onChange={(text) => {
          const action = ACTIONS.find(({ value }) => value === text);
          if (action) onChange({ action: action.value });
        }}
        options={ACTIONS}
      />
      {draft.action === "SEND_OVERLAY" && <OverlayFields {...props} />}
      {draft.action === "LOCK_POLL" && (
        <Select
          label="Poll"
          value={draft.pollId}
          onChange={(pollId) => onChange({ pollId })}
          empty="Choose…"
          options={choices(polls.data)}
          isLoading={polls.isPending}
          description="No response counts once the event is received."
          error={problems["jsonRule.action.pollId"]}
        />
      )}
      {draft.action === "CREATE_CHANNEL" && (
        <BindingField
          label="Name of the channel"
          value={draft.newChannel}
          facts={facts}
          onChange={(newChannel) => onChange({ newChannel })}
          error={problems["jsonRule.action.name"] ?? problems["jsonRule.action.name.value"]}
        />
      )}
    </section>
  );
}

function OverlayFields(props: FormProps) {
  const { draft, problems, onChange } = props;
  const templates = useTemplates();
  const facts = useFacts(draft.providerId);
  const offered = useOffered(draft.templateId);
  // Those that are given come first.
  const names = [...new Set([...Object.keys(draft.variables), ...Object.keys(offered)])];
  return (
    <>
      <Select
        label="Template"
        value={draft.templateId}
        onChange={(templateId) => onChange({ templateId, variables: {} })}
        empty="Choose…"
        options={choices(templates.data)}
        isLoading={templates.isPending}
        error={problems["jsonRule.action.templateId"]}
      />
      {names.length > 0 && (
        <fieldset className="rule-group">
          <legend>Variables</legend>
          {names.map((name) => {
            const value = draft.variables[name];
            return value ? (
              <BindingField
                key={name}
                label={name}
                value={value}
                facts={facts}
                onChange={(next) => onChange({ variables: { ...draft.variables, [name]: next } })}
                error={problems[`jsonRule.action.variableMapping.${name}`] ?? problems[`jsonRule.action.variableMapping.${name}.value`]}
              />
            ) : (
              <div key={name} className="rule-unset">
                <span>
                  <strong>{name}</strong>{" "}
                  <span className="soft">{offered[name] === "" ? "not given" : `as in the template: ${String(offered[name])}`}</span>
                </span>
                <Button
                  size="small"
                  aria-label={`Set ${name}`}
                  onPress={() =>
                    onChange({ variables: { ...draft.variables, [name]: factFor(name, facts) ?? fixedDraft(offered[name] ?? "") } })
                  }
                >
                  Set
                </Button>
              </div>
            );
          })}
        </fieldset>
      )}
      <TargetFields {...props} facts={facts} />
    </>
  );
}

/** A fact of the same name, which is nearly always the one that is meant. */
function factFor(name: string, facts: readonly string[]) {
  const fact = facts.find((path) => path.split(".").at(-1) === name);
  return fact === undefined ? undefined : { ...FIXED, from: "fact" as const, text: fact };
}

function TargetFields({ draft, problems, onChange, facts }: FormProps & { facts: readonly string[] }) {
  const channels = useChannels();
  const problem = (field: string) => problems[`jsonRule.action.targeting.${field}`];
  // The server names the place of a channel in the list.
  const channelProblem = Object.entries(problems).find(([path]) => path.startsWith("jsonRule.action.targeting.target.value"))?.[1];
  return (
    <>
      <div className="rule-pair">
        <Select
          label="Where"
          value={draft.scope}
          onChange={(text) => {
            const scope = SCOPES.find((known) => known === text);
            if (scope) onChange({ scope, target: FIXED });
          }}
          options={SCOPES.map((value) => ({ value, text: SCOPE_NAMES[value] }))}
          error={problem("scope")}
        />
        <Select
          label="To whom"
          value={draft.segment}
          onChange={(text) => {
            const segment = SEGMENTS.find((known) => known === text);
            if (segment) onChange({ segment, tags: segment === "viewers_with_tags" && draft.tags.length === 0 ? [FIXED] : draft.tags });
          }}
          options={SEGMENTS.map((value) => ({ value, text: SEGMENT_NAMES[value] }))}
          error={problem("segment")}
        />
        <TextField
          label="Priority"
          value={draft.priority}
          inputMode="numeric"
          onChange={(priority) => onChange({ priority })}
          description="Of two in one place, the higher one shows."
          error={problem("priority")}
        />
      </div>
      {draft.scope === "channel_metadata" && (
        <BindingField
          label="Text in the channel’s metadata"
          value={draft.target}
          facts={facts}
          onChange={(target) => onChange({ target })}
          error={problem("target") ?? problem("target.value")}
        />
      )}
      {draft.scope === "specific_channels" && (
        <fieldset className="rule-group">
          <legend>Channels</legend>
          <Checks
            options={choices(channels.data)}
            chosen={draft.channelIds}
            onChange={(channelIds) => onChange({ channelIds })}
            isLoading={channels.isPending}
          />
          {channelProblem !== undefined && <span className="field-error">{channelProblem}</span>}
        </fieldset>
      )}
      {draft.segment === "viewers_in_segment" && (
        <TextField
          label="Segment"
          value={draft.userSegment}
          onChange={(userSegment) => onChange({ userSegment })}
          description="As it is called in the site’s settings."
          error={problem("userSegment")}
        />
      )}
      {draft.segment === "viewers_with_tags" && (
        <fieldset className="rule-group">
          <legend>Tags</legend>
          {draft.tags.map((tag, index) => (
            // Tags have no identity of their own.
            <BindingField
              key={index}
              label={`Tag ${String(index + 1)}`}
              value={tag}
              facts={facts}
              onChange={(next) => onChange({ tags: draft.tags.with(index, next) })}
              error={problem(`tags.${String(index)}.value`)}
            />
          ))}
          <div className="rule-actions">
            <Button size="small" onPress={() => onChange({ tags: [...draft.tags, FIXED] })}>
              <Icon name="plus" />
              Add tag
            </Button>
            {draft.tags.length > 1 && (
              <Button size="small" onPress={() => onChange({ tags: draft.tags.slice(0, -1) })}>
                Remove the last
              </Button>
            )}
          </div>
        </fieldset>
      )}
    </>
  );
}

function useFacts(providerId: string): readonly string[] {
  const providers = useProviders();
  return providers.data?.find(({ _id }) => _id === providerId)?.facts ?? [];
}

/** The variables of the template with what they are unless the rule gives them, those of the kit included. */
function useOffered(templateId: string): Record<string, unknown> {
  const templates = useTemplates();
  const kit = useKit();
  const template = templates.data?.find(({ _id }) => _id === templateId);
  if (!template) return {};
  // With values of its own, a template asks for what it leaves open, and has the rest for good.
  const ofKit = template.contents.flatMap((content) =>
    content.kind === "kit" && Object.keys(content.variables ?? {}).length === 0 ? Object.keys(kit.data?.get(content.template) ?? {}) : [],
  );
  const own = Object.fromEntries(fieldsOf(template).map(({ name, value }) => [name, value]));
  return { ...Object.fromEntries(ofKit.map((name) => [name, ""])), ...own };
}
