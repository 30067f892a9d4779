import type { Schemas } from "#sdk/client/index.ts";

export type Rundown = Schemas["Rundown"];
export type Item = Rundown["items"][number];
export type ItemInput = Schemas["RundownReplacement"]["items"][number];
export type Take = Schemas["RundownTake"];
export type AsRunEntry = Schemas["AsRunEntry"];
export type Overlay = Schemas["Overlay"];
export type Variables = NonNullable<Schemas["TakeInput"]["variables"]>;
/** What viewers would see if an item were taken now. */
export type Previewed = NonNullable<Schemas["RundownPreview"]["overlay"]>;
export type Poll = Schemas["Poll"];
