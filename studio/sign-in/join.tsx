import { useForm } from "react-hook-form";
import { ok } from "#sdk/client/index.ts";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";
import { connectionTo } from "#studio/session/session.ts";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { enter } from "./enter.ts";
import { EntranceCard } from "./entrance-card.tsx";

interface Props {
  siteId: string | null;
  token: string;
  onEntered: (siteId: string) => void;
}

const FIELDS = ["name", "password"] as const;

/** Accepts the invitation of an e-mail. */
export default function Join({ siteId, token, onEntered }: Props) {
  const form = useForm({ defaultValues: { name: "", password: "" } });
  const { problem, run } = useServerIssues(form, (path) => FIELDS.find((field) => field === path) ?? null);
  const isComplete = siteId !== null && token !== "";
  const join = (body: { name: string; password: string }) =>
    run(async () => {
      if (siteId === null) return;
      const { client } = connectionTo(siteId);
      const { email } = await ok(client.api.POST("/invite/v1/register/{token}", { params: { path: { token } }, body }));
      await enter(siteId, email, body.password);
      onEntered(siteId);
    });
  return (
    <EntranceCard
      title={isComplete ? "Join in Studio" : "This link isn’t complete"}
      description={isComplete ? "Choose how others see you, and a password." : "Open the link in the e-mail again."}
      problem={problem}
      onSubmit={(event) => void form.handleSubmit(join)(event)}
    >
      {isComplete && (
        <>
          <FormField control={form.control} name="name" label="Your name" autoComplete="name" rules={{ required: "Enter your name." }} />
          <FormField
            control={form.control}
            name="password"
            label="Password"
            type="password"
            autoComplete="new-password"
            description="At least 10 characters."
            rules={{ required: "Choose a password." }}
          />
          <Button type="submit" look="primary" isPending={form.formState.isSubmitting}>
            Join
          </Button>
        </>
      )}
    </EntranceCard>
  );
}
