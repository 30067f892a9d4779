import type { z } from "@hono/zod-openapi";
import { deliver } from "#worker/integrations/email.ts";
import { escapeHtml } from "#worker/lib/handlebars/template.ts";
import { describeError } from "#worker/lib/log.ts";
import { clip } from "#worker/lib/well-formed.ts";
import type { AlertData } from "./alert-schemas.ts";

/** What an email says of an alert. */
export interface AlertNews {
  type: "alert.raised" | "alert.resolved" | "alert.test";
  created: number;
  data: z.output<typeof AlertData>;
}

/** The outcome of an email; `final`: sending it again can't change it. */
export interface EmailOutcome {
  final: boolean;
  error: string | null;
}

/** Emails the operator, from the deployment's sender. Never throws. */
export async function emailAlert(env: Env, news: AlertNews): Promise<EmailOutcome> {
  const { subject, lines } = describeNews(news);
  const html = lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("");
  const from = { name: "Tifo", email: env.TIFO_MAIL_FROM };
  try {
    const outcome = await deliver(env, { from, to: env.TIFO_ALERT_EMAIL, subject, text: lines.join("\n"), html });
    return { final: true, error: outcome === "sent" ? null : outcome };
  } catch (error) {
    return { final: false, error: clip(describeError(error), 200) };
  }
}

function describeNews({ type, created, data: { name, unit, value, limit, runbook } }: AlertNews): { subject: string; lines: string[] } {
  if (type === "alert.test") return { subject: "Tifo: test of the alerts", lines: ["This deployment sends its alerts to this address."] };
  const state = type === "alert.raised" ? "raised" : "resolved";
  return {
    subject: `Tifo: ${name} ${state}`,
    lines: [
      `The alert ${name} was ${state} at ${new Date(created).toISOString()}.`,
      `The figure is ${Number(value.toPrecision(4))} ${unit}, the limit ${limit}.`,
      `Runbooks: ${runbook} on the documentation site. The state of the deployment: GET /ops.`,
    ],
  };
}
