import { PostriderError } from "@postrider/client";
import { useQueryClient } from "@tanstack/react-query";
import { SquarePen, X } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { api } from "../../api/api.ts";
import { Button } from "../../kit/button.tsx";
import { Card } from "../../kit/card.tsx";
import { ConfirmDialog } from "../../kit/confirm-dialog.tsx";
import { CopyButton } from "../../kit/copy-button.tsx";
import { Drawer } from "../../kit/dialog.tsx";
import { Time } from "../../kit/time.tsx";
import { showToast } from "../../kit/toast.tsx";
import { useMedia } from "../../kit/use-media.ts";
import { DescriptionField, useDescription } from "../../media/description-field.tsx";
import type { LibraryMedia } from "../../media/media-api.ts";
import { mediaWords } from "../../media/media-words.ts";
import { Picture } from "../../media/picture.tsx";
import { bytesText, durationText } from "../../media/upload-state.ts";
import { mediaSource } from "../../posts/media-source.ts";
import { useCan, useSession } from "../../session/session-context.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { countText } from "./count-text.ts";
import css from "./media-screen.module.css";

interface MediaDetailProps {
  readonly file: LibraryMedia;
  readonly onClose: () => void;
}

const WIDE = "(min-width: 68.75em)";

/** Beside the list where there is room, otherwise in a sheet over it. */
export function MediaDetail({ file, onClose }: MediaDetailProps) {
  const words = useWords(mediaWords);
  const isWide = useMedia(WIDE);
  const content = <Content file={file} onClose={onClose} />;
  const foot = <Foot file={file} onClose={onClose} />;
  if (!isWide)
    return (
      <Drawer title={file.fileName} onClose={onClose} footer={foot}>
        {content}
      </Drawer>
    );
  return (
    <Card
      className={css.detail}
      title={<span className="clip">{file.fileName}</span>}
      actions={<Button kind="ghost" small icon={X} aria-label={words.close} onClick={onClose} />}
      footer={foot}
    >
      <div className="pad">{content}</div>
    </Card>
  );
}

function Content({ file }: MediaDetailProps) {
  const canWrite = useCan()("posts:write");
  const { uploadOrigins } = useSession();
  const { url, kind, altText, fileName } = file;
  return (
    <div className="stack">
      {kind === "video" ? (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- uploaded videos carry no captions
        <video
          className={css.big}
          src={mediaSource(url, location.origin, uploadOrigins)}
          controls
          preload="metadata"
          aria-label={altText ?? fileName}
        />
      ) : (
        <Picture url={url} kind={kind} altText={altText} className={css.big} />
      )}
      {canWrite && <Description file={file} />}
      <Facts file={file} />
    </div>
  );
}

function Description({ file }: { readonly file: LibraryMedia }) {
  const words = useWords(mediaWords);
  const description = useDescription(file, () => showToast(words.saved));
  return (
    <div className="stack-s">
      <DescriptionField
        value={description.value}
        onChange={description.setValue}
        error={description.error}
      />
      {description.isChanged && (
        <Button small busy={description.isBusy} onClick={() => void description.save()}>
          {words.save}
        </Button>
      )}
    </div>
  );
}

function Facts({ file }: { readonly file: LibraryMedia }) {
  const words = useWords(mediaWords);
  const { language } = useSettings();
  const { id, durationMs, createdAt, usedIn, sentAs } = file;
  return (
    <dl className="kv">
      <dt>{words.file}</dt>
      <dd className="num">
        <FileText file={file} />
      </dd>
      {durationMs !== null && (
        <>
          <dt>{words.length}</dt>
          <dd className="num">{durationText(durationMs)}</dd>
        </>
      )}
      <dt>{words.added}</dt>
      <dd>
        <Time at={createdAt} show="day" />
      </dd>
      <dt>{words.usedIn}</dt>
      <dd>
        {usedIn.count === 0
          ? words.notUsed
          : words.inPosts(countText(usedIn, language), usedIn.count === 1)}
      </dd>
      {sentAs !== null && (
        <>
          <dt>{words.sentAs}</dt>
          <dd className="num">
            {sentAs.map((made) => (
              <div key={`${made.contentType} ${made.width} ${made.height} ${made.bytes}`}>
                <FileText file={made} />
              </div>
            ))}
            <div>{sentAs.length === 0 ? words.asItIs : words.asItIsElsewhere}</div>
          </dd>
        </>
      )}
      <dt>{words.id}</dt>
      <dd className="row">
        <code className="clip">{id}</code>
        <CopyButton text={id} label={words.copyId} />
      </dd>
    </dl>
  );
}

type FileFacts = Pick<LibraryMedia, "contentType" | "width" | "height" | "bytes">;

function FileText({ file: { contentType, width, height, bytes } }: { readonly file: FileFacts }) {
  const { language } = useSettings();
  const type = contentType.split("/").at(-1)?.toUpperCase();
  return (
    <>
      {type}, {width} × {height}, {bytesText(bytes, language)}
    </>
  );
}

function Foot({ file, onClose }: MediaDetailProps) {
  const words = useWords(mediaWords);
  const { language } = useSettings();
  const canWrite = useCan()("posts:write");
  const [, navigate] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const { id, kind, fileName, altText, usedIn } = file;
  if (!canWrite) return null;
  const usedBy = words.usedBy(countText(usedIn, language), usedIn.count === 1);
  const use = () => navigate("/posts/new", { state: { media: [{ id, kind, fileName, altText }] } });
  return (
    <>
      <Button small icon={SquarePen} onClick={use}>
        {words.use}
      </Button>
      <span className="push row">
        {usedIn.count > 0 && <span className="nowrap">{usedBy}</span>}
        <Button small kind="danger" disabled={usedIn.count > 0} onClick={() => setAsking(true)}>
          {words.delete}
        </Button>
      </span>
      {isAsking && (
        <DeleteDialog file={file} onDeleted={onClose} onClose={() => setAsking(false)} />
      )}
    </>
  );
}

interface DeleteDialogProps extends MediaDetailProps {
  readonly onDeleted: () => void;
}

function DeleteDialog({ file, onDeleted, onClose }: DeleteDialogProps) {
  const words = useWords(mediaWords);
  const client = useQueryClient();
  const remove = async () => {
    await api.deleteMedia(file.id);
    await client.invalidateQueries({ queryKey: ["media"] });
    showToast(words.deleted(file.fileName));
    onDeleted();
  };
  return (
    <ConfirmDialog
      title={words.deleteTitle(file.fileName)}
      confirm={words.delete}
      keep={words.keep}
      act={remove}
      onClose={onClose}
      errorTitle={(error) =>
        error instanceof PostriderError && error.code === "media_in_use"
          ? words.usedByPost
          : undefined
      }
    >
      <p className="sm quiet">{words.deleteHint}</p>
    </ConfirmDialog>
  );
}
