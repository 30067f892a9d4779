import { type ReactNode, Suspense, useId, useMemo, useState, useSyncExternalStore } from "react";
import { loadMessages } from "#sdk/i18n/load-messages.ts";
import { ENGLISH_TEXTS, type Texts, textsIn } from "#sdk/i18n/texts.ts";
import type { KitElement, KitTemplateName } from "#sdk/overlay/kit/piece.ts";
import { renderPiece } from "#sdk/overlay/kit/render-piece.ts";
import { fill, storedCredentials } from "../key/credentials.ts";
import { ARABIC } from "./arabic.ts";
import type { Field } from "./fields.ts";
import { curlSample, sdkSample } from "./samples.ts";
import { LEFT_MS, samplePoll } from "./sample-poll.ts";
import { type Value, valueOf } from "./values.ts";

interface Props {
  name: KitTemplateName;
  title: string;
  fields: Field[];
  sample: Record<string, Value>;
  /** Where it is shown unless the overlay says otherwise. */
  position: string;
  /** The template with its sample variables, as static markup. */
  children?: ReactNode;
}

type Look = "light" | "dark";

const WIDTHS = [320, 640, 1280];
/** What the server has rendered changes once: when the page has loaded. */
const never = () => () => undefined;
const SAMPLES = { curl: curlSample, SDK: sdkSample };

/** A template with controls for its variables, and the calls that show it. Until a variable is changed, the static markup is shown. */
export function GalleryPiece({ name, title, fields, sample, position, children }: Props) {
  const [variables, setVariables] = useState(sample);
  const [texts, setTexts] = useState(ENGLISH_TEXTS);
  const [look, setLook] = useState<Look>("dark");
  const [width, setWidth] = useState<number>();
  const [language, setLanguage] = useState<keyof typeof SAMPLES>("curl");
  const [isLive, setIsLive] = useState(false);
  const [run, setRun] = useState(0);

  function change(field: Field, value: Value | undefined): void {
    const others = Object.fromEntries(Object.entries(variables).filter(([name]) => name !== field.name));
    const next = value ?? (field.required ? sample[field.name] : undefined);
    setVariables(next === undefined ? others : { ...others, [field.name]: next });
    setIsLive(true);
  }

  /** Replaces the variables by the sample's in the other language: a viewer has it in one. */
  async function changeLanguage(): Promise<void> {
    const next = texts.dir === "rtl" ? ENGLISH_TEXTS : textsIn({ language: "ar", locale: "ar" }, await loadMessages("", "ar"));
    setTexts(next);
    setVariables(next === ENGLISH_TEXTS ? sample : { ...sample, ...ARABIC[name] });
    setIsLive(true);
  }

  function replay(): void {
    setIsLive(true);
    setRun((before) => before + 1);
  }

  const isClient = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  const sampleCode = useMemo(() => SAMPLES[language](name, title, variables), [language, name, title, variables]);
  const code = isClient ? fill(sampleCode, storedCredentials(), location.origin) : sampleCode;
  return (
    <div className="gallery-piece">
      <div className="gallery-stage" data-position={position} style={width === undefined ? {} : { maxWidth: `${width}px` }}>
        {isLive ? (
          <Suspense fallback={children}>
            <Live
              key={`${run} ${texts.language}`}
              {...{ name, variables, look, texts }}
              isCountingDown={variables.endsAt === sample.endsAt}
            />
          </Suspense>
        ) : (
          children
        )}
      </div>
      {/* Until React listens, what a reader types would be lost. */}
      <fieldset className="gallery-controls" disabled={!isClient}>
        <div className="gallery-tools" role="group" aria-label={`Preview of ${title}`}>
          <button type="button" onClick={replay}>
            Replay
          </button>
          <button type="button" aria-pressed={look === "light"} onClick={() => setLook(look === "light" ? "dark" : "light")}>
            Light
          </button>
          <button type="button" aria-pressed={texts.dir === "rtl"} onClick={() => void changeLanguage()}>
            Arabic
          </button>
          {WIDTHS.map((one) => (
            <button key={one} type="button" aria-pressed={width === one} onClick={() => setWidth(width === one ? undefined : one)}>
              {one} px
            </button>
          ))}
        </div>
        <details open>
          <summary>Try its variables</summary>
          <div className="gallery-fields">
            {fields.map((field) => (
              <Control
                key={field.name}
                field={field}
                value={variables[field.name]}
                onChange={(value) => change(field, typeof value === "string" ? valueOf(value, sample[field.name]) : value)}
              />
            ))}
          </div>
        </details>
        <details open>
          <summary>Show it on a channel</summary>
          <div className="gallery-tools" role="group" aria-label="Language">
            {(["curl", "SDK"] as const).map((one) => (
              <button key={one} type="button" aria-pressed={language === one} onClick={() => setLanguage(one)}>
                {one}
              </button>
            ))}
            <button type="button" onClick={() => void navigator.clipboard.writeText(code)}>
              Copy
            </button>
          </div>
          <pre tabIndex={0}>
            <code>{code}</code>
          </pre>
        </details>
      </fieldset>
    </div>
  );
}

interface LiveProps {
  name: KitTemplateName;
  variables: Record<string, Value>;
  /** Whether a countdown starts when it is shown, because its end is the sample's. */
  isCountingDown: boolean;
  look: Look;
  texts: Texts;
}

function Live({ name, variables, isCountingDown, look, texts }: LiveProps) {
  const [startsAt] = useState(Date.now);
  const shown = name === "countdown" && isCountingDown ? { ...variables, endsAt: startsAt + LEFT_MS } : variables;
  const element: unknown = { kind: "kit", template: name, key: "gallery", position: "center", variables: shown };
  if (!isElement(element)) return null;
  return (
    <div className="tifo-kit" data-look={look} lang={texts.language}>
      {renderPiece("", element, {
        startsAt,
        now: Date.now,
        address: (url) => url,
        onDismiss: () => {},
        t: texts.t,
        ...(name === "poll" && { poll: samplePoll(texts.dir) }),
      })}
    </div>
  );
}

/** The variables come from the template's sample and its own fields; the API checks them. */
function isElement(value: unknown): value is KitElement {
  return typeof value === "object" && value !== null && "template" in value && "variables" in value;
}

interface ControlProps {
  field: Field;
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
}

function Control({ field: { name, description, required, control }, value, onChange }: ControlProps) {
  const id = useId();
  const common = { id, "aria-describedby": `${id}-about` };
  return (
    <div className="gallery-field">
      <label htmlFor={id}>
        {name}
        {required && <span aria-hidden="true"> *</span>}
      </label>
      {control.kind === "switch" ? (
        <input {...common} type="checkbox" checked={value === true} onChange={({ target }) => onChange(target.checked)} />
      ) : control.kind === "choice" ? (
        <select {...common} value={String(value ?? "")} onChange={({ target }) => onChange(target.value)}>
          {!required && <option value="" />}
          {control.options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : control.kind === "text" && control.multiline ? (
        <textarea {...common} rows={3} value={String(value ?? "")} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <input
          {...common}
          type={control.kind}
          value={String(value ?? (control.kind === "color" ? "#5a4af0" : ""))}
          onChange={({ target }) => onChange(control.kind === "number" && target.value !== "" ? Number(target.value) : target.value)}
        />
      )}
      <small id={`${id}-about`}>{description}</small>
    </div>
  );
}
