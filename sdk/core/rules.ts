import type { ServerFrame } from "../channel/index.ts";
import type { ClientRule } from "../model/state.ts";

/** The client rules that hold after a frame; the same list where the frame is none of their business. */
export function rulesAfter(rules: readonly ClientRule[], frame: ServerFrame): readonly ClientRule[] {
  // A resumed connection tells changes alone.
  if (frame.type === "welcome") return frame.recovered ? rules : frame.rules.map(({ data }) => data).filter(isRule);
  if (frame.type !== "rule" || !isRule(frame.data)) return rules;
  const { data } = frame;
  const others = rules.filter(({ _id }) => _id !== data._id);
  return data.active === false ? others : [...others, data];
}

function isRule(data: Record<string, unknown>): data is ClientRule {
  return typeof data._id === "string";
}
