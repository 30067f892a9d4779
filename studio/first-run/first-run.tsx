import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, useEffect, useRef, useState } from "react";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { changeSite } from "./change-site.ts";
import { ChannelStep } from "./channel-step.tsx";
import { EmbedStep } from "./embed-step.tsx";
import { InviteStep } from "./invite-step.tsx";
import { OverlayStep } from "./overlay-step.tsx";
import { doneSteps, type Step, STEP_TITLES, STEPS, withoutFirstRun, withStep } from "./progress.ts";
import { SiteStep } from "./site-step.tsx";
import type { Created, StepProps } from "./step.ts";
import "./first-run.css";

const CONTENT: Record<Step, (props: StepProps) => React.ReactNode> = {
  site: SiteStep,
  channel: ChannelStep,
  overlay: OverlayStep,
  embed: EmbedStep,
  invite: InviteStep,
};

/** Leads through the set-up of an empty site. The site remembers what is done, so that anybody can resume it anywhere. */
export default function FirstRun({ site, onClose }: { site: Schemas["SiteAsRead"]; onClose: () => void }) {
  const { client } = useSession();
  const queries = useQueryClient();
  const created = useCreated();
  const [chosen, setChosen] = useState<Step | null>(null);
  const [hasMoved, setMoved] = useState(false);
  if (created.isPending) return <Loading label="Loading the set-up…" />;
  if (created.isError) return <ErrorState error={created.error} retry={() => void created.refetch()} />;
  const found = { channel: created.data.channel !== null, overlay: created.data.overlay !== null };
  const done = doneSteps(site.settings, found);
  const current = chosen ?? STEPS.find((step) => !done.includes(step)) ?? null;
  const Content = current && CONTENT[current];

  async function refresh(): Promise<void> {
    const keys = [["site"], ["first-run"], ["channels"], ["themes"]];
    await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
  }

  async function finish(step: Step, change: { name?: string } = {}): Promise<void> {
    await changeSite(client, ({ settings }) => ({ ...change, settings: withStep(settings, step, found) }));
    await refresh();
    move(null);
  }

  function move(step: Step | null): void {
    setChosen(step);
    setMoved(true);
  }

  async function dismiss(): Promise<void> {
    try {
      await changeSite(client, ({ settings }) => ({ settings: withoutFirstRun(settings) }));
      await refresh();
      onClose();
    } catch (error) {
      toast(errorText(error), "danger");
    }
  }

  return (
    <>
      <PageHeader
        title={current === null ? `${site.name} is ready` : `Set up ${site.name}`}
        description={current === null ? "All five steps are done." : "Five steps, about a minute each. Leave and resume at any time."}
      >
        {current !== null && (
          <Button look="quiet" onPress={() => void dismiss()}>
            Skip the set-up
          </Button>
        )}
      </PageHeader>
      <div className="first-run">
        <StepList done={done} current={current} onChoose={move} />
        <section className="card first-run-step" aria-labelledby="first-run-step">
          <Fragment key={current}>
            <StepHeading isFocused={hasMoved}>{current === null ? "What next?" : STEP_TITLES[current]}</StepHeading>
            {current === null || Content === null ? (
              <Ready created={created.data} onClose={onClose} />
            ) : (
              <Content site={site} created={created.data} onDone={(change) => finish(current, change)} />
            )}
          </Fragment>
        </section>
      </div>
    </>
  );
}

/** Focused after a move from another step, whose button is gone. */
function StepHeading({ isFocused, children }: { isFocused: boolean; children: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isFocused) heading.current?.focus();
  }, [isFocused]);
  return (
    <h2 id="first-run-step" ref={heading} tabIndex={-1}>
      {children}
    </h2>
  );
}

/** The site's first channel and overlay. */
function useCreated() {
  const { client } = useSession();
  const query = { limit: 1, sortBy: "created", sortDirection: 1 } as const;
  return useQuery({
    queryKey: ["first-run"],
    queryFn: async (): Promise<Created> => {
      const [channels, overlays] = await Promise.all([
        ok(client.api.GET("/page/v2/channel", { params: { query } })),
        ok(client.api.GET("/overlay/v1", { params: { query } })),
      ]);
      return { channel: channels.results[0] ?? null, overlay: overlays.results[0] ?? null };
    },
  });
}

interface StepListProps {
  done: readonly Step[];
  current: Step | null;
  onChoose: (step: Step) => void;
}

function StepList({ done, current, onChoose }: StepListProps) {
  return (
    <ol className="first-run-steps" aria-label="Steps">
      {STEPS.map((step, index) => {
        const isDone = done.includes(step);
        return (
          <li key={step}>
            <button
              type="button"
              className="first-run-link"
              data-done={isDone || undefined}
              aria-current={step === current ? "step" : undefined}
              onClick={() => onChoose(step)}
            >
              <span className="first-run-mark" aria-hidden="true">
                {isDone ? "✓" : index + 1}
              </span>
              <span>{STEP_TITLES[step]}</span>
              {isDone && <span className="visually-hidden">, done</span>}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function Ready({ created, onClose }: { created: Created; onClose: () => void }) {
  return (
    <div className="first-run-form">
      <ul className="first-run-next">
        {created.channel && (
          <li>
            <Link to={`/run/${created.channel._id}`}>Run a show</Link>
            <span className="soft">Put your overlays into a rundown and take them one by one.</span>
          </li>
        )}
        <li>
          <Link to="/overlays">Design more overlays</Link>
          <span className="soft">Scorebug, goal, line-up, poll and more, in your colours.</span>
        </li>
        <li>
          <Link to="/polls">Ask your audience</Link>
          <span className="soft">Polls, predictions and trivia, with live results.</span>
        </li>
        <li>
          <a href="/guides/studio" target="_blank" rel="noreferrer">
            Read the guide
          </a>
          <span className="soft">Everything that Studio does, and how to do it over the API.</span>
        </li>
      </ul>
      <div className="first-run-actions">
        <Button look="primary" onPress={onClose}>
          Go to the overview
        </Button>
      </div>
    </div>
  );
}
