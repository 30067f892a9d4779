import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { ok } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { Empty, ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { sizeText, upload } from "./upload.ts";

interface Props {
  onChoose: (url: string) => void;
  onClose: () => void;
}

const PAGE = 60;

/** The site's images, and a way to add one. */
export function MediaDialog({ onChoose, onClose }: Props) {
  const { client } = useSession();
  const files = useInfiniteQuery({
    queryKey: ["media", "image"],
    queryFn: ({ pageParam }) => ok(client.api.GET("/media/v1", { params: { query: { kind: "image", limit: PAGE, offset: pageParam } } })),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }, pages) => (pagination.next === null ? undefined : PAGE * pages.length),
  });
  const results = files.data?.pages.flatMap((page) => page.results);
  return (
    <Dialog title="Choose an image" width="wide" onClose={onClose} actions={<Button onPress={onClose}>Cancel</Button>}>
      <Upload onUploaded={onChoose} />
      {files.isPending && <Loading label="Loading the images…" />}
      {files.isError && !files.data && <ErrorState error={files.error} retry={() => void files.refetch()} />}
      {results?.length === 0 && <Empty title="There are no images yet.">Upload the first one.</Empty>}
      {results && results.length > 0 && (
        <ul className="media">
          {results.map(({ _id, fileName, url, size }) => (
            <li key={_id}>
              <button type="button" className="card media-file" onClick={() => onChoose(url)}>
                <img src={url} alt="" loading="lazy" />
                <span className="media-name">{fileName}</span>
                <span className="soft">{sizeText(size)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {files.hasNextPage && (
        <Button onPress={() => void files.fetchNextPage()} isDisabled={files.isFetchingNextPage}>
          Show more
        </Button>
      )}
    </Dialog>
  );
}

function Upload({ onUploaded }: { onUploaded: (url: string) => void }) {
  const session = useSession();
  const queries = useQueryClient();
  const id = useId();
  const [sent, setSent] = useState<{ name: string; share: number } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  async function send(file: File): Promise<void> {
    setProblem(null);
    setSent({ name: file.name, share: 0 });
    try {
      const { url } = await upload(session, file, (share) => setSent({ name: file.name, share }));
      await queries.invalidateQueries({ queryKey: ["media"] });
      onUploaded(url);
    } catch (error) {
      setProblem(errorText(error));
    }
    setSent(null);
  }

  return (
    <div className="upload">
      <label className="field-label" htmlFor={id}>
        Upload an image
      </label>
      <input
        id={id}
        type="file"
        accept="image/*"
        disabled={sent !== null}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) void send(file);
          target.value = "";
        }}
      />
      {sent && (
        <p className="upload-progress">
          <progress max={1} value={sent.share} aria-label={`Upload of ${sent.name}`} /> {Math.round(sent.share * 100)} %
        </p>
      )}
      {problem !== null && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
