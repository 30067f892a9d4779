import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { errorText } from "#studio/ui/states.tsx";

const POLL_MS = 1000;

/** All members as CSV, written in the background. */
export function ExportCard() {
  const { client } = useSession();
  const [exportId, setExportId] = useState<string | null>(null);
  const start = useMutation({
    mutationFn: () => ok(client.api.GET("/community/v1/export")),
    onSuccess: (started) => setExportId(started.exportId),
  });
  const state = useQuery({
    queryKey: ["export", exportId],
    queryFn: () => ok(client.api.GET("/community/v1/export/{exportId}", { params: { path: { exportId: exportId ?? "" } } })),
    enabled: exportId !== null,
    refetchInterval: ({ state: { data } }) => (data?.status === "complete" || data?.status === "failed" ? false : POLL_MS),
  });
  const problem = start.error ?? state.error;
  const isRunning = exportId !== null && state.data?.status !== "complete" && state.data?.status !== "failed";
  return (
    <section className="card transfer-card" aria-labelledby="export">
      <h2 id="export">Export members</h2>
      <p className="soft">Everybody&apos;s name, address, sign-in, consent, tags and current access. The file is kept for a day.</p>
      {problem !== null && <Notice tone="danger">{errorText(problem)}</Notice>}
      {state.data?.status === "failed" && <Notice tone="danger">The export failed. Start it again.</Notice>}
      {isRunning && state.data && <progress value={state.data.progress} max={100} aria-label="Export" />}
      {typeof state.data?.downloadUrl === "string" ? (
        <a className="button button-primary" href={sameOrigin(state.data.downloadUrl)} download={state.data.fileName}>
          {`Download ${state.data.rows.toLocaleString("en-GB")} members`}
        </a>
      ) : (
        <Button isPending={start.isPending || isRunning} onPress={() => start.mutate()}>
          Export all members
        </Button>
      )}
    </section>
  );
}

/** The address's path on this host, whatever it names. */
function sameOrigin(address: string): string {
  return new URL(address, location.origin).pathname;
}
