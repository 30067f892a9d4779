import { lazy, Suspense, useState } from "react";
import { Button } from "#studio/ui/button.tsx";

const NewRundownDialog = lazy(() => import("./new-rundown-dialog.tsx"));

interface Props {
  channelId: string;
  onCreated: (id: string) => void;
}

export function NewRundown({ channelId, onCreated }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="small" onPress={() => setOpen(true)}>
        New rundown
      </Button>
      {isOpen && (
        <Suspense>
          <NewRundownDialog
            channelId={channelId}
            onClose={() => setOpen(false)}
            onCreated={(id) => {
              setOpen(false);
              onCreated(id);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
