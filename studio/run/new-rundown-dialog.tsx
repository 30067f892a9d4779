import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { once } from "#studio/api/once.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";

interface Props {
  channelId: string;
  onCreated: (id: string) => void;
  onClose: () => void;
}

export default function NewRundownDialog({ channelId, onCreated, onClose }: Props) {
  const { client } = useSession();
  const [name, setName] = useState("");
  const create = useMutation({
    mutationFn: () => ok(client.api.POST("/rundown/v1", { body: { channelId, name: name.trim(), items: [] }, ...once })),
    onSuccess: ({ _id }) => onCreated(_id),
  });
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    if (name.trim() !== "" && !create.isPending) create.mutate();
  }
  return (
    <Dialog title="New rundown" onClose={onClose}>
      <form className="dialog-form" onSubmit={submit} noValidate>
        <TextField
          label="Name"
          autoFocus
          value={name}
          onChange={setName}
          placeholder="Derby, first half"
          error={create.isError ? errorText(create.error) : undefined}
        />
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button look="primary" type="submit">
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
