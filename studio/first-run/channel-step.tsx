import { useForm } from "react-hook-form";
import { ok } from "#sdk/client/index.ts";
import { once } from "#studio/api/once.ts";
import { slugOf } from "#studio/app/slug.ts";
import { useThemes } from "#studio/overlays/brand.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import type { StepProps } from "./step.ts";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";

interface Fields {
  name: string;
  slug: string;
}

/** Where a show takes place. */
export function ChannelStep({ created: { channel }, onDone }: StepProps) {
  const { client } = useSession();
  const themes = useThemes();
  const form = useForm<Fields>({ defaultValues: { name: channel?.data.name ?? "", slug: channel?.slug ?? "" } });
  const { problem, run } = useServerIssues(form, (path) => (path === "data.name" ? "name" : path === "slug" ? "slug" : null));
  const { control, formState } = form;

  if (channel) {
    return (
      <div className="first-run-form">
        <p>
          Your channel is <strong>{channel.data.name}</strong> <span className="soft mono">{channel.slug}</span>. You can add more under
          Channels.
        </p>
        {problem !== null && <Notice tone="danger">{problem}</Notice>}
        <div className="first-run-actions">
          <Button look="primary" onPress={() => void run(() => onDone())}>
            Continue
          </Button>
        </div>
      </div>
    );
  }
  const theme = themes.data?.[0]?._id;
  const create = ({ name, slug }: Fields) =>
    run(async () => {
      const body = { type: "channel", slug, data: { name, ...(theme !== undefined && { theme }) } } as const;
      await ok(client.api.POST("/page/v2", { body, ...once }));
      await onDone();
    });
  return (
    <form className="first-run-form" noValidate onSubmit={(event) => void form.handleSubmit(create)(event)}>
      <p className="soft">
        A channel is where a show takes place: a stream, a stage or a court. Viewers watch it, and overlays are shown on it.
      </p>
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      <FormField
        control={control}
        name="name"
        label="Channel name"
        placeholder="Main stage"
        rules={{
          required: "Enter a name.",
          onChange: () => !formState.dirtyFields.slug && form.setValue("slug", slugOf(form.getValues("name"), "channel")),
        }}
      />
      <FormField
        control={control}
        name="slug"
        label="Address"
        description="Lower-case letters, digits and hyphens. It stays the same if you rename the channel."
        rules={{ required: "Enter an address." }}
      />
      <div className="first-run-actions">
        <Button type="submit" look="primary" isPending={formState.isSubmitting}>
          Create the channel
        </Button>
      </div>
    </form>
  );
}
