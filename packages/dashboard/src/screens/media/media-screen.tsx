import {
  type InfiniteData,
  useInfiniteQuery,
  type UseInfiniteQueryResult,
  useQueryClient,
} from "@tanstack/react-query";
import { Link as LinkIcon, Upload as UploadIcon } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { classNames } from "../../kit/class-names.ts";
import { EmptyState, Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { MoreButton } from "../../kit/more-button.tsx";
import { Page } from "../../kit/page.tsx";
import { Segments } from "../../kit/segments.tsx";
import { FileInput, pasteFiles, useDrop } from "../../media/add-files.tsx";
import { ImportDialog } from "../../media/import-dialog.tsx";
import { type LibraryFilter, type LibraryMedia, mediaApi } from "../../media/media-api.ts";
import { mediaWords } from "../../media/media-words.ts";
import { Meter } from "../../media/upload-progress.tsx";
import { bytesText } from "../../media/upload-state.ts";
import { type Uploads, useUploads } from "../../media/use-uploads.ts";
import { useCan } from "../../session/session-context.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { MediaDetail } from "./media-detail.tsx";
import { MediaGrid } from "./media-grid.tsx";
import css from "./media-screen.module.css";

type Show = "all" | "withoutAltText" | "unused";

/** The files of the workspace: what they are, where they are used, and how much room is left. */
export function MediaScreen() {
  const words = useWords(mediaWords);
  const canWrite = useCan()("posts:write");
  const [show, setShow] = useState<Show>("all");
  const [kind, setKind] = useState<"both" | "video">("both");
  const client = useQueryClient();
  const library = useInfiniteQuery(mediaApi.library(toFilter(show, kind)));
  const uploads = useUploads(
    "library",
    () => void client.invalidateQueries({ queryKey: ["media"] }),
  );
  const showAll = () => {
    setShow("all");
    setKind("both");
  };
  return (
    <Page title={words.title} actions={canWrite && <AddActions uploads={uploads} />}>
      <div className="filters scroll" data-filters>
        <Segments
          label={words.show}
          value={show}
          segments={showSegments(words)}
          onChange={setShow}
        />
        <Segments
          label={words.kind}
          value={kind}
          segments={[
            { value: "both", label: words.both },
            { value: "video", label: words.videos },
          ]}
          onChange={setKind}
        />
        <Room storage={library.data?.pages[0]?.storage} />
      </div>
      {library.error !== null && (
        <ErrorNotice error={library.error} onRetry={() => void library.refetch()} />
      )}
      {library.isPending && <Skeleton />}
      {library.data && (
        <Library
          library={library}
          uploads={canWrite ? uploads : undefined}
          onShowAll={show === "all" && kind === "both" ? undefined : showAll}
        />
      )}
    </Page>
  );
}

interface LibraryProps {
  readonly library: UseInfiniteQueryResult<InfiniteData<{ media: readonly LibraryMedia[] }>>;
  /** Undefined for a session that may only look. */
  readonly uploads: Uploads | undefined;
  /** Undefined while all files are shown. */
  readonly onShowAll: (() => void) | undefined;
}

function Library({ library, uploads, onShowAll }: LibraryProps) {
  const words = useWords(mediaWords);
  const [selectedId, select] = useState<string>();
  const addFiles = uploads?.addFiles ?? (() => undefined);
  const { isOver, ...drop } = useDrop(addFiles);
  const files = useMemo(
    () => library.data?.pages.flatMap(({ media }) => media) ?? [],
    [library.data],
  );
  const selected = files.find(({ id }) => id === selectedId);
  return (
    <div
      className={classNames(css.layout, selected && css.withDetail, isOver && css.over)}
      onPaste={(event) => pasteFiles(event, addFiles)}
      {...drop}
    >
      <div className="stack">
        {files.length === 0 && <NoFiles onShowAll={onShowAll} />}
        <MediaGrid files={files} uploads={uploads} selectedId={selected?.id} onSelect={select} />
        <MoreButton list={library} className={css.more}>
          {words.more}
        </MoreButton>
      </div>
      {selected && (
        <MediaDetail key={selected.id} file={selected} onClose={() => select(undefined)} />
      )}
    </div>
  );
}

function NoFiles({ onShowAll }: Pick<LibraryProps, "onShowAll">) {
  const words = useWords(mediaWords);
  return (
    <Card>
      {onShowAll === undefined ? (
        <EmptyState title={words.emptyTitle}>{words.emptyText}</EmptyState>
      ) : (
        <EmptyState
          title={words.nothingTitle}
          action={<Button onClick={onShowAll}>{words.showAll}</Button>}
        >
          {words.nothingText}
        </EmptyState>
      )}
    </Card>
  );
}

function toFilter(show: Show, kind: "both" | "video"): LibraryFilter {
  return {
    ...(kind === "video" ? { kind } : {}),
    ...(show === "all" ? {} : { [show]: true }),
  };
}

function showSegments(words: (typeof mediaWords)["en"]) {
  return [
    { value: "all", label: words.all },
    { value: "withoutAltText", label: words.noDescription },
    { value: "unused", label: words.notUsed },
  ] as const;
}

function AddActions({ uploads }: { readonly uploads: Uploads }) {
  const words = useWords(mediaWords);
  const input = useRef<HTMLInputElement>(null);
  const [isImporting, setImporting] = useState(false);
  return (
    <>
      <span className="not-s">
        <Button icon={LinkIcon} onClick={() => setImporting(true)}>
          {words.importFrom}
        </Button>
      </span>
      <Button kind="primary" icon={UploadIcon} onClick={() => input.current?.click()}>
        {words.upload}
      </Button>
      <FileInput ref={input} label={words.upload} onFiles={uploads.addFiles} />
      {isImporting && (
        <ImportDialog onImport={uploads.importFrom} onClose={() => setImporting(false)} />
      )}
    </>
  );
}

interface Storage {
  readonly usedBytes: number;
  readonly reservedBytes: number;
  readonly limitBytes: number;
}

function Room({ storage }: { readonly storage: Storage | undefined }) {
  const words = useWords(mediaWords);
  const { language } = useSettings();
  if (storage === undefined) return null;
  const used = storage.usedBytes + storage.reservedBytes;
  return (
    <span className={classNames("push row not-s xs muted num", css.room)}>
      <Meter share={used / storage.limitBytes} label={words.roomLabel} />
      {words.room(bytesText(used, language), bytesText(storage.limitBytes, language))}
    </span>
  );
}
