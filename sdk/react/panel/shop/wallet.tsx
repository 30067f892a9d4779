import { ok } from "../../../client/index.ts";
import { useSdkContext, useTexts } from "../../context.tsx";
import { useLoaded } from "../../use-loaded.ts";
import { Time, WhenLoaded } from "../parts.tsx";

const SHOWN = 10;

/** The viewer's balance and its latest transactions, loaded again with each `version`. */
export function Wallet({ version }: { version: string }) {
  const { session } = useSdkContext();
  const { locale, t } = useTexts();
  const loaded = useLoaded(version, async () => {
    const { _id: id, balance } = await ok(session.client.api.GET("/wallet/v1"));
    const call = { params: { path: { id }, query: { limit: SHOWN } } };
    const { results } = await ok(session.client.api.GET("/wallet/v1/{id}/transactions", call));
    return { balance, transactions: results };
  });
  return (
    <WhenLoaded loaded={loaded}>
      {({ balance, transactions }) => (
        <details className="tifo-card tifo-wallet">
          <summary>{t("Your balance: {balance, number}", { balance })}</summary>
          {transactions.length === 0 ? (
            <p className="tifo-small">{t("No transactions yet.")}</p>
          ) : (
            <ul className="tifo-list">
              {transactions.map(({ _id, amount, reason, created }) => (
                <li key={_id} className="tifo-transaction">
                  <span>
                    <bdi>{reason}</bdi>
                    <br />
                    <span className="tifo-small">
                      <Time at={created} />
                    </span>
                  </span>
                  <b>{new Intl.NumberFormat(locale, { signDisplay: "exceptZero" }).format(amount)}</b>
                </li>
              ))}
            </ul>
          )}
        </details>
      )}
    </WhenLoaded>
  );
}
