import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { timeText } from "#studio/resources/cell.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Confirm } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { errorText, Loading } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { toast } from "#studio/ui/toast.tsx";
import type { Quest } from "./draft.ts";
import { type Proof, type RaffleResult, verifyDraw } from "./proof.ts";

interface Props {
  quest: Quest;
  raffle: NonNullable<Quest["raffle"]>;
  onDrawn: () => void;
}

/** The draw of a raffle, and the proof that nobody could influence it. */
export function Raffle({ quest, raffle, onDrawn }: Props) {
  return (
    <section className="card sheet quest-raffle" aria-labelledby="raffle">
      <h2 id="raffle">Raffle</h2>
      {raffle.drawnAt === null ? (
        <Draw quest={quest} onDrawn={onDrawn} />
      ) : (
        <Drawn quest={quest} drawnAt={raffle.drawnAt} commitment={raffle.commitment} />
      )}
      <details>
        <summary>Commitment</summary>
        <p className="soft">Published since the quest was created: the SHA-256 of the secret seed.</p>
        <p className="mono quest-hash">{raffle.commitment}</p>
      </details>
    </section>
  );
}

function Draw({ quest, onDrawn }: { quest: Quest; onDrawn: () => void }) {
  const { client, access } = useSession();
  const [winners, setWinners] = useState("1");
  const [isAsking, setAsking] = useState(false);
  const entries = useQuery({
    queryKey: ["raffle-entries", quest._id],
    queryFn: async () => {
      const query = { questId: quest._id, status: "PENDING", limit: 1 } as const;
      return (await ok(client.api.GET("/claimstatus/v3", { params: { query } }))).pagination.totalCount;
    },
    refetchInterval: 10_000,
  });
  const draw = useMutation({
    mutationFn: () =>
      ok(client.api.POST("/quest/v2/{id}/draw", { params: { path: { id: quest._id } }, body: { winners: Number(winners) } })),
    onSuccess: () => {
      toast("The raffle has been drawn.");
      onDrawn();
    },
    onError: (error) => toast(errorText(error), "danger"),
    onSettled: () => setAsking(false),
  });
  const isValid = /^\d+$/.test(winners) && Number(winners) >= 1 && Number(winners) <= 1_000;
  const canDraw = quest.channelIds.length === 0 ? access.writesSite : quest.channelIds.every((id) => access.managesChannel(id, "write"));
  return (
    <>
      <p className="quest-entries">
        <strong>{entries.data?.toLocaleString("en-GB") ?? "–"}</strong> {entries.data === 1 ? "entry" : "entries"}
      </p>
      {quest.state !== "ended" && <Notice tone="info">The quest hasn’t ended: more viewers can enter until you draw.</Notice>}
      {canDraw && (
        <div className="quest-draw">
          <TextField
            label="Winners"
            value={winners}
            onChange={setWinners}
            inputMode="numeric"
            error={isValid ? undefined : "A whole number from 1 to 1,000."}
          />
          <Button look="primary" isDisabled={!isValid || entries.data === 0} onPress={() => setAsking(true)}>
            Draw…
          </Button>
        </div>
      )}
      {isAsking && (
        <Confirm
          title="Draw the raffle?"
          action="Draw"
          isPending={draw.isPending}
          onConfirm={() => draw.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>
            {`${winners} of ${entries.data?.toLocaleString("en-GB") ?? "all"} ${entries.data === 1 ? "entry wins" : "entries win"}. A raffle is drawn once: this can’t be undone.`}
          </p>
        </Confirm>
      )}
    </>
  );
}

function Drawn({ quest, drawnAt, commitment }: { quest: Quest; drawnAt: number; commitment: string }) {
  const { client } = useSession();
  const drawn = useQuery({
    queryKey: ["raffle-draw", quest._id],
    queryFn: async (): Promise<{ result: RaffleResult; proof: Proof }> => {
      // Drawing again returns the first result, with all entrants.
      const result = await ok(client.api.POST("/quest/v2/{id}/draw", { params: { path: { id: quest._id } }, body: { winners: 1 } }));
      return { result, proof: await verifyDraw(result, commitment) };
    },
    staleTime: Infinity,
  });
  if (drawn.isPending) return <Loading label="Loading the draw…" />;
  if (drawn.isError) return <Notice tone="danger">{errorText(drawn.error)}</Notice>;
  const { result, proof } = drawn.data;
  return (
    <>
      <p className="soft">{`Drawn ${timeText(drawnAt)} among ${result.entrants.length.toLocaleString("en-GB")}.`}</p>
      <ol className="quest-winners" aria-label="Winners">
        {result.winners.slice(0, 100).map((winner) => (
          <Winner key={winner.claimId} {...winner} />
        ))}
      </ol>
      {result.winners.length > 100 && <p className="soft">{`and ${(result.winners.length - 100).toLocaleString("en-GB")} more`}</p>}
      <ul className="quest-proof" aria-label="Proof">
        <Check isTrue={proof.seedIsCommitted}>The seed is the one that was committed to before the first entry.</Check>
        <Check isTrue={proof.winnersFollow}>Repeating the draw in this browser gives the same winners.</Check>
      </ul>
      <details>
        <summary>Seed and algorithm</summary>
        <p className="mono quest-hash">{result.seed}</p>
        <p className="soft">{result.algorithm}</p>
      </details>
      <div>
        <Button size="small" onPress={() => save(quest._id, result)}>
          Download the proof
        </Button>
      </div>
    </>
  );
}

function Winner({ claimId, accountId }: { claimId: string; accountId: string }) {
  const { client } = useSession();
  const account = useQuery({
    queryKey: ["account-name", accountId],
    queryFn: () => ok(client.api.GET("/account/v3/{id}", { params: { path: { id: accountId } } })),
    staleTime: Infinity,
  });
  return (
    <li>
      <strong>{account.data?.name ?? (account.isError ? "A deleted account" : "…")}</strong>
      <span className="soft mono">{claimId}</span>
    </li>
  );
}

function Check({ isTrue, children }: { isTrue: boolean; children: string }) {
  return (
    <li data-true={isTrue}>
      <span aria-hidden="true">{isTrue ? "✓" : "✗"}</span>
      <span>
        <span className="visually-hidden">{isTrue ? "True: " : "Not true: "}</span>
        {children}
      </span>
    </li>
  );
}

/** What anybody needs to repeat the draw; it names claims, not people. */
function save(questId: string, { winners, ...rest }: RaffleResult): void {
  const text = JSON.stringify({ questId, ...rest, winners: winners.map(({ claimId }) => ({ claimId })) }, null, 2);
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href: url, download: `draw-${questId}.json` }).click();
  URL.revokeObjectURL(url);
}
