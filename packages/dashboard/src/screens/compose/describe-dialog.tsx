import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { DescriptionField, useDescription } from "../../media/description-field.tsx";
import { mediaWords } from "../../media/media-words.ts";
import { Picture } from "../../media/picture.tsx";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import css from "./compose.module.css";
import type { DraftMedia } from "./draft.ts";

interface DescribeDialogProps {
  readonly media: DraftMedia;
  readonly url: string | undefined;
  readonly onSaved: (altText: string | null) => void;
  readonly onClose: () => void;
}

export function DescribeDialog({ media, url, onSaved, onClose }: DescribeDialogProps) {
  const words = useWords(mediaWords);
  const kit = useWords(kitWords);
  const description = useDescription(media, (altText) => {
    onSaved(altText);
    onClose();
  });
  return (
    <Dialog
      title={words.descriptionOf(media.fileName)}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button kind="primary" busy={description.isBusy} onClick={() => void description.save()}>
            {words.save}
          </Button>
        </>
      }
    >
      <Picture url={url} kind={media.kind} altText={media.altText} className={css.described} />
      <DescriptionField
        value={description.value}
        onChange={description.setValue}
        error={description.error}
      />
    </Dialog>
  );
}
