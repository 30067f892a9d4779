import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { TifoProblem } from "#sdk/client/index.ts";
import { redeemIntent } from "#studio/session/intent.ts";
import { connectionTo } from "#studio/session/session.ts";
import { Button } from "#studio/ui/button.tsx";
import { errorText, Loading } from "#studio/ui/states.tsx";
import { EntranceCard } from "./entrance-card.tsx";

interface Props {
  siteId: string | null;
  intent: string;
  /** Goes on to the address of the link. */
  onDone: () => void;
}

type Step = "ask" | "redeem" | { problem: unknown };

/** Signs in with a link: a magic link, or the one of a partner who knows the person. */
export default function IntentEntrance({ siteId, intent, onDone }: Props) {
  // Somebody else's link must not replace a session, and with it whose work this is, unasked.
  const [step, setStep] = useState<Step>(() => (siteId !== null && connectionTo(siteId).tokens.get() ? "ask" : "redeem"));
  const isStarted = useRef(false);
  const redeem = useCallback(async () => {
    // It works once, and React runs effects twice in development.
    if (isStarted.current || siteId === null) return;
    isStarted.current = true;
    try {
      await redeemIntent(connectionTo(siteId), intent);
      onDone();
    } catch (problem) {
      isStarted.current = false;
      setStep({ problem });
    }
  }, [siteId, intent, onDone]);
  useEffect(() => {
    if (step === "redeem") void redeem();
  }, [step, redeem]);

  if (siteId === null) {
    return (
      <Card title="This link isn’t complete" description="It doesn’t name a site. Ask whoever gave it to you for another one.">
        <Button onPress={onDone}>To the sign-in</Button>
      </Card>
    );
  }
  if (step === "redeem") return <Loading label="Signing in…" />;
  if (step === "ask") {
    return (
      <Card
        title="You are signed in already"
        description="This link would sign you in as somebody else, and end your session in this browser."
      >
        <Button onPress={() => setStep("redeem")}>Use the link</Button>
        <Button look="primary" onPress={onDone}>
          Stay signed in
        </Button>
      </Card>
    );
  }
  const { title, description } = explained(step.problem);
  return (
    <Card title={title} description={description}>
      {isTransient(step.problem) && <Button onPress={() => setStep("redeem")}>Try again</Button>}
      <Button look="primary" onPress={onDone}>
        {connectionTo(siteId).tokens.get() ? "Go on" : "To the sign-in"}
      </Button>
    </Card>
  );
}

function Card({ title, description, children }: { title: string; description: string; children: ReactNode }) {
  return (
    <EntranceCard title={title} description={description} problem={null} onSubmit={(event) => event.preventDefault()}>
      {children}
    </EntranceCard>
  );
}

function explained(problem: unknown): { title: string; description: string } {
  const { status, code } = problem instanceof TifoProblem ? problem : { status: 0, code: "" };
  if (code === "totp_required")
    return { title: "Your account has an authenticator app", description: "Sign in with your password and a code; a link isn’t enough." };
  if (status === 404 || status === 409 || status === 400)
    return {
      title: "This link doesn’t work",
      description: "It works once, for 10 minutes. Open the magic link again, or ask for another one.",
    };
  return { title: "You aren’t signed in yet", description: errorText(problem) };
}

function isTransient(problem: unknown): boolean {
  return !(problem instanceof TifoProblem) || problem.status === 0 || problem.status === 429 || problem.status >= 500;
}
