import { useState } from "react";
import { useForm } from "react-hook-form";
import { ok } from "#sdk/client/index.ts";
import { connectionTo } from "#studio/session/session.ts";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";
import { EntranceCard } from "./entrance-card.tsx";

interface Props {
  siteId: string | null;
  token: string;
  /** Whether it is the password of a global account, and not of the site's. */
  isGlobal: boolean;
  onDone: () => void;
}

/** Chooses a new password with the link of an e-mail. */
export default function Reset({ siteId, token, isGlobal, onDone }: Props) {
  const form = useForm({ defaultValues: { password: "" } });
  const [isSet, setSet] = useState(false);
  const [isVoid, setVoid] = useState(siteId === null || token === "");
  const { problem, run } = useServerIssues(form, (path) => {
    if (path === "token") setVoid(true);
    return path === "password" ? "password" : null;
  });
  const reset = ({ password }: { password: string }) =>
    run(async () => {
      if (siteId === null) return;
      const { client, tokens } = connectionTo(siteId);
      const body = { token, password };
      if (isGlobal) await ok(client.api.POST("/account/v3/reset/global-accounts/update", { body }));
      else {
        await ok(client.api.POST("/account/v3/reset/update", { body }));
        // Every session has ended, also the one of this browser.
        tokens.set(null);
      }
      setSet(true);
    });
  return (
    <EntranceCard
      title={isVoid ? "This link doesn’t work" : "Choose a new password"}
      description={
        isVoid
          ? "It works once, for one hour. Request another one at the sign-in."
          : isGlobal
            ? "For your global account, which lists your sites. Your accounts of these sites keep their own passwords."
            : "It ends all your sessions."
      }
      problem={isVoid ? null : problem}
      onSubmit={(event) => void form.handleSubmit(reset)(event)}
    >
      {isSet ? (
        <Notice tone="success">Your password is set. Sign in with it.</Notice>
      ) : (
        !isVoid && (
          <>
            <FormField
              control={form.control}
              name="password"
              label="New password"
              type="password"
              autoComplete="new-password"
              description="At least 10 characters."
              rules={{ required: "Choose a password." }}
            />
            <Button type="submit" look="primary" isPending={form.formState.isSubmitting}>
              Set the password
            </Button>
          </>
        )
      )}
      {(isSet || isVoid) && (
        <Button look={isSet ? "primary" : "secondary"} onPress={onDone}>
          To the sign-in
        </Button>
      )}
    </EntranceCard>
  );
}
