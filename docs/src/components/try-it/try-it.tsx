import { type FormEvent, useEffect, useRef, useState } from "react";
import { DEMO, fill, storedCredentials } from "../key/credentials.ts";
import { recordRequest } from "../sandbox/requests.ts";
import { type Field, type Form, keyOf, requestOf } from "./request.ts";

interface Shown {
  status: string;
  took: number;
  type: string;
  text: string;
}

/** A form that sends an operation's request to this page's server and shows the response. */
export function TryIt({ form }: { form: Form }) {
  const [values, setValues] = useState(() => initialValues(form));
  const [body, setBody] = useState<string | File | undefined>(() => initialBody(form));
  const [result, setResult] = useState<Shown | { failure: string } | "waiting">();
  const first = useRef<HTMLFormElement>(null);
  useEffect(() => first.current?.querySelector("input")?.focus(), []);

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    setResult("waiting");
    setResult(await call(form, values, body).catch((error: unknown) => ({ failure: String(error) })));
  }

  async function signIn(key: string): Promise<void> {
    const jwt = await demoToken().catch((error: unknown) => {
      setResult({ failure: String(error) });
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
              {storedCredentials().values ? "Sign in as your sandbox’s admin" : "Sign in as the demo admin"}
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
      <button type="submit" className="tifo-button" disabled={result === "waiting"}>
        Send
      </button>
      <div role="status">{result !== undefined && <Result result={result} />}</div>
    </form>
  );
}

function Result({ result }: { result: Shown | { failure: string } | "waiting" }) {
  if (result === "waiting") return <p>Waiting for the response …</p>;
  if ("failure" in result) return <p className="failure">{result.failure}</p>;
  return (
    <>
      <p>
        <strong>{result.status}</strong> in {result.took} ms, {result.type || "no body"}
      </p>
      {result.text !== "" && (
        <pre tabIndex={0} aria-label="Response">
          <code>{result.text}</code>
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
  recordRequest({ method: form.method.toUpperCase(), path: url, status: response.status });
  const status = `${response.status} ${response.statusText}`.trim();
  return { status, took: Math.round(performance.now() - started), type, text: type.includes("json") ? formatJson(text) : text };
}

function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A token of the admin of the sandbox or the demo. Throws if the server has neither. */
async function demoToken(): Promise<string> {
  const response = await fetch("/auth/v2/login", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: fill(JSON.stringify({ email: "admin@demo.example", password: "demo-admin-pass", siteId: DEMO.clientId }), storedCredentials()),
  });
  const body: unknown = await response.json();
  if (typeof body === "object" && body !== null && "jwt" in body) return String(body.jwt);
  throw new Error(`The admin can’t sign in here: ${response.status}.`);
}

function initialValues(form: Form): Record<string, string> {
  const own = storedCredentials();
  return Object.fromEntries(form.fields.map((field: Field) => [keyOf(field), fill(field.value, own)]));
}

function initialBody(form: Form): string | undefined {
  return typeof form.body === "object" ? fill(form.body.text, storedCredentials()) : undefined;
}
