import { connectionTo } from "#studio/session/session.ts";

/** Signs a new account in. If that needs more, such as a verified address, the sign-in says so. */
export async function enter(siteId: string, email: string, password: string): Promise<void> {
  await connectionTo(siteId)
    .client.signIn(email, password)
    .catch(() => undefined);
}
