import { useState } from "react";
import { useForm } from "react-hook-form";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Select } from "#studio/ui/select.tsx";
import { toast } from "#studio/ui/toast.tsx";
import type { StepProps } from "./step.ts";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";

const ROLES = [
  { value: "admin", text: "Site admin: everything" },
  { value: "channel", text: "Channel admin: runs shows" },
  { value: "moderator", text: "Moderator: chat and questions" },
];

/** Someone to share the work with. Nobody has to. */
export function InviteStep({ created: { channel }, onDone }: StepProps) {
  const { client, siteId, account } = useSession();
  const form = useForm({ defaultValues: { email: "" } });
  const { problem, run } = useServerIssues(form, (path) => (path === "email" ? "email" : null));
  const [role, setRole] = useState("admin");
  const [isSkipping, setSkipping] = useState(false);

  const invite = ({ email }: { email: string }) =>
    run(async () => {
      const redirectUri = `${location.origin}/studio/join?site=${siteId}`;
      const targetRoles = rolesOf(role, channel?._id);
      await ok(client.api.POST("/invite/v1/register", { body: { email, senderAccountId: account._id, targetRoles, redirectUri } }));
      toast(`The invitation to ${email} is on its way.`);
      await onDone();
    });
  const skip = async () => {
    setSkipping(true);
    await run(() => onDone());
    setSkipping(false);
  };
  const options = ROLES.filter(({ value }) => value !== "channel" || channel !== null);
  return (
    <form className="first-run-form" noValidate onSubmit={(event) => void form.handleSubmit(invite)(event)}>
      <p className="soft">They get an e-mail with a link that works once, for seven days, and choose their own password.</p>
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      <FormField control={form.control} name="email" label="Their e-mail" type="email" rules={{ required: "Enter an e-mail address." }} />
      <Select label="Role" value={role} onChange={setRole} options={options} />
      <div className="first-run-actions">
        <Button type="submit" look="primary" isPending={form.formState.isSubmitting}>
          Send the invitation
        </Button>
        <Button look="quiet" isPending={isSkipping} onPress={() => void skip()}>
          Not now
        </Button>
      </div>
    </form>
  );
}

function rolesOf(role: string, channelId: string | undefined): Schemas["AccountRole"][] {
  if (role === "channel" && channelId !== undefined) return [{ scope: "*", pageId: [channelId], write: true }];
  if (role === "admin") return [{ scope: "*", pageId: [], write: true }];
  return (["Chat_Moderator", "Question_Answer_Moderator"] as const).map((scope) => ({ scope, pageId: [], write: true }));
}
