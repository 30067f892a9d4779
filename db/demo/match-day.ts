// Constants of the demo: a football match day at Harbour City, and a rival whose data must never be visible.

export const SITE_A = "5eed00000000000000000001";
export const SITE_B = "5eed00000000000000000002";
export const CHANNEL_1 = "5eed0000000000000000c001";
export const CHANNEL_2 = "5eed0000000000000000c002";
export const LANDING = "5eed0000000000000000c010";
export const CHANNEL_B = "5eed0000000000000000c101";

export const KICK_OFF = Date.UTC(2026, 10, 21, 15, 0);
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const stamps = { created: KICK_OFF - 7 * DAY, modified: KICK_OFF - DAY };
