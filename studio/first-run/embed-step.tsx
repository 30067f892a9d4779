import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { embedCode } from "./embed-code.ts";
import type { Created, StepProps } from "./step.ts";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";

const POLL_MS = 2_000;
/** A receipt is complete by then. */
const POLLS = 30;

/** The lines for the site's page, and a try that shows whether they work. */
export function EmbedStep({ created, onDone }: StepProps) {
  const { siteId } = useSession();
  const form = useForm();
  const { problem, run } = useServerIssues(form, () => null);
  const [copied, setCopied] = useState<boolean | null>(null);
  if (!created.channel) return <p>Create a channel first: the code names it.</p>;
  const code = embedCode({ origin: location.origin, siteId, channelId: created.channel._id });
  const copy = () =>
    navigator.clipboard.writeText(code).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <form className="first-run-form" noValidate onSubmit={(event) => void form.handleSubmit(() => run(() => onDone()))(event)}>
      <p className="soft">
        Paste these lines into the page with your player, and open that page. For Vite, Next.js and WordPress, see{" "}
        <a href="/guides/websites" target="_blank" rel="noreferrer">
          Add Tifo to a website
        </a>
        .
      </p>
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      <pre className="first-run-code" tabIndex={0} role="region" aria-label="Code to paste">
        <code>{code}</code>
      </pre>
      <div className="first-run-actions">
        <Button onPress={() => void copy()}>Copy the code</Button>
        {copied === true && <span role="status">Copied.</span>}
        {copied === false && <span role="alert">The browser didn’t allow copying. Select the code and copy it.</span>}
      </div>
      {created.overlay && <Try channel={created.channel} overlay={created.overlay} />}
      <div className="first-run-actions">
        <Button type="submit" look="primary" isPending={form.formState.isSubmitting}>
          Continue
        </Button>
      </div>
    </form>
  );
}

type TryProps = { [Name in keyof Created]: NonNullable<Created[Name]> };

/** Shows the overlay on the channel, and how many viewers it has reached. */
function Try({ channel, overlay }: TryProps) {
  const { client } = useSession();
  const send = useMutation({
    mutationFn: () =>
      ok(client.api.POST("/overlay/v1/broadcast/{id}", { params: { path: { id: overlay._id } }, body: { channelId: channel._id } })),
  });
  const broadcastId = send.data?.broadcastId ?? "";
  const receipt = useQuery({
    queryKey: ["first-run", "receipt", broadcastId],
    queryFn: () => ok(client.api.GET("/overlay/v1/broadcasts/{broadcastId}/receipt", { params: { path: { broadcastId } } })),
    enabled: broadcastId !== "",
    refetchInterval: ({ state }) =>
      (state.data === undefined ? 0 : receivedOf(state.data)) > 0 || state.dataUpdateCount >= POLLS ? false : POLL_MS,
  });
  const viewers = receipt.data ? receivedOf(receipt.data) : 0;
  return (
    <div className="first-run-try">
      <div className="first-run-actions">
        <Button onPress={() => send.mutate()} isPending={send.isPending}>
          Show “{overlay.name}” now
        </Button>
      </div>
      {send.isError && <Notice tone="danger">{errorText(send.error)}</Notice>}
      {send.isSuccess && viewers > 0 && (
        <Notice tone="success">{viewers === 1 ? "Your page has received it." : `${viewers} viewers have received it.`}</Notice>
      )}
      {send.isSuccess && viewers === 0 && <Notice tone="info">Sent. No page has received it yet: is yours open?</Notice>}
    </div>
  );
}

/** Viewers who have it, also those who connected after it was sent. */
function receivedOf({ acknowledged, late }: Pick<Schemas["BroadcastReceipt"], "acknowledged" | "late">): number {
  return acknowledged + late;
}
