import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ok, type Schemas, TifoProblem } from "#sdk/client/index.ts";
import { labelOf } from "#studio/api/fields.ts";
import { ifMatch, isOutdated, type Loaded, loaded } from "#sdk/client/latest.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { Switch } from "#studio/ui/switch.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { toast } from "#studio/ui/toast.tsx";

type Webhooks = Schemas["WebhooksWithProgrammatic"];

interface Props {
  onClose: () => void;
  /** Takes a secret, which is shown once. */
  onSecret: (secret: string) => void;
}

/** Where the site's events are sent, and which. */
export function EndpointDialog(props: Props) {
  const { client } = useSession();
  const endpoint = useQuery({
    queryKey: ["webhooks"],
    queryFn: () => loaded(client.api.GET("/webhooks/v1")),
    staleTime: Infinity,
    gcTime: 0,
  });
  if (endpoint.data) return <Form key={endpoint.data.etag} {...props} saved={endpoint.data} />;
  return (
    <Dialog title="Webhook endpoint" onClose={props.onClose} actions={<Button onPress={props.onClose}>Cancel</Button>}>
      {endpoint.isError ? <ErrorState error={endpoint.error} retry={() => void endpoint.refetch()} /> : <Loading />}
    </Dialog>
  );
}

function Form({ saved, onClose, onSecret }: Props & { saved: Loaded<Webhooks> }) {
  const { client } = useSession();
  const queries = useQueryClient();
  const { item, etag } = saved;
  const isNew = item._id === null;
  const [url, setUrl] = useState(item.webhookUrl ?? "https://");
  const [enabled, setEnabled] = useState(isNew || item.enabled);
  const [services, setServices] = useState(item.webhookSubscriptions);
  const [isPending, setPending] = useState(false);
  const [issue, setIssue] = useState<string>();
  const [problem, setProblem] = useState<string | null>(null);

  async function run(work: () => Promise<string | undefined>): Promise<void> {
    setPending(true);
    setIssue(undefined);
    setProblem(null);
    try {
      const secret = await work();
      await queries.invalidateQueries({ queryKey: ["webhook-deliveries"] });
      onClose();
      if (secret === undefined) toast("Saved.");
      else onSecret(secret);
    } catch (error) {
      const found = error instanceof TifoProblem ? error.issues.find(({ path }) => path.endsWith("webhookUrl")) : undefined;
      setIssue(found?.message);
      const isStale = isOutdated(error);
      if (!found) setProblem(isStale ? "Somebody else has changed this. Close the dialog and open it again." : errorText(error));
      setPending(false);
    }
  }

  const save = (): Promise<void> =>
    run(async () => {
      const body = { webhooks: { enabled, webhookUrl: url.trim(), webhookSubscriptions: services } };
      const headers = ifMatch(isNew ? null : etag);
      return (await ok(client.api.PUT("/webhooks/v1", { body, headers }))).secret;
    });
  const rotate = (): Promise<void> => run(async () => (await ok(client.api.POST("/webhooks/v1/secret/rotate", { body: {} }))).secret);

  return (
    <Dialog
      title="Webhook endpoint"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          {!isNew && (
            <Button isDisabled={isPending} onPress={() => void rotate()}>
              New secret
            </Button>
          )}
          <Button look="primary" isPending={isPending} onPress={() => void save()}>
            {isNew ? "Create" : "Save"}
          </Button>
        </>
      }
    >
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      {item.disabled && (
        <Notice tone="warning">
          {item.disabled.reason === "gone" ? "The endpoint answered that it has gone." : "No delivery succeeded for 75 hours."} It is
          disabled until you save it again.
        </Notice>
      )}
      <TextField
        label="URL"
        type="url"
        value={url}
        onChange={setUrl}
        maxLength={2000}
        error={issue}
        description="https, on a public host."
      />
      <Switch label="Send events" isSelected={enabled} onChange={setEnabled} />
      <fieldset className="endpoint-services">
        <legend className="field-label">Events of</legend>
        {Object.entries(services).map(([service, isSent]) => (
          <label key={service}>
            <input type="checkbox" checked={isSent} onChange={({ target }) => setServices({ ...services, [service]: target.checked })} />{" "}
            {labelOf(service.replace(/-service-v\d+$/, ""))}
          </label>
        ))}
      </fieldset>
    </Dialog>
  );
}
