import type { Schemas } from "#sdk/client/index.ts";
import { MOST_ITEMS } from "#sdk/client/lists.ts";

// The form of an automation rule, as pure functions. What the form doesn't show stays as it was.

export type Rule = Schemas["AutomationRule"];
export type JsonRule = Rule["jsonRule"];
export type Action = JsonRule["action"];
export type SendOverlay = Extract<Action, { type: "SEND_OVERLAY" }>;
export type Provider = Schemas["AvailableProvider"];
export type FactType = Provider["factTypes"][string];
export type Operator = JsonRule["trigger"]["operator"];
export type Scope = SendOverlay["targeting"]["scope"];
export type Segment = SendOverlay["targeting"]["segment"];

/** A fixed value as it is typed, or a fact of the event. */
export interface BindingDraft {
  from: "fixed" | "fact";
  text: string;
  /** The type of a fixed value: 7 stays a number, "7" a text. */
  type: "string" | "number" | "boolean";
}

export interface RuleDraft {
  name: string;
  channelId: string;
  clientRule: boolean;
  providerId: string;
  fact: string;
  operator: Operator;
  value: string;
  isDelayed: boolean;
  delaySeconds: string;
  action: Action["type"];
  templateId: string;
  variables: Record<string, BindingDraft>;
  scope: Scope;
  /** Of specific channels. */
  channelIds: string[];
  /** Of channels by their metadata, or a fact that has the ids. */
  target: BindingDraft;
  segment: Segment;
  tags: BindingDraft[];
  userSegment: string;
  priority: string;
  pollId: string;
  newChannel: BindingDraft;
}

export const FIXED: BindingDraft = { from: "fixed", text: "", type: "string" };

export const NEW_RULE: RuleDraft = {
  name: "",
  channelId: "",
  clientRule: false,
  providerId: "",
  fact: "",
  operator: "equals",
  value: "",
  isDelayed: false,
  delaySeconds: "5",
  action: "SEND_OVERLAY",
  templateId: "",
  variables: {},
  scope: "channel",
  channelIds: [],
  target: FIXED,
  segment: "viewers_all",
  tags: [],
  userSegment: "",
  priority: "0",
  pollId: "",
  newChannel: FIXED,
};

export const OPERATOR_NAMES: Record<Operator, string> = {
  equals: "becomes",
  not_equals: "is no longer",
  greater_than: "rises above",
  less_than: "falls below",
  contains: "contains",
};

export const SCOPE_NAMES: Record<Scope, string> = {
  channel: "The rule’s channel",
  specific_channels: "Chosen channels",
  channel_metadata: "Channels with a text in their metadata",
  all_channels: "Every channel",
};

export const SEGMENT_NAMES: Record<Segment, string> = {
  viewers_all: "Everybody",
  viewers_with_tags: "Viewers with a tag",
  viewers_in_segment: "Viewers in a segment",
};

/** The comparisons that make sense for a fact. */
export function operatorsFor(type: FactType | undefined): Operator[] {
  switch (type) {
    case "number":
      return ["greater_than", "less_than", "equals", "not_equals"];
    case "boolean":
      return ["equals", "not_equals"];
    case "array":
      return ["contains"];
    default:
      return ["equals", "not_equals", "contains", "greater_than", "less_than"];
  }
}

