import { randomToken, seal } from "#worker/lib/crypto/crypto.ts";
import { sealSecret } from "#worker/services/data-providers/provider-signatures.ts";
import { newRaffle } from "#worker/services/quests/raffles.ts";
import { sealAuthorization } from "#worker/services/stream-providers/stream-providers.ts";
import { sealStreamKey } from "#worker/services/streams/streams.ts";
import { SECRET_PURPOSE } from "#worker/services/webhooks/dispatch.ts";
import { newWebhookSecret } from "#worker/services/webhooks/signature.ts";

/** A row as it is stored, by the names of its columns. */
export type StoredRow = Record<string, string | number | null>;

/** What replaces a row's secrets where they can't be read. */
export type Replace = (env: { TIFO_SECRET: string }, row: StoredRow) => Promise<StoredRow>;

export const noPassword: Replace = async () => ({ password_hash: null });

/** Unknown to the provider until the site rotates it. */
export const freshProviderSecret: Replace = async (env) => ({
  secret_sealed: await sealSecret(env, randomToken()),
  previous_secret_sealed: null,
  previous_expires: null,
});

export const freshSigningSecret: Replace = async (env) => ({
  secret_sealed: await seal(env, SECRET_PURPOSE, newWebhookSecret()),
  previous_secret_sealed: null,
  previous_secret_expires: null,
});

/** Unknown to the provider, which has to be registered again. */
export const freshAuthorization: Replace = async (env) => {
  const { authorizationSealed, authorizationHash } = await sealAuthorization(env, crypto.randomUUID());
  return { authorization_sealed: authorizationSealed, authorization_hash: authorizationHash };
};

export const noStreamKey: Replace = async (env) => ({ stream_key_sealed: await sealStreamKey(env, "") });

/** A raffle that hasn't been drawn gets a new seed, and with it a new commitment. */
export const freshRaffle: Replace = async (env, row): Promise<StoredRow> => {
  if (row.reward_type !== "raffle" || row.raffle_draw !== null) return { raffle_seed: null };
  const { raffleSeed, raffleCommitment } = await newRaffle(env);
  return { raffle_seed: raffleSeed, raffle_commitment: raffleCommitment };
};
