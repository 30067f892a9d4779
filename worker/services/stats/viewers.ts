import { createHash } from "node:crypto";
import { and, sql } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { keyPlays, statEntities } from "#db/schema/stats.ts";
import type { SentEntity, SentKeyPlay } from "#worker/durable-objects/relay/relay.protocol.ts";
import { statBoardOf } from "#worker/durable-objects/stubs.ts";
import { ownRows } from "#worker/services/core/context.ts";
import type { Found } from "./mapping.ts";
import { toKeyPlay, toStatEntity } from "./schemas.ts";
import { selectEntities } from "./stats.ts";

/** An entity or key play as all viewers of a channel receive it. */
export interface SentStat {
  id: string;
  type: "entity.updated" | "keyPlay.updated";
  /** JSON. */
  data: string;
  /** Identifies what viewers see of it, so that an event that only repeats it isn't sent. */
  digest: string;
}

/** Notifies the viewers of the channels that an event is about. Safe to repeat. */
export async function notifyOfFacts(env: Env, siteId: string, { entities, plays }: Found): Promise<void> {
  const byChannel = new Map<string, string[]>();
  for (const { id, channelId } of [...entities, ...plays]) byChannel.set(channelId, [...(byChannel.get(channelId) ?? []), id]);
  await Promise.all([...byChannel].map(([channelId, ids]) => statBoardOf(env, siteId, channelId).reported(ids)));
}

/** Entities and key plays of a channel, by their ids; deleted ones are missing. */
export async function readSentStats(
  env: Env,
  { siteId, channelId }: { siteId: string; channelId: string },
  ids: string[],
): Promise<SentStat[]> {
  const db = siteDb(env, siteId);
  const [entities, plays] = await db.batch([
    selectEntities(db).where(and(ownRows({ siteId }, statEntities, ids), sql`+${statEntities.channelId} = ${channelId}`)),
    db
      .select()
      .from(keyPlays)
      .where(and(ownRows({ siteId }, keyPlays, ids), sql`+${keyPlays.channelId} = ${channelId}`)),
  ]);
  return [...entities.map((row) => sentEntity(toStatEntity(row))), ...plays.map((row) => sentPlay(toKeyPlay(row)))];
}

function sentEntity(entity: SentEntity): SentStat {
  const { name, image, team, facts } = entity;
  const values = Object.entries(facts).map(([fact, { value }]) => [fact, value]);
  const shown = [name, image, team, values];
  return { id: entity._id, type: "entity.updated", data: JSON.stringify(entity), digest: digestOf(shown) };
}

function sentPlay(play: SentKeyPlay): SentStat {
  return { id: play._id, type: "keyPlay.updated", data: JSON.stringify(play), digest: digestOf({ ...play, at: 0 }) };
}

function digestOf(shown: unknown): string {
  return createHash("sha256").update(JSON.stringify(shown)).digest("base64url").slice(0, 22);
}
