import { lazy, Suspense, useState } from "react";
import { useForm } from "react-hook-form";
import { TifoProblem } from "#sdk/client/index.ts";
import { sitesOfGlobalAccount } from "#studio/session/global-account.ts";
import { connectionTo } from "#studio/session/session.ts";
import { isSiteId, type KnownSite } from "#studio/session/sites.ts";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { errorText, Loading } from "#studio/ui/states.tsx";
import { SiteChoice } from "./site-choice.tsx";
import "./sign-in.css";

const Forgot = lazy(() => import("./forgot.tsx"));

interface Props {
  siteId: string | null;
  onSignedIn: (siteId: string) => void;
  onSites: (sites: KnownSite[]) => void;
}

interface Fields {
  email: string;
  password: string;
  siteId: string;
  totp: string;
}

/** What the form asks for next. */
type Step = { name: "password" } | { name: "forgot" } | { name: "code"; siteId: string } | { name: "site"; sites: KnownSite[] };

export default function SignIn({ siteId, onSignedIn, onSites }: Props) {
  const [step, setStep] = useState<Step>({ name: "password" });
  const [problem, setProblem] = useState<string | null>(null);
  const form = useForm<Fields>({ defaultValues: { email: "", password: "", siteId: siteId ?? "", totp: "" } });

  async function signIn({ email, password, totp, siteId }: Fields): Promise<void> {
    const code = step.name === "code" ? { totp: totp.replaceAll(/\s/g, "") } : {};
    if (siteId === "") {
      const sites = await sitesOfGlobalAccount({ email, password, ...code });
      onSites(sites);
      setStep({ name: "site", sites });
      return;
    }
    await connectionTo(siteId).client.signIn(email, password, code);
    onSignedIn(siteId);
  }

  async function submit(fields: Fields): Promise<void> {
    setProblem(null);
    try {
      await signIn({ ...fields, siteId: fields.siteId.trim() });
    } catch (error) {
      if (error instanceof TifoProblem && error.code === "totp_required") setStep({ name: "code", siteId: fields.siteId });
      else setProblem(signInProblem(error));
    }
  }

  /** The site's account has a password of its own, which may be the same as the global account's. */
  async function choose(site: KnownSite): Promise<void> {
    form.setValue("siteId", site.siteId);
    setStep({ name: "password" });
    await submit({ ...form.getValues(), siteId: site.siteId });
  }

  const { control, formState } = form;
  if (step.name === "forgot") {
    const { email, siteId } = form.getValues();
    return (
      <Suspense fallback={<Loading />}>
        <Forgot email={email} siteId={siteId} onBack={() => setStep({ name: "password" })} />
      </Suspense>
    );
  }
  return (
    <main className="sign-in">
      <form className="card sign-in-card" noValidate onSubmit={(event) => void form.handleSubmit(submit)(event)}>
        <title>Sign in · Tifo Studio</title>
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>Sign in to Studio</h1>
        {problem !== null && <Notice tone="danger">{problem}</Notice>}
        {step.name === "site" && <SiteChoice sites={step.sites} onChoose={(site) => void choose(site)} />}
        {step.name === "password" && (
          <>
            <FormField
              control={control}
              name="email"
              label="E-mail"
              type="email"
              autoComplete="username"
              rules={{ required: "Enter your e-mail address." }}
            />
            <FormField
              control={control}
              name="password"
              label="Password"
              type="password"
              autoComplete="current-password"
              rules={{ required: "Enter your password." }}
            />
            <FormField
              control={control}
              name="siteId"
              label="Site ID"
              autoComplete="off"
              description="Your site's client ID. Leave it empty to choose from the sites of a global account."
              rules={{
                validate: (text) => text.trim() === "" || isSiteId(text.trim()) || "A site ID has 24 characters: 0 to 9 and a to f.",
              }}
            />
          </>
        )}
        {step.name === "code" && (
          <FormField
            control={control}
            name="totp"
            label="One-time code"
            description="From your authenticator app, or one of your recovery codes."
            autoComplete="one-time-code"
            autoFocus
            rules={{ required: "Enter the code." }}
          />
        )}
        {step.name !== "site" && (
          <Button type="submit" look="primary" isPending={formState.isSubmitting}>
            Sign in
          </Button>
        )}
        {step.name === "password" ? (
          <Button look="quiet" onPress={() => setStep({ name: "forgot" })}>
            Forgot your password?
          </Button>
        ) : (
          <Button look="quiet" onPress={() => setStep({ name: "password" })}>
            Back
          </Button>
        )}
      </form>
    </main>
  );
}

function signInProblem(error: unknown): string {
  if (error instanceof TifoProblem && error.code === "rate_limited") {
    const wait = error.retryAfter === undefined ? "later" : `in ${String(Math.ceil(error.retryAfter))} seconds`;
    return `There were too many attempts. Try again ${wait}.`;
  }
  if (error instanceof TifoProblem && error.status === 401)
    return "The e-mail address or the password is wrong, or the site doesn't exist.";
  return errorText(error);
}
