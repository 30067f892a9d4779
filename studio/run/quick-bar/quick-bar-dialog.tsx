import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import type { Overlay } from "#studio/run/model.ts";

interface Props {
  overlays: readonly Overlay[];
  favourites: readonly string[];
  onToggle: (id: string) => void;
  onClose: () => void;
}

/** Chooses the overlays of the quick bar. */
export default function QuickBarDialog({ overlays, favourites, onToggle, onClose }: Props) {
  return (
    <Dialog
      title="Quick bar"
      onClose={onClose}
      actions={
        <Button look="primary" onPress={onClose}>
          Done
        </Button>
      }
    >
      <p className="soft">They are shown besides the rundown, and kept in this browser.</p>
      <ul className="quick-choices">
        {overlays.map(({ _id, name }) => (
          <li key={_id}>
            <label>
              <input type="checkbox" checked={favourites.includes(_id)} onChange={() => onToggle(_id)} />
              {name}
            </label>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
