import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useParam } from "#studio/app/param.ts";
import { ChargeTable, MONEY } from "#studio/money/charge-table.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ErrorState, Loading } from "#studio/ui/states.tsx";
import { EntitlementTable } from "./entitlement-table.tsx";
import { GrantDialog } from "./grant-dialog.tsx";

const CHARGES = 200;

/** What a person may see and what they paid. */
export default function Person() {
  const { client, access } = useSession();
  const accountId = useParam("id");
  const [isGranting, setGranting] = useState(false);
  const member = useQuery({
    queryKey: [MONEY, "member", accountId],
    queryFn: () => ok(client.api.GET("/community/v1/account", { params: { query: { accountId } } })),
  });
  const charges = useQuery({
    queryKey: [MONEY, "charges", accountId],
    queryFn: () => {
      const query = { accountId, limit: CHARGES, sortBy: "created", sortDirection: -1 } as const;
      return ok(client.api.GET("/billing/v1/charges", { params: { query } }));
    },
  });
  if (member.isPending) return <Loading label="Loading the person…" />;
  if (member.isError) return <ErrorState error={member.error} retry={() => void member.refetch()} />;
  const { name, email, entitlements } = member.data;
  const paid = charges.data?.results ?? [];
  return (
    <>
      <p>
        <Link to={`/people/${accountId}`}>← Profile</Link>
      </p>
      <PageHeader title={name} description={email}>
        {access.writesSite && (
          <Button look="primary" onPress={() => setGranting(true)}>
            Grant access…
          </Button>
        )}
      </PageHeader>
      <section className="person-section" aria-labelledby="access">
        <div className="person-section-head">
          <h2 id="access">Access</h2>
        </div>
        {entitlements.length === 0 ? (
          <p className="soft">This person holds nothing, and never has.</p>
        ) : (
          <EntitlementTable entitlements={entitlements} />
        )}
      </section>
      <section className="person-section" aria-labelledby="payments">
        <div className="person-section-head">
          <h2 id="payments">Payments</h2>
          {charges.data && charges.data.pagination.totalCount > CHARGES && <p className="soft">{`The latest ${String(CHARGES)}.`}</p>}
        </div>
        {charges.isPending && <Loading label="Loading the payments…" />}
        {charges.isError && <ErrorState error={charges.error} retry={() => void charges.refetch()} />}
        {charges.isSuccess && paid.length === 0 && <p className="soft">This person has paid nothing yet.</p>}
        {paid.length > 0 && <ChargeTable charges={paid} showsPerson={false} />}
      </section>
      {isGranting && <GrantDialog accountId={accountId} name={name} onClose={() => setGranting(false)} />}
    </>
  );
}
