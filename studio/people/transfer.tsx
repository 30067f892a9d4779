import { useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { BackLink } from "#studio/ui/back-link.tsx";
import { Button } from "#studio/ui/button.tsx";
import { type Column, DataTable } from "#studio/ui/data-table.tsx";
import { downloadCsv } from "#studio/ui/download.ts";
import { Notice } from "#studio/ui/notice.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { ExportCard } from "./export-card.tsx";
import { importMembers, type MemberFile, type MemberRow, readMembers, type RowProblem } from "./member-file.ts";
import "#studio/ui/field.css";
import "#studio/money/money.css";

/** Members from a file and into one. */
export default function Transfer() {
  const { access } = useSession();
  return (
    <>
      <BackLink to="/people">People</BackLink>
      <PageHeader title="Import and export" />
      <div className="transfer">
        {access.writesSite && <ImportCard />}
        {access.writesSite && <ExportCard />}
        {!access.writesSite && <Notice tone="info">Your role only reads, so you can&apos;t move members in or out.</Notice>}
      </div>
    </>
  );
}

interface Run {
  total: number;
  done: number;
  problems: RowProblem[];
  state: "running" | "stopped" | "complete";
  /** Why it stopped by itself. */
  failure: string | null;
}

function ImportCard() {
  const { client } = useSession();
  const queries = useQueryClient();
  const [file, setFile] = useState<MemberFile | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [run, setRun] = useState<Run | null>(null);
  const stop = useRef<AbortController | null>(null);

  async function choose(chosen: File | undefined): Promise<void> {
    setRun(null);
    setFile(null);
    setProblem(null);
    if (chosen === undefined) return;
    await readMembers(chosen).then(setFile, (error: unknown) =>
      setProblem(error instanceof Error ? error.message : "The file can't be read."),
    );
  }

  async function start({ rows, problems }: MemberFile): Promise<void> {
    const controller = new AbortController();
    stop.current = controller;
    const started: Run = { total: rows.length, done: 0, problems, state: "running", failure: null };
    setRun(started);
    const send = async (group: readonly MemberRow[]) => {
      const body = { accounts: group.map(({ email, name }) => ({ email, name })) };
      const { results } = await ok(client.api.POST("/account/v3/import", { body }));
      return results.map(({ message }) => message && `${message}.`);
    };
    const report = (progress: { done: number; problems: RowProblem[] }) =>
      setRun({ ...started, done: progress.done, problems: inOrder([...problems, ...progress.problems]) });
    const failure = await importMembers(rows, send, { report, stop: controller.signal }).then(() => null, errorText);
    setRun((last) => last && { ...last, failure, state: failure !== null || controller.signal.aborted ? "stopped" : "complete" });
    await queries.invalidateQueries({ queryKey: ["/people"] });
  }

  return (
    <section className="card transfer-card" aria-labelledby="import">
      <h2 id="import">Import members</h2>
      <p className="soft">
        A CSV file whose first row names the columns <code>email</code> and <code>name</code>. Addresses that exist get the new name; nobody
        gets an email. It is the same as <a href="/docs/api-reference/importAccounts">POST /account/v3/import</a>.
      </p>
      <FileField isDisabled={run?.state === "running"} onChoose={(chosen) => void choose(chosen)} />
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      {file && run === null && (
        <>
          <p role="status">{countsOf(file)}</p>
          <Button look="primary" isDisabled={file.rows.length === 0} onPress={() => void start(file)}>
            {`Import ${file.rows.length.toLocaleString("en-GB")} members`}
          </Button>
        </>
      )}
      {run && <Progress run={run} onStop={() => stop.current?.abort()} />}
      <Problems problems={run?.problems ?? file?.problems ?? []} />
    </section>
  );
}

function FileField({ isDisabled, onChoose }: { isDisabled: boolean; onChoose: (file: File | undefined) => void }) {
  const id = useId();
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        CSV file
      </label>
      <input id={id} type="file" accept=".csv,text/csv" disabled={isDisabled} onChange={(event) => onChoose(event.target.files?.[0])} />
    </div>
  );
}

function inOrder(problems: RowProblem[]): RowProblem[] {
  return problems.toSorted((one, other) => one.row - other.row);
}

function countsOf({ rows, problems }: MemberFile): string {
  const ready = `${rows.length.toLocaleString("en-GB")} members are ready.`;
  return problems.length === 0 ? ready : `${ready} ${problems.length.toLocaleString("en-GB")} rows can't be imported.`;
}

function Progress({ run: { total, done, problems, state, failure }, onStop }: { run: Run; onStop: () => void }) {
  const counts = `${done.toLocaleString("en-GB")} of ${total.toLocaleString("en-GB")}`;
  return (
    <>
      <progress value={done} max={total} aria-label="Import" />
      {state === "running" ? (
        <>
          <p>{counts}</p>
          <Button onPress={onStop}>Stop</Button>
        </>
      ) : (
        <Notice tone={problems.length === 0 && state === "complete" ? "success" : "warning"}>
          {failure !== null && `${failure} `}
          {state === "complete" ? `Done: ${counts}.` : `Stopped after ${counts}. The same file can be imported again.`}
          {problems.length > 0 && ` ${problems.length.toLocaleString("en-GB")} rows were rejected.`}
        </Notice>
      )}
    </>
  );
}

const SHOWN = 100;

const PROBLEMS: readonly Column<RowProblem>[] = [
  { title: "Row", kind: "heading", cell: ({ row }) => row },
  { title: "Value", cell: ({ value }) => value },
  { title: "Problem", cell: ({ problem }) => problem },
];

function Problems({ problems }: { problems: RowProblem[] }) {
  if (problems.length === 0) return null;
  const download = () =>
    downloadCsv("rejected-rows", [["row", "value", "problem"], ...problems.map(({ row, value, problem }) => [row, value, problem])]);
  return (
    <>
      <DataTable label="Rejected rows" rows={problems.slice(0, SHOWN)} keyOf={({ row }) => String(row)} columns={PROBLEMS} />
      <Button size="small" onPress={download}>
        {problems.length > SHOWN ? `Download all ${problems.length.toLocaleString("en-GB")} as CSV` : "Download as CSV"}
      </Button>
    </>
  );
}
