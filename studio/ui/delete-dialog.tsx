import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Confirm } from "./dialog.tsx";
import { errorText } from "./states.tsx";
import { toast } from "./toast.tsx";

interface DeleteDialogProps {
  /** What it is, in the singular: "poll". */
  noun: string;
  remove: () => Promise<unknown>;
  /** The query of the list that has it. */
  list: QueryKey;
  /** The screen of this list, which is shown afterwards. */
  screen: string;
  onClose: () => void;
  /** What the deletion means. */
  children: ReactNode;
}

/** Asks before the thing of this screen is deleted, and goes back to the list. */
export function DeleteDialog({ noun, remove, list, screen, onClose, children }: DeleteDialogProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const deletion = useMutation({
    mutationFn: remove,
    async onSuccess() {
      toast(`The ${noun} has been deleted.`);
      await queries.invalidateQueries({ queryKey: list });
      await navigate({ to: screen });
    },
    onError(error) {
      toast(errorText(error), "danger");
      onClose();
    },
  });
  return (
    <Confirm
      title={`Delete the ${noun}?`}
      action="Delete"
      isPending={deletion.isPending}
      onConfirm={() => deletion.mutate()}
      onClose={onClose}
    >
      <p>{children} This can&apos;t be undone.</p>
    </Confirm>
  );
}
