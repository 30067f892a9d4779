import type { RoomTask } from "./chat-room.protocol.ts";

/** What a task needs of a room, which may be another object. */
interface Room {
  refresh(): Promise<void>;
  erase(accountId: string): Promise<void>;
  isUsedBy(accountId: string): Promise<boolean>;
}

/** Runs a task in each of these rooms; returns the channels for which it returns true. */
export async function runInRooms(channelIds: string[], roomOf: (channelId: string) => Room, task: RoomTask): Promise<string[]> {
  const found = await Promise.all(channelIds.map((channelId) => run(roomOf(channelId), task)));
  return channelIds.filter((_, index) => found[index]);
}

async function run(room: Room, task: RoomTask): Promise<boolean> {
  if (task.kind === "find") return room.isUsedBy(task.accountId);
  await (task.kind === "erase" ? room.erase(task.accountId) : room.refresh());
  return false;
}
