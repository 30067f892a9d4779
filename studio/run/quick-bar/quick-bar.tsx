import { useMutation } from "@tanstack/react-query";
import { lazy, type SubmitEvent, Suspense, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { PressKeys } from "#sdk/client/press-keys.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { storedFavourites, storeFavourites, toggled } from "./favourites.ts";
import { inTime } from "#studio/run/in-time.ts";
import { useOverlays } from "#studio/run/kind-fields.tsx";
import type { Overlay, Variables } from "#studio/run/model.ts";
import { VariableFields } from "#studio/run/variable-fields.tsx";
import { fieldsOf } from "#studio/run/variables.ts";
import "./quick-bar.css";

const QuickBarDialog = lazy(() => import("./quick-bar-dialog.tsx"));

interface Press {
  overlay: Overlay;
  variables: Variables;
}

/** What is sent, to know it again. */
const textOf = ({ overlay, variables }: Press): string => JSON.stringify([overlay._id, variables]);

/** Overlays that are shown at once, besides the rundown, such as a goal. What varies is asked for in place. */
export function QuickBar({ channelId }: { channelId: string }) {
  const { client } = useSession();
  const overlays = useOverlays();
  const [favourites, setFavourites] = useState(() => storedFavourites(localStorage, channelId));
  const [asking, setAsking] = useState<Overlay | null>(null);
  const [isChoosing, setChoosing] = useState(false);
  const [keys] = useState(() => new PressKeys());
  const show = useMutation({
    mutationFn: ({ overlay, variables }: Press) =>
      keys.once(textOf({ overlay, variables }), async ({ key, isRepeated }) => {
        const body = { channelId, priority: 0, ...(Object.keys(variables).length > 0 && { variables }) };
        const params = { path: { id: overlay._id } };
        const headers = { "Idempotency-Key": key };
        const call = client.api.POST("/overlay/v1/broadcast/{id}", { params, body, headers, ...inTime() });
        await ok(call);
        return { wasShownBefore: isRepeated && (await call).response.headers.has("Idempotent-Replayed") };
      }),
    onSuccess: ({ wasShownBefore }, { overlay }) => {
      setAsking(null);
      toast(`“${overlay.name}” ${wasShownBefore ? "was already shown: only the answer was lost" : "is on air"}.`);
    },
    onError: (error) => toast(errorText(error), "danger"),
  });
  const known = overlays.data ?? [];
  const shown = favourites.flatMap((id) => known.find(({ _id }) => _id === id) ?? []);
  const choose = (id: string): void => {
    const next = toggled(favourites, id);
    setFavourites(next);
    storeFavourites(localStorage, channelId, next);
  };
  return (
    <section className="card quick-bar" aria-labelledby="quick-bar">
      <h2 id="quick-bar">Quick bar</h2>
      <div className="quick-buttons">
        {shown.map((overlay) => (
          <Button
            key={overlay._id}
            preventFocusOnPress
            aria-expanded={asking?._id === overlay._id}
            isDisabled={show.isPending}
            onPress={() =>
              fieldsOf(overlay).length === 0
                ? show.mutate({ overlay, variables: {} })
                : setAsking(asking?._id === overlay._id ? null : overlay)
            }
          >
            {overlay.name}
          </Button>
        ))}
        <Button look="quiet" size="small" onPress={() => setChoosing(true)}>
          {shown.length === 0 ? "Choose overlays for one press…" : "Edit…"}
        </Button>
      </div>
      {asking && (
        <Ask
          key={asking._id}
          overlay={asking}
          isPending={show.isPending}
          onShow={(variables) => show.mutate({ overlay: asking, variables })}
          onClose={() => setAsking(null)}
        />
      )}
      {isChoosing && (
        <Suspense>
          <QuickBarDialog overlays={known} favourites={favourites} onToggle={choose} onClose={() => setChoosing(false)} />
        </Suspense>
      )}
    </section>
  );
}

interface AskProps {
  overlay: Overlay;
  isPending: boolean;
  onShow: (variables: Variables) => void;
  onClose: () => void;
}

function Ask({ overlay, isPending, onShow, onClose }: AskProps) {
  const [given, setGiven] = useState<Variables>({});
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onShow(Object.fromEntries(fieldsOf(overlay, given).map(({ name, value }) => [name, value])));
  };
  return (
    <form className="quick-ask" aria-label={overlay.name} onSubmit={submit} noValidate>
      <VariableFields fields={fieldsOf(overlay, given)} onChange={(name, value) => setGiven({ ...given, [name]: value })} />
      <div className="quick-buttons">
        <Button type="submit" look="primary" isPending={isPending}>
          Show
        </Button>
        <Button onPress={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
