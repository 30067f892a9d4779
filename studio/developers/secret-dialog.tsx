import { useState } from "react";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { TextField } from "#studio/ui/text-field.tsx";

interface Props {
  name: string;
  secret: string;
  /** What it is: "Developer key". */
  label?: string;
  onClose: () => void;
}

/** A secret, which is never shown again. */
export function SecretDialog({ name, secret, label = "Developer key", onClose }: Props) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <Dialog
      title={name}
      onClose={onClose}
      actions={
        <>
          <Button onPress={() => void copy()}>Copy</Button>
          <Button look="primary" onPress={onClose}>
            Done
          </Button>
        </>
      }
    >
      <Notice tone="warning">Store it now: it isn&apos;t shown again.</Notice>
      <TextField label={label} value={secret} isReadOnly />
      {copied === true && <Notice tone="success">Copied.</Notice>}
      {copied === false && <Notice tone="danger">The browser didn&apos;t allow copying. Select it and copy it.</Notice>}
    </Dialog>
  );
}
