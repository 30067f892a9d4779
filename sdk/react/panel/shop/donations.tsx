import { type SubmitEvent, useEffect, useId, useState } from "react";
import { ok } from "../../../client/index.ts";
import { formatAmount, parseAmount } from "../../../core/money.ts";
import type { PanelRenderer } from "../../../model/state.ts";
import { useEventState, useSdkContext, useTexts } from "../../context.tsx";
import { ExternalLink, Note } from "../parts.tsx";
import { key } from "../../../i18n/key.ts";
import { useAction } from "../questions/use-action.ts";

type Renderer = Extract<PanelRenderer, { panel_type: "donations" }>;

/** The query parameter with which donors come back from the payment page. */
const THANKS = "tifo_donation";
const MAX_NAME = 80;
const MAX_MESSAGE = 200;
const ANY_AMOUNT = key("Amount, {min} to {max}");
const OTHER_AMOUNT = key("Another amount, {min} to {max}");

interface Props {
  panelId: string;
  renderer: Renderer;
}

/** Donate one of the panel's amounts, or any within its limits, at the site's Stripe account. Without amounts, a link to the cause. */
export function Donations({ panelId, renderer }: Props) {
  const { t } = useTexts();
  const [isThanked, setThanked] = useState(() => new URLSearchParams(location.search).get(THANKS) === panelId);
  if (renderer.currency === undefined)
    return (
      <div className="tifo-note">
        <ExternalLink href={renderer.url} isButton>
          {t("Give")}
        </ExternalLink>
      </div>
    );
  return (
    <div className="tifo-donations">
      {renderer.description !== undefined && <p dir="auto">{renderer.description}</p>}
      {isThanked ? (
        <Note>
          <bdi>{renderer.thank_you_message ?? t("Thank you for your donation.")}</bdi>
          <button type="button" className="tifo-button" onClick={() => setThanked(false)}>
            {t("Give again")}
          </button>
        </Note>
      ) : (
        <DonationForm panelId={panelId} renderer={renderer} currency={renderer.currency} />
      )}
      <p className="tifo-small">
        <ExternalLink href={renderer.url}>{t("About the cause")}</ExternalLink>
      </p>
    </div>
  );
}

function DonationForm({ panelId, renderer, currency }: Props & { currency: string }) {
  const { session } = useSdkContext();
  const { locale, t } = useTexts();
  const authenticated = useEventState((state) => state.authenticated);
  // The thanks are shown on a channel whose sidebar has the panel.
  const channelId = useEventState((state) => (state.panels.some(({ id }) => id === panelId) ? state.channelId : undefined));
  const [chosen, setChosen] = useState(renderer.amounts[0]);
  const [typed, setTyped] = useState("");
  const [name, setName] = useState("");
  const [message, setMessage] = useState("");
  const [payment, setPayment] = useState("");
  const action = useAction();
  const { minimum_amount: min, maximum_amount: max } = renderer;
  const amount = typed === "" ? chosen : parseAmount(typed, currency);
  const isInLimits = typed === "" || (amount !== undefined && min !== undefined && max !== undefined && amount >= min && amount <= max);
  const canPay = amount !== undefined && isInLimits && !action.isRunning;
  // Another amount is another payment.
  useEffect(() => setPayment(""), [amount, name, message]);

  if (!authenticated)
    return (
      <div className="tifo-ask tifo-ask-signed-out">
        <p>{t("Sign in to give.")}</p>
        <button
          type="button"
          className="tifo-button"
          onClick={() => session.delegate.notify((host) => host.onPanelEvent?.({ type: "loginRequested", panelId }))}
        >
          <bdi>{renderer.login_button_text ?? t("Sign in")}</bdi>
        </button>
      </div>
    );

  async function open(): Promise<void> {
    if (!canPay) return;
    const back = new URL(location.href);
    back.searchParams.delete(THANKS);
    const successUrl = new URL(back);
    successUrl.searchParams.set(THANKS, panelId);
    const body = {
      panelId,
      amount,
      ...(channelId !== undefined && { channelId }),
      name,
      message,
      successUrl: successUrl.href,
      cancelUrl: back.href,
    };
    await action.run(async () => {
      const { url } = await ok(session.client.api.POST("/billing/v1/donations/checkout", { body }));
      setPayment(url);
    }, t("The payment page couldn’t be opened. Try again."));
  }

  function onSubmit(submit: SubmitEvent): void {
    submit.preventDefault();
    void open();
  }

  return (
    <form className="tifo-ask" onSubmit={onSubmit}>
      {renderer.amounts.length > 0 && (
        <div className="tifo-chips" role="group" aria-label={t("Amount")}>
          {renderer.amounts.map((one) => (
            <button
              key={one}
              type="button"
              className="tifo-chip"
              aria-pressed={typed === "" && one === chosen}
              onClick={() => {
                setChosen(one);
                setTyped("");
              }}
            >
              {formatAmount(one, currency, locale)}
            </button>
          ))}
        </div>
      )}
      {min !== undefined && max !== undefined && (min < max || renderer.amounts.length === 0) && (
        <Field
          label={t(renderer.amounts.length > 0 ? OTHER_AMOUNT : ANY_AMOUNT, {
            min: formatAmount(min, currency, locale),
            max: formatAmount(max, currency, locale),
          })}
          value={typed}
          isInvalid={!isInLimits}
          inputMode="decimal"
          onChange={setTyped}
        />
      )}
      {renderer.ask_for_message && (
        <>
          <Field label={t("Your name (optional)")} value={name} maxLength={MAX_NAME} onChange={setName} />
          <Field label={t("Message (optional)")} value={message} maxLength={MAX_MESSAGE} onChange={setMessage} />
        </>
      )}
      {payment === "" ? (
        <button type="submit" className="tifo-button" aria-disabled={!canPay}>
          {action.isRunning
            ? t("Opening…")
            : amount === undefined
              ? t("Give")
              : t("Give {amount}", { amount: formatAmount(amount, currency, locale) })}
        </button>
      ) : (
        <p role="status">
          <ExternalLink href={payment} isButton>
            {t("Continue to the payment page")}
          </ExternalLink>
        </p>
      )}
      <p className="tifo-problem" role="alert">
        {action.problem}
      </p>
    </form>
  );
}

interface FieldProps {
  label: string;
  value: string;
  isInvalid?: boolean;
  inputMode?: "decimal";
  maxLength?: number;
  onChange: (value: string) => void;
}

function Field({ label, value, isInvalid = false, inputMode, maxLength, onChange }: FieldProps) {
  const id = useId();
  return (
    <label className="tifo-field" htmlFor={id}>
      {label}
      <input
        id={id}
        value={value}
        aria-invalid={isInvalid}
        inputMode={inputMode}
        maxLength={maxLength}
        autoComplete="off"
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
