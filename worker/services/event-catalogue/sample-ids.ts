// The ids and the time shared by the samples of the event catalogue.

/** When the sample event happened: 21 November 2026, 15:00 UTC. */
export const SAMPLE_MOMENT = 1795273200000;
export const MINUTE = 60_000;
export const DAY = 86_400_000;
export const MONTH = 30 * DAY;

/** Ids of the sample resources. None is a demo account, because samples are fictitious. */
export const SAMPLE_IDS = {
  site: "5eed00000000000000000001",
  page: "5eed0000000000000000c001",
  landing: "5eed0000000000000e00c101",
  viewer: "5eed0000000000000e00a003",
  admin: "5eed0000000000000e00a001",
  globalAccount: "5eed0000000000000e00a009",
  "email-proof": "5eed0000000000000e007501",
  event: "5eed0000000000000e00ee01",
  accesscode: "5eed0000000000000e004d01",
  batch: "5eed0000000000000e004d90",
  apikey: "5eed0000000000000e00e001",
  broadcast: "5eed0000000000000e00b001",
  bundle: "5eed0000000000000e006d01",
  charge: "5eed0000000000000e006a01",
  claimstatus: "5eed0000000000000e006201",
  clear: "5eed0000000000000e00b002",
  dataprovider: "5eed0000000000000e00da01",
  entitlement: "5eed0000000000000e004c01",
  calendar: "5eed0000000000000e00d101",
  export: "5eed0000000000000e006e01",
  intent: "5eed0000000000000e007101",
  invite: "5eed0000000000000e004e01",
  media: "5eed0000000000000e00f001",
  navigation: "5eed0000000000000e007001",
  overlay: "5eed0000000000000e00a101",
  panel: "5eed0000000000000e00d001",
  "password-reset": "5eed0000000000000e007201",
  playbackkey: "5eed0000000000000e005c01",
  playlist: "5eed0000000000000e004801",
  poll: "5eed0000000000000e006001",
  answer: "5eed0000000000000e006002",
  otherAnswer: "5eed0000000000000e006003",
  providerEvent: "5eed0000000000000e00da02",
  session: "5eed0000000000000e005e01",
  quest: "5eed0000000000000e006101",
  recurring: "5eed0000000000000e006b01",
  refund: "5eed0000000000000e006c01",
  rule: "5eed0000000000000e00a701",
  stream: "5eed0000000000000e005a01",
  streamprovider: "5eed0000000000000e005001",
  stripeaccount: "5eed0000000000000e006c90",
  subscription: "5eed0000000000000e004b01",
  tv: "5eed0000000000000e007401",
  template: "5eed0000000000000e007e01",
  theme: "5eed0000000000000e008001",
  video: "5eed0000000000000e004001",
  wallet: "5eed0000000000000e006f01",
  webhook: "5eed0000000000000e007301",
};
