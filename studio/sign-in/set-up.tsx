import createFetchClient from "openapi-fetch";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { ok, TifoProblem } from "#sdk/client/index.ts";
import type { paths } from "#sdk/generated/rest.d.ts";
import { slugOf } from "#studio/app/slug.ts";
import { useServerIssues } from "#studio/ui/use-server-issues.ts";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { enter } from "./enter.ts";
import { EntranceCard } from "./entrance-card.tsx";

interface Fields {
  name: string;
  slug: string;
  admin: { name: string; email: string; password: string };
}

const FIELDS = ["name", "slug", "admin.name", "admin.email", "admin.password"] as const;

/** Creates a site and its first admin, with the one-time link of whoever runs the deployment. */
export default function SetUp({ token, onEntered }: { token: string; onEntered: (siteId: string) => void }) {
  const form = useForm<Fields>({ defaultValues: { name: "", slug: "", admin: { name: "", email: "", password: "" } } });
  const { problem, run } = useServerIssues(form, (path) => FIELDS.find((field) => field === path) ?? null);
  const { control, formState } = form;
  // Submitting the same form again after a lost response returns the site that it has created.
  const [key] = useState(() => crypto.randomUUID());
  const create = ({ name, slug, admin }: Fields) =>
    run(async () => {
      const api = createFetchClient<paths>({ baseUrl: location.origin });
      const body = { setupToken: token, name, slug, admin };
      const { site } = await ok(api.POST("/site/v1/setup", { body, headers: { "Idempotency-Key": key } })).catch(asIssue);
      await enter(site._id, admin.email, admin.password);
      onEntered(site._id);
    });
  if (token === "")
    return (
      <EntranceCard
        title="This link isn’t complete"
        description="Copy the whole link that you were given, and open it again."
        problem={null}
        onSubmit={(event) => event.preventDefault()}
      >
        {null}
      </EntranceCard>
    );
  return (
    <EntranceCard
      title="Create your site"
      description="You become its first admin. The link works once."
      problem={problem}
      onSubmit={(event) => void form.handleSubmit(create)(event)}
    >
      <FormField
        control={control}
        name="name"
        label="Site name"
        placeholder="Harbour City FC"
        rules={{
          required: "Enter a name.",
          onChange: () => !formState.dirtyFields.slug && form.setValue("slug", slugOf(form.getValues("name"), "site")),
        }}
      />
      <FormField
        control={control}
        name="slug"
        label="Short name"
        description="Lower-case letters, digits and hyphens."
        rules={{ required: "Enter a short name." }}
      />
      <FormField control={control} name="admin.name" label="Your name" autoComplete="name" rules={{ required: "Enter your name." }} />
      <FormField
        control={control}
        name="admin.email"
        label="E-mail"
        type="email"
        autoComplete="username"
        rules={{ required: "Enter your e-mail address." }}
      />
      <FormField
        control={control}
        name="admin.password"
        label="Password"
        type="password"
        autoComplete="new-password"
        description="At least 10 characters."
        rules={{ required: "Choose a password." }}
      />
      <Button type="submit" look="primary" isPending={formState.isSubmitting}>
        Create the site
      </Button>
    </EntranceCard>
  );
}

/** A taken slug is shown at its field. */
function asIssue(error: unknown): never {
  if (!(error instanceof TifoProblem) || error.status !== 409) throw error;
  const { status, code, message } = error;
  const issues = [{ path: "slug", message: "Another site has this short name." }];
  throw new TifoProblem({ status, code, message, issues }, { cause: error });
}
