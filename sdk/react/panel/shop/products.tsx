import { ok, type Schemas } from "../../../client/index.ts";
import { formatAmount } from "../../../core/money.ts";
import type { PanelRenderer } from "../../../model/state.ts";
import { useSdkContext, useTexts } from "../../context.tsx";
import { useLoaded } from "../../use-loaded.ts";
import { ExternalLink, Note, SiteImage, WhenLoaded } from "../parts.tsx";

interface Props {
  panelId: string;
  renderer: Extract<PanelRenderer, { panel_type: "shopify" }>;
}

/** Products of the site's shop, with links to the shop's own checkout. Without products, a link to the shop. */
export function Products({ panelId, renderer }: Props) {
  const { session } = useSdkContext();
  const { t } = useTexts();
  const { collection, product_handles: handles } = renderer;
  const showsProducts = collection !== undefined || handles.length > 0;
  const loaded = useLoaded(JSON.stringify([panelId, collection, handles]), async () => {
    if (!showsProducts) return [];
    const call = { params: { path: { id: panelId } } };
    return (await ok(session.client.api.GET("/shopify/v1/panels/{id}/products", call))).products;
  });
  return (
    <div className="tifo-shop">
      <WhenLoaded loaded={loaded}>
        {(products) => (
          <>
            {showsProducts && products.length === 0 && <Note>{t("Nothing in the shop right now.")}</Note>}
            <ul className="tifo-list">
              {products.map((product) => (
                <Product key={product._id} product={product} />
              ))}
            </ul>
          </>
        )}
      </WhenLoaded>
      <p className="tifo-note">
        <ExternalLink href={renderer.url} isButton={!showsProducts}>
          {t("Open the shop")}
        </ExternalLink>
      </p>
    </div>
  );
}

type Shown = Schemas["ShopProduct"];

function Product({ product: { title, description, available, image, price, maxPrice, url, variants } }: { product: Shown }) {
  const { locale, t } = useTexts();
  const [only, ...others] = variants;
  const href = others.length === 0 ? (only?.checkoutUrl ?? url) : (url ?? only?.checkoutUrl);
  const cheapest = formatAmount(price.amount, price.currency, locale);
  return (
    <li className="tifo-card tifo-product">
      <SiteImage className="tifo-banner" src={image?.url} alt={image?.alt} />
      <h3>
        <bdi>{title}</bdi>
      </h3>
      {description !== "" && (
        <p className="tifo-small" dir="auto">
          {description}
        </p>
      )}
      <p className="tifo-price">{maxPrice.amount > price.amount ? t("From {price}", { price: cheapest }) : cheapest}</p>
      {available && href ? (
        <ExternalLink href={href} isButton>
          {t("Buy {title}", { title })}
        </ExternalLink>
      ) : (
        <p className="tifo-small">{t("Sold out")}</p>
      )}
    </li>
  );
}
