// The time of the samples of the event catalogue, and the ids that samples of several areas contain.

/** When the sample event happened: 21 November 2026, 15:00 UTC. */
export const SAMPLE_MOMENT = 1795273200000;
export const MINUTE = 60_000;
export const DAY = 86_400_000;
export const MONTH = 30 * DAY;

/** An area's other ids are in its `events.ts`. None is a demo account, because samples are fictitious. */
export const SAMPLE_IDS = {
  site: "5eed00000000000000000001",
  page: "5eed0000000000000000c001",
  viewer: "5eed0000000000000e00a003",
  admin: "5eed0000000000000e00a001",
  event: "5eed0000000000000e00ee01",
  charge: "5eed0000000000000e006a01",
  claimstatus: "5eed0000000000000e006201",
  dataprovider: "5eed0000000000000e00da01",
  entitlement: "5eed0000000000000e004c01",
  export: "5eed0000000000000e006e01",
  overlay: "5eed0000000000000e00a101",
  quest: "5eed0000000000000e006101",
  stream: "5eed0000000000000e005a01",
  subscription: "5eed0000000000000e004b01",
  theme: "5eed0000000000000e008001",
  video: "5eed0000000000000e004001",
};
