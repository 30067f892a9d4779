import { lazy, type ReactNode, Suspense, useCallback, useState } from "react";
import { Button } from "#studio/ui/button.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Empty, errorText, ErrorState, Loading } from "#studio/ui/states.tsx";
import { Audience } from "./audience/audience.tsx";
import { Controls } from "./controls.tsx";
import { itemToArm, latestOnAir, type Minute, nextOf, undoable, withCount } from "./desk.ts";
import { type Bindings, type Command, storeBindings, storedBindings } from "./keys/keys.ts";
import type { Variables } from "./model.ts";
import { PausedRules } from "./paused-rules.tsx";
import { QuickBar } from "./quick-bar/quick-bar.tsx";
import { Operators } from "./operators.tsx";
import { RundownPanel } from "./rundown-panel.tsx";
import { type Desk, useDesk } from "./use-desk.ts";
import { type RulePause, useRulePause } from "./use-rule-pause.ts";
import { useSession } from "#studio/session/context.tsx";
import { useKeys } from "./keys/use-keys.ts";
import { useNow } from "#studio/ui/use-now.ts";
import { NextVariables, usePreview } from "./use-preview.tsx";
import { overrides, ownVariables } from "./variables.ts";

const KeysDialog = lazy(() => import("./keys/keys-dialog.tsx"));
// The SDK, which is as large as the rest of the screen.
const Monitors = lazy(() => import("./monitors.tsx"));

interface Props {
  channelId: string;
  channelName: string;
  /** Null if the channel has none yet. */
  rundownId: string | null;
  canWrite: boolean;
  chooser: ReactNode;
}

export function Show(props: Props) {
  return props.rundownId === null ? <WithoutRundown {...props} /> : <Running {...props} rundownId={props.rundownId} />;
}

function WithoutRundown({ channelName, chooser, canWrite }: Props) {
  return (
    <div className="run">
      <Head channelName={channelName}>{chooser}</Head>
      <Empty title="This channel has no rundown yet." icon="run">
        {canWrite ? "Create one, and add what happens in the show." : "An admin of the channel can create one."}
      </Empty>
    </div>
  );
}

function Head({ channelName, children }: { channelName: string; children: ReactNode }) {
  return (
    <div className="run-head">
      <h1>{channelName}</h1>
      {children}
    </div>
  );
}

