import { useState } from "react";
import { useForm } from "react-hook-form";
import { ok } from "#sdk/client/index.ts";
import { connectionTo } from "#studio/session/session.ts";
import { isSiteId, knownSites } from "#studio/session/sites.ts";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Select } from "#studio/ui/select.tsx";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";
import { EntranceCard } from "./entrance-card.tsx";

interface Props {
  email: string;
  siteId: string;
  onBack: () => void;
}

const ACCOUNTS = [
  { value: "site", text: "Of a site" },
  { value: "global", text: "Global, for several sites" },
] as const;

/** Mails a link with which somebody who has forgotten their password chooses a new one. */
export default function Forgot({ email, siteId, onBack }: Props) {
  // Without a site, the sign-in was to a global account.
  const [account, setAccount] = useState(siteId.trim() === "" ? "global" : "site");
  const isGlobal = account === "global";
  const form = useForm({ defaultValues: { email, siteId: siteId.trim() === "" ? (knownSiteId() ?? "") : siteId } });
  const [isMailed, setMailed] = useState(false);
  const { problem, run } = useServerIssues(form, (path) => (path === "email" ? "email" : null));
  const request = (fields: Pick<Props, "email" | "siteId">) =>
    run(async () => {
      const site = fields.siteId.trim();
      const page = `${location.origin}/studio/${isGlobal ? "reset-global" : "reset"}?site=${site}`;
      const { api } = connectionTo(site).client;
      const body = { email: fields.email.trim(), baseUrl: page };
      await ok(isGlobal ? api.POST("/account/v3/reset/global-accounts", { body }) : api.POST("/account/v3/reset", { body }));
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
        <Notice tone="success">
          {isGlobal
            ? "If a global account with this address administers the site, the e-mail is on its way."
            : "If the site has an account with this address, the e-mail is on its way."}
        </Notice>
      ) : (
        <>
          <Select label="Account" value={account} onChange={setAccount} options={ACCOUNTS} />
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
            description={isGlobal ? "Of any site that your global account administers." : undefined}
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

/** A site that this browser has worked with. */
function knownSiteId(): string | undefined {
  return knownSites({ browser: localStorage })[0]?.siteId;
}