export function draftOf({ name, channelId, clientRule, jsonRule: { trigger, action } }: Rule): RuleDraft {
  const common: RuleDraft = {
    ...NEW_RULE,
    name,
    channelId: channelId ?? "",
    clientRule,
    providerId: trigger.dataProviderId,
    fact: trigger.fact,
    operator: trigger.operator,
    value: String(trigger.value),
    isDelayed: trigger.behavior === "delayed",
    delaySeconds: String(trigger.delaySeconds ?? 5),
    action: action.type,
  };
  switch (action.type) {
    case "LOCK_POLL":
      return { ...common, pollId: action.pollId };
    case "CREATE_CHANNEL":
      return { ...common, newChannel: toDraft(action.name) };
    case "SEND_OVERLAY": {
      const { scope, target, segment, tags = [], userSegment = "", priority } = action.targeting;
      const isList = target?.type === "static" && Array.isArray(target.value);
      return {
        ...common,
        templateId: action.templateId,
        variables: Object.fromEntries(Object.entries(action.variableMapping).map(([key, mapped]) => [key, toDraft(mapped)])),
        scope,
        channelIds: isList && Array.isArray(target.value) ? target.value : [],
        target: target && !isList ? toDraft(target) : FIXED,
        segment,
        tags: tags.map(toDraft),
        userSegment,
        priority: String(priority),
      };
    }
  }
}

function toDraft({ type, value }: { type: "static" | "dynamic"; value: unknown }): BindingDraft {
  return type === "dynamic" ? { ...FIXED, from: "fact", text: String(value) } : fixedDraft(value);
}

/** A fixed value, as it is typed. */
export function fixedDraft(value: unknown): BindingDraft {
  const type = typeof value === "number" || typeof value === "boolean" ? typeof value : "string";
  return {
    from: "fixed",
    text: typeof value === "string" ? value : JSON.stringify(value),
    type: type === "number" || type === "boolean" ? type : "string",
  };
}

/** The rule as it is saved. `kept` is the saved one, of which the form doesn't show everything. */
export function ruleOf(draft: RuleDraft, provider: Provider | undefined, kept: Rule | null): JsonRule {
  const type = provider?.factTypes[draft.fact];
  return {
    trigger: {
      dataProviderId: draft.providerId,
      fact: draft.fact,
      operator: draft.operator,
      value: typedValue(draft.value, type, draft.operator),
      behavior: draft.isDelayed ? "delayed" : "immediate",
      ...(draft.isDelayed && { delaySeconds: Number(draft.delaySeconds) }),
    },
    action: actionOf(draft, kept?.jsonRule.action),
  };
}

function actionOf(draft: RuleDraft, kept: Action | undefined): Action {
  if (draft.action === "LOCK_POLL") return { type: "LOCK_POLL", pollId: draft.pollId };
  if (draft.action === "CREATE_CHANNEL") return { type: "CREATE_CHANNEL", name: textBinding(draft.newChannel) };
  const before = kept?.type === "SEND_OVERLAY" && kept.templateId === draft.templateId ? kept : undefined;
  const mapping = Object.entries(draft.variables).filter(([, { from, text }]) => from === "fixed" || text !== "");
  return {
    type: "SEND_OVERLAY",
    targeting: targetingOf(draft),
    templateId: draft.templateId,
    variableMapping: Object.fromEntries(mapping.map(([name, binding]) => [name, scalarBinding(binding)])),
    ...(before?.timecodeMapping && { timecodeMapping: before.timecodeMapping }),
    ...(before?.broadcastPayload && { broadcastPayload: before.broadcastPayload }),
  };
}

function targetingOf({ scope, channelIds, target, segment, tags, userSegment, priority }: RuleDraft): SendOverlay["targeting"] {
  const chosen = { type: "static" as const, value: channelIds };
  const given =
    scope === "channel_metadata"
      ? textBinding(target)
      : scope === "specific_channels"
        ? target.from === "fact"
          ? textBinding(target)
          : chosen
        : null;
  return {
    scope,
    ...(given && { target: given }),
    segment,
    ...(segment === "viewers_with_tags" && { tags: tags.map(textBinding) }),
    ...(segment === "viewers_in_segment" && { userSegment }),
    priority: Number(priority),
  };
}

function textBinding({ from, text }: BindingDraft): { type: "static"; value: string } | { type: "dynamic"; value: string } {
  return from === "fact" ? { type: "dynamic", value: text } : { type: "static", value: text.trim() };
}

