import { FileX, ImagePlus } from "lucide-react";
import { memo } from "react";
import { classNames } from "../../kit/class-names.ts";
import { FarRows } from "../../kit/far-rows.tsx";
import { useIsNear } from "../../kit/use-is-near.ts";
import { useIsNarrow } from "../../kit/use-media.ts";
import { AddFiles } from "../../media/add-files.tsx";
import type { LibraryMedia } from "../../media/media-api.ts";
import { mediaWords } from "../../media/media-words.ts";
import { Picture } from "../../media/picture.tsx";
import { isRepeatable, rejectionOf } from "../../media/rejection.ts";
import { UploadProgress, UploadState } from "../../media/upload-progress.tsx";
import { durationText, type Upload } from "../../media/upload-state.ts";
import type { Uploads } from "../../media/use-uploads.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { countText } from "./count-text.ts";
import css from "./media-screen.module.css";

interface MediaGridProps {
  readonly files: readonly LibraryMedia[];
  /** Undefined for a session that may only look. */
  readonly uploads: Uploads | undefined;
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string) => void;
}

/** Files of the first screen. */
const FIRST = 20;

export function MediaGrid({ files, uploads, selectedId, onSelect }: MediaGridProps) {
  const words = useWords(mediaWords);
  // Fingers drop and paste nothing.
  const isNarrow = useIsNarrow();
  const add = isNarrow ? words.chooseFiles : words.dropHere;
  return (
    <ul className={css.grid} aria-label={words.title}>
      {uploads && (
        <li>
          <AddFiles label={add} onFiles={uploads.addFiles} className={css.add}>
            <ImagePlus className="i i-l" aria-hidden="true" />
            <b className="sm">{add}</b>
            {!isNarrow && <span className="xs muted">{words.dropHint}</span>}
          </AddFiles>
        </li>
      )}
      {uploads?.uploads.map((upload) => (
        <UploadItem key={upload.key} upload={upload} uploads={uploads} />
      ))}
      {files.map((file, index) => (
        <FileItem
          key={file.id}
          file={file}
          isNearAtFirst={index < FIRST}
          isSelected={file.id === selectedId}
          onSelect={onSelect}
        />
      ))}
    </ul>
  );
}

interface FileItemProps {
  readonly file: LibraryMedia;
  readonly isNearAtFirst: boolean;
  readonly isSelected: boolean;
  readonly onSelect: (id: string) => void;
}

/** What a file that was not drawn yet is guessed to take. */
const FILE_REM = 13;

const FileItem = memo(function FileItem({ isNearAtFirst, ...props }: FileItemProps) {
  const { file, isSelected } = props;
  const { ref, isNear, style } = useIsNear<HTMLLIElement>(isNearAtFirst, FILE_REM);
  return (
    <li ref={ref} style={style} className={classNames(css.item, isSelected && css.selected)}>
      {isNear ? <File {...props} /> : <FarRows rows={[{ id: file.id, text: file.fileName }]} />}
    </li>
  );
});

function File({ file, isSelected, onSelect }: Omit<FileItemProps, "isNearAtFirst">) {
  const words = useWords(mediaWords);
  const { language } = useSettings();
  const { url, kind, altText, durationMs, fileName, width, height, usedIn } = file;
  return (
    <>
      <button
        type="button"
        className={css.open}
        aria-label={durationMs === null ? fileName : `${fileName}, ${durationText(durationMs)}`}
        aria-pressed={isSelected}
        onClick={() => onSelect(file.id)}
      >
        <Picture
          url={url}
          previewOf={file.id}
          kind={kind}
          altText={altText}
          durationMs={durationMs}
          className={css.picture}
        />
      </button>
      <div className={css.facts}>
        <b className="clip sm" title={fileName}>
          {fileName}
        </b>
        <span className={classNames("xs clip", altText === null ? css.missing : "muted")}>
          {altText ?? words.noDescription}
        </span>
        <span className="xs muted num row">
          <span className="nowrap">
            {width} × {height}
          </span>
          <span className="push nowrap">
            {usedIn.count === 0
              ? words.notUsed
              : words.inPosts(countText(usedIn, language), usedIn.count === 1)}
          </span>
        </span>
      </div>
    </>
  );
}

interface UploadItemProps {
  readonly upload: Upload;
  readonly uploads: Uploads;
}

function UploadItem({ upload, uploads }: UploadItemProps) {
  const words = useWords(mediaWords);
  const { key, fileName, previewUrl, kind, state, error } = upload;
  const isFailed = state === "failed";
  return (
    <li className={css.item}>
      {isFailed ? (
        <div className={css.rejected}>
          <FileX className="i i-l" aria-hidden="true" />
        </div>
      ) : (
        <div className={css.sending}>
          <Picture url={previewUrl} kind={kind} altText={fileName} className={css.picture} />
          <UploadProgress upload={upload} />
        </div>
      )}
      <div className={css.facts}>
        <b className="clip sm" title={fileName}>
          {fileName}
        </b>
        {isFailed ? (
          <span className={classNames("xs", css.cause)} role="alert">
            {rejectionOf(error, words)}
          </span>
        ) : (
          <span className="xs muted">
            <UploadState upload={upload} />
          </span>
        )}
        <span className="row">
          {isFailed && isRepeatable(error) && (
            <button type="button" className="linkbtn xs" onClick={() => uploads.repeat(key)}>
              {words.tryAgain}
            </button>
          )}
          <button type="button" className="linkbtn xs" onClick={() => uploads.remove(key)}>
            {isFailed ? words.remove : words.stop}
          </button>
        </span>
      </div>
    </li>
  );
}
