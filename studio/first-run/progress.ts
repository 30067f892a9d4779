import type { Schemas } from "#sdk/client/index.ts";

export const STEPS = ["site", "channel", "overlay", "embed", "invite"] as const;
export type Step = (typeof STEPS)[number];

export const STEP_TITLES: Record<Step, string> = {
  site: "Name and theme",
  channel: "Channel",
  overlay: "First overlay",
  embed: "Embed code",
  invite: "Invite a colleague",
};

type Settings = Pick<Schemas["SiteAsRead"]["settings"], "studio">;

/** What there already is, whoever created it. */
export interface Found {
  channel: boolean;
  overlay: boolean;
}

/** Whether the site is still to be set up: nobody has finished or dismissed it, and it was begun, or there is no channel yet. */
export function opensFirstRun({ studio }: Settings, channels: number): boolean {
  const firstRun = studio?.firstRun;
  if (firstRun?.closed === true) return false;
  return channels === 0 || (firstRun?.steps ?? []).length > 0;
}

export function doneSteps({ studio }: Settings, found: Found): readonly Step[] {
  const recorded = studio?.firstRun?.steps ?? [];
  return STEPS.filter((step) => recorded.includes(step) || (step === "channel" && found.channel) || (step === "overlay" && found.overlay));
}

/** The settings with a step that is done. After the last one, the first run is closed. */
export function withStep<T extends Settings>(settings: T, step: Step, found: Found): T {
  const done = new Set([...doneSteps(settings, found), step]);
  const steps = STEPS.filter((name) => done.has(name));
  return { ...settings, studio: { ...settings.studio, firstRun: { steps, closed: steps.length === STEPS.length } } };
}

export function withoutFirstRun<T extends Settings>(settings: T): T {
  const steps = settings.studio?.firstRun?.steps ?? [];
  return { ...settings, studio: { ...settings.studio, firstRun: { steps, closed: true } } };
}