function scalarBinding({ from, text, type }: BindingDraft): SendOverlay["variableMapping"][string] {
  if (from === "fact") return { type: "dynamic", value: text };
  if (type === "boolean") return { type: "static", value: text === "true" };
  const number = Number(text.replace(",", "."));
  return { type: "static", value: type === "number" && text.trim() !== "" && Number.isFinite(number) ? number : text };
}

/** What is compared with: of the fact's type. */
export function typedValue(text: string, type: FactType | undefined, operator: Operator): string | number | boolean {
  const number = Number(text.replace(",", "."));
  const isNumber = text.trim() !== "" && Number.isFinite(number);
  if (type === "boolean") return text === "true";
  if ((type === "number" || operator === "greater_than" || operator === "less_than") && isNumber) return number;
  if (type === "any" && isNumber) return number;
  return text;
}

/** What is missing before the server can judge, by the path that the server would name. */
export function problemsOf(draft: RuleDraft, provider: Provider | undefined): Record<string, string> {
  const problems: Record<string, string> = {};
  const need = (path: string, value: string, message: string): void => {
    if (value.trim() === "") problems[path] = message;
  };
  need("name", draft.name, "Give it a name.");
  need("jsonRule.trigger.dataProviderId", draft.providerId, "Choose where events come from.");
  need("jsonRule.trigger.fact", draft.fact, "Choose what is watched.");
  if (provider?.factTypes[draft.fact] !== "boolean") need("jsonRule.trigger.value", draft.value, "Enter the value.");
  if (draft.isDelayed && !/^\d+$/.test(draft.delaySeconds)) problems["jsonRule.trigger.delaySeconds"] = "A whole number of seconds.";
  if (draft.action === "SEND_OVERLAY") need("jsonRule.action.templateId", draft.templateId, "Choose a template.");
  if (draft.action === "LOCK_POLL") need("jsonRule.action.pollId", draft.pollId, "Choose a poll.");
  if (draft.action === "CREATE_CHANNEL") need("jsonRule.action.name", draft.newChannel.text, "Give the channel a name.");
  if (draft.action === "SEND_OVERLAY" && draft.scope === "channel") need("channelId", draft.channelId, "Choose the rule’s channel.");
  return problems;
}

/** When a rule fires, in a sentence. */
export function conditionText({ trigger: { fact, operator, value, behavior, delaySeconds } }: JsonRule): string {
  const after = behavior === "delayed" ? `, ${String(delaySeconds ?? 5)} s later` : "";
  return `${fact} ${OPERATOR_NAMES[operator]} ${typeof value === "string" ? `“${value}”` : String(value)}${after}`;
}

/** What a rule does, in words. */
export function actionText({ action }: JsonRule, nameOf: (id: string) => string | undefined): string {
  switch (action.type) {
    case "SEND_OVERLAY": {
      const name = nameOf(action.templateId);
      return name === undefined ? "Show an overlay" : `Show “${name}”`;
    }
    case "LOCK_POLL": {
      const name = nameOf(action.pollId);
      return name === undefined ? "Close a poll" : `Close the poll “${name}”`;
    }
    case "CREATE_CHANNEL":
      return "Create a channel";
  }
}

type Known = readonly { _id: string }[] | undefined;

/** What the action shows or closes, if it isn't among all that there are. */
export function deletedTarget({ action }: JsonRule, { templates, polls }: { templates: Known; polls: Known }): "Template" | "Poll" | null {
  const lacks = (known: Known, id: string) => known !== undefined && known.length < MOST_ITEMS && known.every(({ _id }) => _id !== id);
  if (action.type === "SEND_OVERLAY" && lacks(templates, action.templateId)) return "Template";
  return action.type === "LOCK_POLL" && lacks(polls, action.pollId) ? "Poll" : null;
}

export interface FormProps {
  draft: RuleDraft;
  /** What the server, or the form, objects to, by its path. */
  problems: Record<string, string>;
  onChange: (change: Partial<RuleDraft>) => void;
  isDisabled: boolean;
}
