import { PostriderError, type PostSummary } from "@postrider/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ClockArrowUp } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Note } from "../kit/card.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { FieldError } from "../kit/field.tsx";
import { Segments } from "../kit/segments.tsx";
import { useAct } from "../kit/use-act.ts";
import { queueApi } from "../queue/queue-api.ts";
import { useSettings } from "../settings/settings.ts";
import { clockOf, dayOf } from "../time/format-time.ts";
import { isSecondReading, type Placement, toInstantText, toZoned } from "../time/place-in-zone.ts";
import { offsetOf, placeOf } from "../time/place-names.ts";
import { useNow } from "../time/use-now.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { DateTimeFields, firstReading, placeReading, type Reading } from "./date-time-fields.tsx";
import { useMovePost } from "./move-post.ts";
import { whenMoveSent } from "./pending-moves.ts";
import { postWords } from "./post-words.ts";
import { postsApi } from "./posts-api.ts";
import { titleOf } from "./title-of.ts";

interface MoveDialogProps {
  readonly post: {
    readonly id: string;
    readonly content: string;
    readonly status: PostSummary["status"];
    readonly scheduledAt: string | null;
  };
  /** The time that is proposed; default: that of the post. */
  readonly proposed?: string | undefined;
  readonly onClose: () => void;
}

const MAX_DAYS = 366;
const SHOWN_SLOTS = 3;

/** Another time for a post, by keyboard as well as by pointer; a draft is scheduled by it. */
export function MoveDialog({ post, proposed, onClose }: MoveDialogProps) {
  const words = useWords(postWords).move;
  const kit = useWords(kitWords);
  const { language, zone } = useSettings();
  const now = useNow().toZonedDateTimeISO(zone);
  const { reading, setReading, isLater, setLater, setAt } = useReading(
    proposed ?? post.scheduledAt,
    zone,
  );
  const placement = placeReading(reading);
  const at = instantOf(placement, isLater);
  const fault = faultOf(at, now, words);
  const { run, isBusy, error } = useMove(post, at, onClose);
  const text = titleOf(post.content);
  const isDraft = post.status === "draft";
  const toTime = isDraft ? words.scheduleFor : words.toTime;
  if (isConflict(error) && at !== undefined)
    return (
      <ConflictDialog
        postId={post.id}
        mine={{ scheduledAt: toInstantText(at) }}
        onKeepTheirs={onClose}
        onUseMine={onClose}
      />
    );
  return (
    <Dialog
      title={isDraft ? words.scheduleTitle(text) : words.title(text)}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button kind="primary" busy={isBusy} disabled={!at || fault !== undefined} onClick={run}>
            {at === undefined ? words.schedule : toTime(clockOf(at, language))}
          </Button>
        </>
      }
    >
      <DateTimeFields reading={reading} onChange={setReading} />
      <Changes placement={placement} reading={reading} isLater={isLater} onLater={setLater} />
      <FreeSlots from={post.scheduledAt} onChoose={setAt} />
      {fault !== undefined && <FieldError>{fault}</FieldError>}
      {error !== undefined && <ErrorNotice error={error} />}
    </Dialog>
  );
}

/** The reading of the clock that is edited, and which one is meant where it comes twice. */
function useReading(first: string | null, zone: string) {
  const begin = (at: string | null) => ({
    reading: firstReading(at, zone),
    isLater: at !== null && isSecondReading(toZoned(at, zone)),
  });
  const [{ reading, isLater }, set] = useState(() => begin(first));
  return {
    reading,
    isLater,
    setReading: (changed: Reading) => set({ reading: changed, isLater: false }),
    setLater: (later: boolean) => set({ reading, isLater: later }),
    setAt: (at: string) => set(begin(at)),
  };
}

function instantOf(placement: Placement | undefined, isLater: boolean) {
  return placement?.kind === "doubled" && isLater ? placement.later : placement?.at;
}

type MoveWords = (typeof postWords)["en"]["move"];

function faultOf(
  at: Temporal.ZonedDateTime | undefined,
  now: Temporal.ZonedDateTime,
  words: MoveWords,
) {
  if (at === undefined) return undefined;
  if (Temporal.ZonedDateTime.compare(at, now) <= 0) return words.past;
  const limit = now.add({ days: MAX_DAYS });
  return Temporal.ZonedDateTime.compare(at, limit) > 0 ? words.far : undefined;
}

/** The page has learned of the move of another person while the dialog was open. */
class MovedMeanwhile extends Error {}

function isConflict(error: unknown): boolean {
  return (
    error instanceof MovedMeanwhile || (error instanceof PostriderError && error.status === 412)
  );
}

/**
 * Moves the post, if its time is still the one that the dialog was opened with; the toast has the
 * way back.
 */
function useMove(
  { id, status, scheduledAt }: MoveDialogProps["post"],
  at: Temporal.ZonedDateTime | undefined,
  onClose: () => void,
) {
  const client = useQueryClient();
  const [seen] = useState(scheduledAt);
  useQuery(postsApi.post(id));
  const { move } = useMovePost();
  return useAct(async () => {
    if (at === undefined) return;
    // What is known of the post can be older than its last move.
    await whenMoveSent(id);
    const { etag, post } = await client.query(postsApi.post(id));
    if (timeOf(post.scheduledAt) !== timeOf(seen)) throw new MovedMeanwhile();
    await move({ id, from: status === "draft" ? null : seen, to: toInstantText(at), etag });
    onClose();
  });
}

const timeOf = (text: string | null): number | null => (text === null ? null : Date.parse(text));

interface FreeSlotsProps {
  /** The time that the post has already. */
  readonly from: string | null;
  readonly onChoose: (at: string) => void;
}

/** The next free slots of the queue; nothing without rules. */
function FreeSlots({ from, onChoose }: FreeSlotsProps) {
  const words = useWords(postWords).move;
  const { language, zone } = useSettings();
  const now = useNow().toZonedDateTimeISO(zone);
  const slots = useQuery(queueApi.rules()).data?.rules.flatMap(({ nextSlots }) => nextSlots) ?? [];
  const others = slots.filter((slot) => timeOf(slot) !== timeOf(from));
  if (others.length === 0) return null;
  return (
    <div className="row wrap sm">
      <span className="muted">{words.freeSlots}</span>
      {[...new Set(others)]
        .toSorted()
        .slice(0, SHOWN_SLOTS)
        .map((slot) => {
          const at = toZoned(slot, zone);
          return (
            <Button small key={slot} onClick={() => onChoose(slot)}>
              {`${dayOf(at, now, language)}, ${clockOf(at, language)}`}
            </Button>
          );
        })}
    </div>
  );
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
