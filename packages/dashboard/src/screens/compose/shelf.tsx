import { Captions, CaptionsOff, FileX, ImagePlus } from "lucide-react";
import { type DragEvent, useState } from "react";
import { classNames } from "../../kit/class-names.ts";
import { Menu } from "../../kit/menu.tsx";
import { useIsNarrow } from "../../kit/use-media.ts";
import { AddFiles } from "../../media/add-files.tsx";
import { ImportDialog } from "../../media/import-dialog.tsx";
import { mediaWords } from "../../media/media-words.ts";
import { Picture } from "../../media/picture.tsx";
import { isRepeatable, rejectionOf } from "../../media/rejection.ts";
import { UploadProgress, UploadState } from "../../media/upload-progress.tsx";
import type { Upload } from "../../media/upload-state.ts";
import type { Uploads } from "../../media/use-uploads.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { useComposition } from "./composition.ts";
import { type DraftMedia, moveMedia } from "./draft.ts";

interface ShelfProps {
  readonly uploads: Uploads;
  readonly urlOf: (id: string) => string | undefined;
  readonly onDescribe: (media: DraftMedia) => void;
}

/** The files of the post in their order, those on their way, and the place to add more. */
export function Shelf({ uploads, urlOf, onDescribe }: ShelfProps) {
  const { addFiles, importFrom, repeat, remove } = uploads;
  const words = useWords(composeWords);
  const media = useWords(mediaWords);
  const { draft } = useComposition();
  const add = useIsNarrow() ? media.chooseFiles : media.add;
  const [isImporting, setImporting] = useState(false);
  return (
    <div className={css.shelf} data-place="media" tabIndex={-1}>
      <ul aria-label={words.media}>
        {draft.media.map((item, index) => (
          <MediaTile
            key={item.id}
            item={item}
            index={index}
            url={urlOf(item.id)}
            onDescribe={onDescribe}
          />
        ))}
        {uploads.uploads.map((upload) => (
          <UploadTile key={upload.key} upload={upload} onRepeat={repeat} onRemove={remove} />
        ))}
        <li>
          <AddFiles label={add} onFiles={addFiles} className={css.add}>
            <ImagePlus className="i i-l" aria-hidden="true" />
            <span>{add}</span>
          </AddFiles>
          <button type="button" className="linkbtn xs" onClick={() => setImporting(true)}>
            {media.importFrom}
          </button>
        </li>
      </ul>
      {isImporting && <ImportDialog onImport={importFrom} onClose={() => setImporting(false)} />}
    </div>
  );
}

interface MediaTileProps {
  readonly item: DraftMedia;
  readonly index: number;
  readonly url: string | undefined;
  readonly onDescribe: (media: DraftMedia) => void;
}

const DRAGGED = "application/x-postrider-media";

function MediaTile({ item, index, url, onDescribe }: MediaTileProps) {
  const words = useWords(composeWords);
  const media = useWords(mediaWords);
  const { draft, change } = useComposition();
  const { id, kind, fileName, altText } = item;
  const move = (to: number) => change((before) => moveMedia(before, index, to));
  const last = draft.media.length - 1;
  const remove = () =>
    change((before) => ({ ...before, media: before.media.filter((each) => each.id !== id) }));
  return (
    <li {...draggable(index, (from) => change((before) => moveMedia(before, from, index)))}>
      <figure>
        <div className={css.frame}>
          <Picture {...{ url, kind }} previewOf={id} altText={fileName} className={css.picture} />
          <span className={css.more}>
            <Menu
              label={words.moreOf(fileName)}
              items={[
                { label: words.describe, onChoose: () => onDescribe(item) },
                ...(index > 0
                  ? [{ label: words.moveEarlier, onChoose: () => move(index - 1) }]
                  : []),
                ...(index < last
                  ? [{ label: words.moveLater, onChoose: () => move(index + 1) }]
                  : []),
                null,
                { label: words.remove, danger: true, onChoose: remove },
              ]}
            />
          </span>
        </div>
        <figcaption>
          <button
            type="button"
            className={classNames(css.caption, altText === null && css.missing)}
            title={altText ?? fileName}
            onClick={() => onDescribe(item)}
          >
            {altText === null ? (
              <CaptionsOff className="i i-s" aria-hidden="true" />
            ) : (
              <Captions className="i i-s" aria-hidden="true" />
            )}
            <span className="clip">{altText ?? media.addDescription}</span>
          </button>
        </figcaption>
      </figure>
    </li>
  );
}

/** Files are reordered by dragging; the menu of each does the same for the keyboard. */
function draggable(index: number, onDropFrom: (from: number) => void) {
  return {
    draggable: true,
    onDragStart: ({ dataTransfer }: DragEvent) => dataTransfer.setData(DRAGGED, String(index)),
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      const from = event.dataTransfer.getData(DRAGGED);
      if (from === "") return;
      event.preventDefault();
      onDropFrom(Number(from));
    },
  };
}

interface UploadTileProps {
  readonly upload: Upload;
  readonly onRepeat: (key: string) => void;
  readonly onRemove: (key: string) => void;
}

function UploadTile({ upload, onRemove, onRepeat }: UploadTileProps) {
  const words = useWords(mediaWords);
  const { key, fileName, previewUrl, kind, state, error } = upload;
  const isFailed = state === "failed";
  return (
    <li>
      <figure>
        <div className={css.frame}>
          {isFailed ? (
            <span className={css.rejected}>
              <FileX className="i i-l" aria-hidden="true" />
            </span>
          ) : (
            <Picture
              url={previewUrl}
              kind={kind}
              altText={fileName}
              className={classNames(css.picture, css.dim)}
            />
          )}
          <UploadProgress upload={upload} />
        </div>
        <figcaption className={css.uploadCaption}>
          <span className="clip" title={fileName}>
            {fileName}
          </span>
          <span className="row wrap">
            {isFailed ? (
              <span className={css.cause} role="alert">
                {rejectionOf(error, words)}
              </span>
            ) : (
              <span>
                <UploadState upload={upload} />
              </span>
            )}
            {isFailed && isRepeatable(error) && (
              <button type="button" className="linkbtn xs" onClick={() => onRepeat(key)}>
                {words.tryAgain}
              </button>
            )}
            <button type="button" className="linkbtn xs push" onClick={() => onRemove(key)}>
              {isFailed ? words.remove : words.stop}
            </button>
          </span>
        </figcaption>
      </figure>
    </li>
  );
}