function Running({ channelId, channelName, rundownId, canWrite, chooser }: Props & { rundownId: string }) {
  const { access } = useSession();
  const desk = useDesk(rundownId);
  const rules = useRulePause(channelId);
  const now = useNow(250);
  const [bindings, setBindings] = useState(() => storedBindings(localStorage));
  const [isChoosingKeys, setChoosingKeys] = useState(false);
  const [given, setGiven] = useState<{ itemId: string; variables: Variables } | null>(null);
  const audience = useAudience();
  const rundown = desk.current.data?.item;
  const next = rundown && nextOf(rundown);
  const variables = given !== null && given.itemId === next?._id ? given.variables : {};
  const preview = usePreview(rundownId, next, overrides(ownVariables(next), variables), rundown?.modified);
  const undo = undoable(desk.taken, now);
  const onAir = rundown && latestOnAir(rundown, now);

  const run = (command: Command): void => {
    if (!rundown || !canWrite) return;
    perform(command, desk, overrides(ownVariables(next), variables), { now, rules });
  };
  useKeys(bindings, run);
  const changeBindings = (changed: Bindings): void => {
    setBindings(changed);
    storeBindings(localStorage, changed);
  };

  if (!rundown)
    return (
      <div className="run">
        <Head channelName={channelName}>{chooser}</Head>
        {desk.current.isError ? (
          <ErrorState error={desk.current.error} retry={() => void desk.current.refetch()} />
        ) : (
          <Loading label="Loading the rundown…" />
        )}
      </div>
    );
  return (
    <div className="run">
      <Head channelName={channelName}>
        {chooser}
        <Operators operators={rundown.operators} />
        <Button size="small" look="quiet" onPress={() => setChoosingKeys(true)}>
          Keys
        </Button>
      </Head>
      {(audience.isLost || desk.current.isError) && (
        <div className="run-alert">
          <Notice tone="danger">
            {audience.isLost ? "The connection is lost." : errorText(desk.current.error)} The screen may be out of date; it continues by
            itself.
          </Notice>
        </div>
      )}
      {!canWrite && <Notice tone="info">Your role only reads: you can watch the show, but not run it.</Notice>}
      <div className="run-columns">
        <section className="card run-rundown" aria-labelledby="rundown">
          <div className="run-panel-head">
            <h2 id="rundown">Rundown</h2>
            <span className="run-held" role="status">
              {rundown.held && "On hold: only operators take"}
            </span>
            <span className="soft">
              {rundown.items.length} {rundown.items.length === 1 ? "item" : "items"}
            </span>
          </div>
          <RundownPanel desk={desk} canWrite={canWrite} />
        </section>
        <div className="run-middle">
          <div className="monitors">
            <Suspense fallback={<Loading label="Loading the monitors…" />}>
              <Monitors
                channelId={channelId}
                preview={preview.overlay}
                previewNote={preview.note}
                previewName={next?.name ?? "Nothing"}
                onCount={audience.count}
                onConnection={(isOnline) => {
                  audience.setOnline(isOnline);
                  // What others have done meanwhile.
                  if (isOnline && audience.isLost) desk.reread();
                }}
                onChange={(id) => id === rundownId && desk.reread()}
              />
            </Suspense>
          </div>
          <Controls
            bindings={bindings}
            onCommand={run}
            canWrite={canWrite}
            isTaking={desk.isTaking}
            canTake={next !== undefined}
            canSkip={itemToArm(rundown) !== undefined}
            onAir={onAir}
            isHeld={rundown.held}
            undo={undo}
          />
          <PausedRules pause={rules} canWrite={canWrite} />
          {access.writesSite && <QuickBar channelId={channelId} />}
          {/* Below the controls, which then stay in place whatever is next. */}
          <NextVariables item={next} given={variables} onChange={(changed) => next && setGiven({ itemId: next._id, variables: changed })} />
        </div>
        <Audience
          channelId={channelId}
          rundownId={rundownId}
          viewers={audience.isOnline ? audience.viewers : null}
          minutes={audience.minutes}
        />
      </div>
      {isChoosingKeys && (
        <Suspense>
          <KeysDialog bindings={bindings} onChange={changeBindings} onClose={() => setChoosingKeys(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** What a button or key does. What isn't possible now does nothing. */
function perform(command: Command, desk: Desk, variables: Variables | undefined, { now, rules }: { now: number; rules: RulePause }): void {
  const rundown = desk.current.data?.item;
  if (!rundown) return;
  const next = nextOf(rundown);
  switch (command) {
    case "take":
      // One press, one take: the generation would let a second one take the following item.
      if (next && !desk.isTaking) desk.take.mutate({ itemId: next._id, generation: rundown.generation, variables });
      return;
    case "next": {
      const following = itemToArm(rundown);
      if (following) desk.patch.mutate({ armedItemId: following._id });
      return;
    }
    case "clear": {
      const onAir = latestOnAir(rundown, now);
      if (onAir) desk.clear.mutate({ takeId: onAir._id });
      return;
    }
    case "clearAll":
      return desk.clear.mutate({ all: true });
    case "hold":
      return desk.patch.mutate({ held: !rundown.held });
    case "panic":
      desk.clear.mutate({ all: true });
      rules.change.mutate(true);
      if (!rundown.held) desk.patch.mutate({ held: true });
      return;
    case "undo": {
      const last = undoable(desk.taken, now);
      if (last) desk.clear.mutate({ takeId: last.take._id });
    }
  }
}

/** The channel's viewers, now and per minute since the screen was opened. */
function useAudience() {
  const [viewers, setViewers] = useState(0);
  const [minutes, setMinutes] = useState<readonly Minute[]>([]);
  const [connection, setConnection] = useState<"new" | "live" | "lost">("new");
  const setOnline = useCallback((isOnline: boolean) => {
    setConnection((before) => (isOnline ? "live" : before === "new" ? "new" : "lost"));
  }, []);
  const count = useCallback((current: number) => {
    setViewers(current);
    setMinutes((known) => withCount(known, current, Date.now()));
  }, []);
  return { viewers, minutes, isOnline: connection === "live", isLost: connection === "lost", setOnline, count };
}
