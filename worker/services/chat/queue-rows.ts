import { sql } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { chatQueue } from "#db/schema/engagement/chat.ts";

/** A message that waits for a moderator since a moment (ms), or null if it no longer does. */
interface Change {
  id: string;
  since: number | null;
}

/** Writes what has changed in a room's part of the moderators' queue. Safe to repeat; a deleted channel's room adds nothing. */
export async function writeQueue(env: Env, siteId: string, channelId: string, changes: Change[]): Promise<void> {
  const db = siteDb(env, siteId);
  const list = JSON.stringify(changes);
  const values = sql`json_each(${list})`;
  await db.batch([
    db.run(sql`insert into ${chatQueue} (id, site_id, channel_id, since)
      select json_extract(value, '$.id'), ${siteId}, ${channelId}, json_extract(value, '$.since') from ${values}
      where json_extract(value, '$.since') is not null
        and exists (select 1 from chat_rooms where id = ${channelId} and site_id = ${siteId})
      on conflict (id) do update set since = excluded.since`),
    db.run(sql`delete from ${chatQueue} where site_id = ${siteId}
      and id in (select json_extract(value, '$.id') from ${values} where json_extract(value, '$.since') is null)`),
  ]);
}
