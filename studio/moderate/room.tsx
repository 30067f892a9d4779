import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { ifMatch, type Loaded, loaded } from "#sdk/client/latest.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Select } from "#studio/ui/select.tsx";
import { ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { Switch } from "#studio/ui/switch.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { BlockedWords } from "./blocked-words.tsx";

type Settings = Schemas["ChatSettings"];

/** Who may write in the channel's chat, and how often. */
export function Room({ channelId }: { channelId: string }) {
  const { client, access } = useSession();
  const path = { channelId };
  const room = useQuery({
    queryKey: ["chat-settings", channelId],
    queryFn: () => loaded(client.api.GET("/chat/v1/{channelId}/settings", { params: { path } })),
    staleTime: 0,
  });
  if (room.isPending) return <Loading label="Loading the room…" />;
  if (!room.data) return <ErrorState error={room.error} retry={() => void room.refetch()} />;
  return (
    <div className="room">
      <RoomForm key={room.data.item.modified} saved={room.data} />
      {access.isSiteAdmin && <BlockedWords />}
    </div>
  );
}

const MODES = [
  { value: "open", text: "Open: everybody may write" },
  { value: "members", text: "Members: accounts with a subscription" },
  { value: "paused", text: "Paused: only moderators" },
];
const PACES = [0, 3, 5, 10, 30, 60, 300, 900];

function RoomForm({ saved: { item: settings, etag } }: { saved: Loaded<Settings> }) {
  const { client, access } = useSession();
  const queries = useQueryClient();
  const { channelId } = settings;
  const canWrite = access.moderates("Chat_Moderator", channelId, "write");
  const [mode, setMode] = useState<string>(settings.mode);
  const [skus, setSkus] = useState(settings.skus.join(", "));
  const [slowSeconds, setSlowSeconds] = useState(settings.slowSeconds);
  const [premoderate, setPremoderate] = useState(settings.premoderate);
  const [keepsPinned, setKeepsPinned] = useState(settings.pinned !== null);
  const save = useMutation({
    mutationFn: () => {
      const body = {
        mode: MODE_NAMES.find((name) => name === mode) ?? settings.mode,
        ...{ slowSeconds, premoderate, emoji: settings.emoji, languages: settings.languages },
        skus: skus.split(/[\s,]+/).filter((sku) => sku !== ""),
        pinnedMessageId: keepsPinned ? (settings.pinned?._id ?? null) : null,
      };
      return ok(client.api.PUT("/chat/v1/{channelId}/settings", { params: { path: { channelId } }, body, headers: ifMatch(etag) }));
    },
    onSuccess: () => toast("The room has its new settings."),
    onError: (error) => toast(errorText(error), "danger"),
    onSettled: () => queries.invalidateQueries({ queryKey: ["chat-settings", channelId] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  const paces = PACES.includes(slowSeconds) ? PACES : [...PACES, slowSeconds].sort((one, other) => one - other);
  return (
    <form className="moderate-card card" onSubmit={submit} aria-labelledby="room-title">
      <h2 id="room-title">Chat room</h2>
      <Select label="Who may write" value={mode} onChange={setMode} options={MODES} isDisabled={!canWrite} />
      {mode === "members" && (
        <TextField
          label="SKUs"
          description="An entitlement to any of these is enough. Separate them with commas."
          value={skus}
          onChange={setSkus}
          isDisabled={!canWrite}
        />
      )}
      <Select
        label="Slow mode"
        value={String(slowSeconds)}
        onChange={(seconds) => setSlowSeconds(Number(seconds))}
        options={paces.map((seconds) => ({ value: String(seconds), text: seconds === 0 ? "Off" : `One message per ${paceText(seconds)}` }))}
        isDisabled={!canWrite}
      />
      <Switch
        label="Hold every message"
        description="Messages wait in the queue until a moderator approves them."
        isSelected={premoderate}
        onChange={setPremoderate}
        isDisabled={!canWrite}
      />
      {settings.pinned !== null && (
        <Switch
          label="Pinned message"
          description={`${settings.pinned.name}: ${settings.pinned.text ?? ""}`}
          isSelected={keepsPinned}
          onChange={setKeepsPinned}
          isDisabled={!canWrite}
        />
      )}
      {canWrite && (
        <div>
          <Button type="submit" look="primary" isPending={save.isPending}>
            Save
          </Button>
        </div>
      )}
    </form>
  );
}

const MODE_NAMES = ["open", "members", "paused"] as const;

function paceText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${seconds / 60} min`;
}
