import type { Schemas } from "#sdk/client/index.ts";

type State = Schemas["WebhookDelivery"]["state"];

const TEXTS: Record<State, string> = { pending: "Pending", delivered: "Delivered", failed: "Given up" };
const TONES: Record<State, string> = {
  pending: "badge status-rejected",
  delivered: "badge status-delivered",
  failed: "badge status-failed",
};

export const DELIVERY_STATES: readonly { value: State; text: string }[] = [
  { value: "pending", text: TEXTS.pending },
  { value: "delivered", text: TEXTS.delivered },
  { value: "failed", text: TEXTS.failed },
];

export function DeliveryState({ state }: { state: State }) {
  return <span className={TONES[state]}>{TEXTS[state]}</span>;
}
