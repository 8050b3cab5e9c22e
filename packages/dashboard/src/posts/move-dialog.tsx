import { PostriderError } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { ClockArrowUp } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api } from "../api/api.ts";
import { Button } from "../kit/button.tsx";
import { Note } from "../kit/card.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { FieldError } from "../kit/field.tsx";
import { Segments } from "../kit/segments.tsx";
import { showToast } from "../kit/toast.tsx";
import { useSettings } from "../settings/settings.ts";
import { clockOf, dayOf } from "../time/format-time.ts";
import { type Placement, toInstantText, toZoned } from "../time/place-in-zone.ts";
import { offsetOf, placeOf } from "../time/place-names.ts";
import { useNow } from "../time/use-now.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { DateTimeFields, firstReading, placeReading, type Reading } from "./date-time-fields.tsx";
import { postWords } from "./post-words.ts";
import { postsApi } from "./posts-api.ts";
import { useAct } from "./use-act.ts";

interface MoveDialogProps {
  readonly post: {
    readonly id: string;
    readonly content: string;
    readonly scheduledAt: string | null;
  };
  readonly onClose: () => void;
}

const MAX_TITLE = 40;
const MAX_DAYS = 366;

/** Another time for a post, by keyboard as well as by pointer; a draft gets its first one. */
export function MoveDialog({ post, onClose }: MoveDialogProps) {
  const words = useWords(postWords).move;
  const kit = useWords(kitWords);
  const { language, zone } = useSettings();
  const now = useNow().toZonedDateTimeISO(zone);
  const [reading, setReading] = useState<Reading>(() => firstReading(post.scheduledAt, zone));
  const [isLater, setLater] = useState(false);
  const placement = placeReading(reading);
  const at = instantOf(placement, isLater);
  const fault = at && faultOf(at, now, words);
  const { run, isBusy, error, clear } = useMove(post, at, onClose);
  const text = post.content.slice(0, MAX_TITLE);
  if (error instanceof PostriderError && error.status === 412 && at !== undefined)
    return (
      <ConflictDialog
        postId={post.id}
        mine={{ scheduledAt: toInstantText(at) }}
        onKeepTheirs={onClose}
        onUseMine={clear}
      />
    );
  return (
    <Dialog
      title={post.scheduledAt === null ? words.scheduleTitle(text) : words.title(text)}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button kind="primary" busy={isBusy} disabled={!at || fault !== undefined} onClick={run}>
            {at === undefined ? words.schedule : words.toTime(clockOf(at, language))}
          </Button>
        </>
      }
    >
      <DateTimeFields reading={reading} onChange={setReading} />
      <Changes placement={placement} reading={reading} isLater={isLater} onLater={setLater} />
      {fault !== undefined && <FieldError>{fault}</FieldError>}
      {error !== undefined && <ErrorNotice error={error} />}
    </Dialog>
  );
}

function instantOf(placement: Placement | undefined, isLater: boolean) {
  return placement?.kind === "doubled" && isLater ? placement.later : placement?.at;
}

type MoveWords = (typeof postWords)["en"]["move"];

function faultOf(at: Temporal.ZonedDateTime, now: Temporal.ZonedDateTime, words: MoveWords) {
  if (Temporal.ZonedDateTime.compare(at, now) <= 0) return words.past;
  const limit = now.add({ days: MAX_DAYS });
  return Temporal.ZonedDateTime.compare(at, limit) > 0 ? words.far : undefined;
}

/** Moves the post, if it is still as it was read, and offers the way back. */
function useMove(
  { id, scheduledAt }: MoveDialogProps["post"],
  at: Temporal.ZonedDateTime | undefined,
  onClose: () => void,
) {
  const words = useWords(postWords).move;
  const { language, zone } = useSettings();
  const now = useNow().toZonedDateTimeISO(zone);
  const { data } = useQuery(postsApi.post(id));
  return useAct(async () => {
    if (at === undefined) return;
    await api.updatePost(id, { scheduledAt: toInstantText(at) }, { ifMatch: data?.etag });
    onClose();
    const shown = toZoned(toInstantText(at), zone);
    const text = words.moved(
      dayOf(shown, now, language),
      clockOf(shown, language),
      placeOf(zone, language),
    );
    showToast(
      text,
      scheduledAt === null ? undefined : () => void api.updatePost(id, { scheduledAt }),
    );
  });
}

interface ChangesProps {
  readonly placement: Placement | undefined;
  readonly reading: Reading;
  readonly isLater: boolean;
  readonly onLater: (isLater: boolean) => void;
}

/** What a change of the clocks makes of the reading; nothing on other days. */
function Changes({ placement, reading, isLater, onLater }: ChangesProps): ReactNode {
  const words = useWords(postWords).move;
  const { language } = useSettings();
  if (placement === undefined || placement.kind === "exact") return null;
  const { at } = placement;
  if (placement.kind === "gap")
    return (
      <Note tone="info" icon={ClockArrowUp}>
        <b>{words.gap(reading.time)}</b>{" "}
        {words.gapGoes(clockOf(at, language), placeOf(at.timeZoneId, language))}
      </Note>
    );
  return (
    <Note tone="info" icon={ClockArrowUp}>
      <b>{words.doubled(reading.time)}</b>
      <Segments
        label={words.doubled(reading.time)}
        value={isLater ? "second" : "first"}
        onChange={(value) => onLater(value === "second")}
        segments={[
          { value: "first", label: words.first(offsetOf(at)) },
          { value: "second", label: words.second(offsetOf(placement.later)) },
        ]}
      />
    </Note>
  );
}
