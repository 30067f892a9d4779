import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useParam } from "#studio/app/param.ts";
import { CHARGE_TITLES, ChargeTable, MONEY } from "#studio/money/charge-table.tsx";
import { useSession } from "#studio/session/context.tsx";
import { BackLink } from "#studio/ui/back-link.tsx";
import { Button } from "#studio/ui/button.tsx";
import { FormSkeleton } from "#studio/ui/form-skeleton.tsx";
import { PageHeader } from "#studio/ui/page-header.tsx";
import { ErrorState } from "#studio/ui/states.tsx";
import { TableSkeleton } from "#studio/ui/table-skeleton.tsx";
import { EntitlementTable } from "./entitlement-table.tsx";
import { GrantDialog } from "./grant-dialog.tsx";

const CHARGES = 200;

/** What a person may see and what they paid. */
export default function Person() {
  const accountId = useParam("id");
  return (
    <>
      <BackLink to={`/people/${accountId}`}>Profile</BackLink>
      <Holdings key={accountId} accountId={accountId} />
    </>
  );
}

function Holdings({ accountId }: { accountId: string }) {
  const { client, access } = useSession();
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
  if (member.isPending) return <FormSkeleton label="Loading the person…" />;
  if (member.isError) return <ErrorState error={member.error} retry={() => void member.refetch()} />;
  const { name, email, entitlements } = member.data;
  const paid = charges.data?.results ?? [];
  return (
    <>
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
        {charges.isPending && <TableSkeleton label="Loading the payments…" titles={CHARGE_TITLES} />}
        {charges.isError && <ErrorState error={charges.error} retry={() => void charges.refetch()} />}
        {charges.isSuccess && paid.length === 0 && <p className="soft">This person has paid nothing yet.</p>}
        {paid.length > 0 && <ChargeTable charges={paid} showsPerson={false} />}
      </section>
      {isGranting && <GrantDialog accountId={accountId} name={name} onClose={() => setGranting(false)} />}
    </>
  );
}
