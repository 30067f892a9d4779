import { useState } from "react";
import { useForm } from "react-hook-form";
import { ok, type Schemas, TifoProblem } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { errorText } from "#studio/ui/states.tsx";

interface Props {
  onClose: () => void;
  onCreated: (key: Schemas["ApiKeyWithSecret"]) => void;
}

interface Fields {
  name: string;
  clientName: string;
  roles: string;
}

export function NewKeyDialog({ onClose, onCreated }: Props) {
  const { client } = useSession();
  const [problem, setProblem] = useState<string | null>(null);
  const { control, handleSubmit, formState, setError } = useForm<Fields>({ defaultValues: { name: "", clientName: "", roles: "*" } });

  async function create({ name, clientName, roles }: Fields): Promise<void> {
    setProblem(null);
    const body = {
      name,
      clientName: clientName.trim() === "" ? null : clientName,
      roles: roles.split(/[\s,]+/).filter((role) => role !== ""),
    };
    try {
      onCreated(await ok(client.api.POST("/site/v1/api-keys", { body })));
    } catch (error) {
      const issues = error instanceof TifoProblem ? error.issues : [];
      for (const { path, message } of issues) {
        const field = (["name", "clientName", "roles"] as const).find((known) => path.startsWith(known));
        if (field) setError(field, { message });
      }
      if (issues.length === 0) setProblem(errorText(error));
    }
  }

  const submit = () => void handleSubmit(create)();
  return (
    <Dialog
      title="New key"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button look="primary" isPending={formState.isSubmitting} onPress={submit}>
            Create
          </Button>
        </>
      }
    >
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      <FormField control={control} name="name" label="Name" autoFocus rules={{ required: "Enter a name." }} />
      <FormField control={control} name="clientName" label="Used by" description="Who or what uses the key." />
      <FormField
        control={control}
        name="roles"
        label="Roles"
        description="* for everything, or areas: overlay:write, poll:read …"
        rules={{ required: "Enter at least one role." }}
      />
    </Dialog>
  );
}
