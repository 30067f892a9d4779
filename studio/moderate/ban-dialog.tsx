import { type FormEvent, useState } from "react";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Switch } from "#studio/ui/switch.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { banEnd, DURATIONS, type Entry } from "./desk.ts";
import type { ChatDecisions } from "./use-chat.ts";

interface Props {
  entry: Entry;
  decisions: ChatDecisions;
  onClose: () => void;
}

const KINDS = [
  { value: "ban", text: "Ban: reads, but can't send" },
  { value: "mute", text: "Mute: only the sender sees the messages" },
];

/** Bans or mutes who wrote a message. Enter does it, with what is chosen at first. */
export function BanDialog({ entry, decisions, onClose }: Props) {
  const { access } = useSession();
  const moderatesAll = access.moderated("Chat_Moderator", "write") === "all";
  const [kind, setKind] = useState("ban");
  const [place, setPlace] = useState("channel");
  const [duration, setDuration] = useState("86400");
  const [reason, setReason] = useState("");
  const [removes, setRemoves] = useState(entry.state !== "removed");
  const [isPending, setPending] = useState(false);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isPending || entry.accountId === null) return;
    setPending(true);
    const input = {
      accountId: entry.accountId,
      kind: kind === "mute" ? ("mute" as const) : ("ban" as const),
      channelId: place === "site" ? null : entry.channelId,
      until: banEnd(duration, Date.now()),
      reason: reason.trim(),
    };
    if (await decisions.ban(entry, input, removes)) onClose();
    else setPending(false);
  }

  return (
    <Dialog title={`Ban ${entry.name}`} onClose={onClose}>
      <form className="dialog-form" onSubmit={(event) => void submit(event)}>
        <Select label="Kind" value={kind} onChange={setKind} options={KINDS} />
        <Select label="For" value={duration} onChange={setDuration} options={DURATIONS} />
        {moderatesAll && (
          <Select
            label="Where"
            value={place}
            onChange={setPlace}
            options={[
              { value: "channel", text: "In this channel" },
              { value: "site", text: "In every channel of the site" },
            ]}
          />
        )}
        <TextField label="Reason" description="Only moderators see it." value={reason} onChange={setReason} maxLength={500} />
        {entry.state !== "removed" && <Switch label="Remove the message too" isSelected={removes} onChange={setRemoves} />}
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" look="danger" isDisabled={isPending} autoFocus>
            {kind === "mute" ? "Mute" : "Ban"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
