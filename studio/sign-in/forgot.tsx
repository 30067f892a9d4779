import { useState } from "react";
import { useForm } from "react-hook-form";
import { ok } from "#sdk/client/index.ts";
import { connectionTo } from "#studio/session/session.ts";
import { isSiteId } from "#studio/session/sites.ts";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";
import { EntranceCard } from "./entrance-card.tsx";

interface Props {
  email: string;
  siteId: string;
  onBack: () => void;
}

/** Mails a link with which somebody who has forgotten their password chooses a new one. */
export default function Forgot({ email, siteId, onBack }: Props) {
  const form = useForm({ defaultValues: { email, siteId } });
  const [isMailed, setMailed] = useState(false);
  const { problem, run } = useServerIssues(form, (path) => (path === "email" ? "email" : null));
  const request = (fields: Pick<Props, "email" | "siteId">) =>
    run(async () => {
      const site = fields.siteId.trim();
      const body = { email: fields.email.trim(), baseUrl: `${location.origin}/studio/reset?site=${site}` };
      await ok(connectionTo(site).client.api.POST("/account/v3/reset", { body }));
      setMailed(true);
    });
  return (
    <EntranceCard
      title="Reset your password"
      description="You get an e-mail with a link, which works once, for one hour."
      problem={problem}
      onSubmit={(event) => void form.handleSubmit(request)(event)}
    >
      {isMailed ? (
        <Notice tone="success">If the site has an account with this address, the e-mail is on its way.</Notice>
      ) : (
        <>
          <FormField
            control={form.control}
            name="email"
            label="E-mail"
            type="email"
            autoComplete="username"
            rules={{ required: "Enter your e-mail address." }}
          />
          <FormField
            control={form.control}
            name="siteId"
            label="Site ID"
            autoComplete="off"
            rules={{ validate: (text) => isSiteId(text.trim()) || "A site ID has 24 characters: 0 to 9 and a to f." }}
          />
          <Button type="submit" look="primary" isPending={form.formState.isSubmitting}>
            Send the link
          </Button>
        </>
      )}
      <Button look="quiet" onPress={onBack}>
        Back to the sign-in
      </Button>
    </EntranceCard>
  );
}
