import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { Dialog } from "./dialog.tsx";

interface Props {
  channelId: string;
  onCreated: (id: string) => void;
}

export function NewRundown({ channelId, onCreated }: Props) {
  const { client } = useSession();
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const create = useMutation({
    mutationFn: () => ok(client.api.POST("/rundown/v1", { body: { channelId, name: name.trim(), items: [] } })),
    onSuccess: ({ _id }) => {
      setOpen(false);
      setName("");
      onCreated(_id);
    },
  });
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    if (name.trim() !== "" && !create.isPending) create.mutate();
  }
  return (
    <>
      <Button size="small" onPress={() => setOpen(true)}>
        New rundown
      </Button>
      {isOpen && (
        <Dialog title="New rundown" onClose={() => setOpen(false)}>
          <form className="item-form" onSubmit={submit} noValidate>
            <TextField
              label="Name"
              value={name}
              onChange={setName}
              placeholder="Derby, first half"
              error={create.isError ? errorText(create.error) : undefined}
            />
            <div className="run-dialog-actions">
              <Button onPress={() => setOpen(false)}>Cancel</Button>
              <Button look="primary" type="submit">
                Create
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
