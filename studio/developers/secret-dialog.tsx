import { useState } from "react";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { TextField } from "#studio/ui/text-field.tsx";

/** A secret, which is never shown again. */
export function SecretDialog({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) {
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
      <Notice tone="warning">Store the key now: it isn&apos;t shown again.</Notice>
      <TextField label="Developer key" value={secret} isReadOnly />
      {copied === true && <Notice tone="success">Copied.</Notice>}
      {copied === false && <Notice tone="danger">The browser didn&apos;t allow copying. Select the key and copy it.</Notice>}
    </Dialog>
  );
}
