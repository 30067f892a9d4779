import { Secret, TOTP } from "otpauth/slim";

const PERIOD = 30;
/** Time steps before and after the current one whose codes are accepted: clocks differ, and typing takes time. */
const WINDOW = 1;

/** A new secret of 160 bits, in base32 as authenticator apps expect it. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** The `otpauth:` URI that an authenticator app reads from a QR code. */
export function totpUri(secret: string, issuer: string, label: string): string {
  return generator(secret, issuer, label).toString();
}

/** The time step (RFC 6238) that this code belongs to; undefined if it is not near `now`. */
export function totpStep(secret: string, code: string, now: number): number | undefined {
  const delta = generator(secret).validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? undefined : Math.floor(now / 1000 / PERIOD) + delta;
}

/** The code for this time. */
export function totpCode(secret: string, now: number): string {
  return generator(secret).generate({ timestamp: now });
}

function generator(secret: string, issuer = "", label = ""): TOTP {
  return new TOTP({ issuer, label, algorithm: "SHA1", digits: 6, period: PERIOD, secret: Secret.fromBase32(secret) });
}
