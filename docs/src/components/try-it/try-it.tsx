import { type FormEvent, useEffect, useRef, useState } from "react";
import { DEMO, fill, keptCredentials } from "../key/credentials.ts";
import { type Field, type Form, keyOf, requestOf } from "./request.ts";
import "./try-it.css";

interface Shown {
  status: string;
  took: number;
  type: string;
  text: string;
}

/** A form that makes an operation's request to the server of this page and shows what it answers. */
export function TryIt({ form }: { form: Form }) {
  const [values, setValues] = useState(() => startValues(form));
  const [body, setBody] = useState<string | File | undefined>(() => startBody(form));
  const [answer, setAnswer] = useState<Shown | { failure: string } | "waiting">();
  const first = useRef<HTMLFormElement>(null);
  useEffect(() => first.current?.querySelector("input")?.focus(), []);

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    setAnswer("waiting");
    setAnswer(await call(form, values, body).catch((error: unknown) => ({ failure: String(error) })));
  }

  async function signIn(key: string): Promise<void> {
    const jwt = await demoToken().catch((error: unknown) => {
      setAnswer({ failure: String(error) });
      return undefined;
    });
    if (jwt !== undefined) setValues({ ...values, [key]: `Bearer ${jwt}` });
  }

  return (
    <form className="try-it" ref={first} onSubmit={(event) => void send(event)} aria-label={`Try ${form.method} ${form.path}`}>
      {form.fields.map((field) => (
        <label key={keyOf(field)}>
          <span>
            <code>{field.name}</code> {field.in}
            {field.required && ", required"}
          </span>
          <input
            value={values[keyOf(field)] ?? ""}
            required={field.required && field.in === "path"}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => setValues({ ...values, [keyOf(field)]: target.value })}
          />
          {field.name === "Authorization" && (
            <button type="button" className="quiet" onClick={() => void signIn(keyOf(field))}>
              Sign in as the demo’s admin
            </button>
          )}
        </label>
      ))}
      {form.body === "file" && (
        <label>
          <span>File</span>
          <input type="file" required onChange={({ target }) => setBody(target.files?.[0])} />
        </label>
      )}
      {typeof form.body === "object" && (
        <label>
          <span>Body, {form.body.type}</span>
          <textarea
            value={typeof body === "string" ? body : ""}
            rows={Math.min(16, form.body.text.split("\n").length + 1)}
            spellCheck={false}
            onChange={({ target }) => setBody(target.value)}
          />
        </label>
      )}
      <button type="submit" className="tifo-button" disabled={answer === "waiting"}>
        Send
      </button>
      <div role="status">{answer !== undefined && <Answer answer={answer} />}</div>
    </form>
  );
}

function Answer({ answer }: { answer: Shown | { failure: string } | "waiting" }) {
  if (answer === "waiting") return <p>Waiting for the answer …</p>;
  if ("failure" in answer) return <p className="failure">{answer.failure}</p>;
  return (
    <>
      <p>
        <strong>{answer.status}</strong> in {answer.took} ms, {answer.type || "no body"}
      </p>
      {answer.text !== "" && (
        <pre tabIndex={0} aria-label="Answer">
          <code>{answer.text}</code>
        </pre>
      )}
    </>
  );
}

async function call(form: Form, values: Record<string, string>, body: string | File | undefined): Promise<Shown> {
  const { url, init } = requestOf(form, values, body);
  const started = performance.now();
  const response = await fetch(url, init);
  const type = response.headers.get("Content-Type") ?? "";
  const text = /json|text/.test(type) ? await response.text() : `${(await response.arrayBuffer()).byteLength} bytes`;
  const status = `${response.status} ${response.statusText}`.trim();
  return { status, took: Math.round(performance.now() - started), type, text: type.includes("json") ? indented(text) : text };
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A token of the demo site's admin; where there is no demo, the server's own refusal is thrown. */
async function demoToken(): Promise<string> {
  const response = await fetch("/auth/v2/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: "admin@demo.example", password: "demo-admin-pass", siteId: DEMO.clientId }),
  });
  const answer: unknown = await response.json();
  if (typeof answer === "object" && answer !== null && "jwt" in answer) return String(answer.jwt);
  throw new Error(`The demo’s admin can’t sign in here: ${response.status}.`);
}

function startValues(form: Form): Record<string, string> {
  const own = keptCredentials();
  return Object.fromEntries(form.fields.map((field: Field) => [keyOf(field), fill(field.value, own)]));
}

function startBody(form: Form): string | undefined {
  return typeof form.body === "object" ? fill(form.body.text, keptCredentials()) : undefined;
}
