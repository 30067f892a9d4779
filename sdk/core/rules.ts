import type { ServerFrame } from "../channel/index.ts";
import type { ClientRule } from "../model/state.ts";

/** The active client rules after a frame; the same list if the frame doesn't affect them. */
export function rulesAfter(rules: readonly ClientRule[], frame: ServerFrame): readonly ClientRule[] {
  // A resumed connection delivers only changes.
  if (frame.type === "welcome") return frame.recovered ? rules : frame.rules.map(({ data }) => data).filter(isRule);
  if (frame.type !== "rule" || !isRule(frame.data)) return rules;
  const { data } = frame;
  const others = rules.filter(({ _id }) => _id !== data._id);
  return data.active === false ? others : [...others, data];
}

function isRule(data: Record<string, unknown>): data is ClientRule {
  return typeof data._id === "string";
}
