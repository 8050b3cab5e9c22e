import { Calendar, ChevronUp, Clock, ClockFading, Send as SendIcon } from "lucide-react";
import { useState } from "react";
import { useKeys } from "../../keys/use-keys.ts";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Drawer } from "../../kit/dialog.tsx";
import { useSettings } from "../../settings/settings.ts";
import { toZoned } from "../../time/place-in-zone.ts";
import { placeOf } from "../../time/place-names.ts";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { useComposition } from "./composition.ts";
import { RefusalNote } from "./refusal-note.tsx";
import { obstacleOf, sendLabel } from "./send-label.ts";
import type { Send } from "./use-send.ts";
import { useTimeWords } from "./use-time-words.ts";
import { WhenFields } from "./when-fields.tsx";
import { timeOfWhen, type When } from "./when.ts";

interface SendBarProps {
  readonly send: Send;
  readonly slot: string | undefined;
  /** A post that is planned already: it cannot become a draft again. */
  readonly isPlanned: boolean;
  /** Before the operator has verified the workspace, only drafts can be saved. */
  readonly draftsOnly: boolean;
  readonly uploads: number;
}

const ICONS = { now: SendIcon, slot: ClockFading, at: Clock };

/** When it goes out, and the button that says what will happen. */
export function SendBar(props: SendBarProps) {
  const { slot, uploads } = props;
  const words = useWords(composeWords);
  const { faults } = useComposition();
  return (
    <div className={css.bar} data-foot="" role="group" aria-label={words.when}>
      <RefusalNote send={props.send} />
      <div className={classNames("not-s", css.whenWide)}>
        <WhenFields slot={slot} />
      </div>
      <WhenButton slot={slot} />
      <div className={css.actions}>
        {uploads > 0 && <span className="sm muted">{words.uploadsRun(uploads)}</span>}
        {uploads === 0 && faults.length > 0 && (
          <button type="button" className={css.faultLink} onClick={goToFirstFault}>
            {words.fixes(faults.length)}
          </button>
        )}
        <SendButtons {...props} />
      </div>
    </div>
  );
}

function SendButtons(props: SendBarProps) {
  const { slot, isPlanned, draftsOnly, send } = props;
  const words = useWords(composeWords);
  const { draft } = useComposition();
  const timeWords = useTimeWords();
  const { start, busyAs } = useStart(props);
  const label = sendLabel(
    {
      kind: draft.when.kind,
      accounts: draft.accountIds.length,
      isPlanned,
      slot: slot && timeWords(toZoned(slot, draft.when.zone)),
    },
    words.send,
  );
  return (
    <>
      {!isPlanned && (
        <Button
          kind={draftsOnly ? "primary" : "plain"}
          busy={busyAs === "draft"}
          onClick={() => start("draft")}
        >
          {words.saveDraft}
        </Button>
      )}
      {!draftsOnly && (
        <Button
          kind="primary"
          icon={ICONS[draft.when.kind]}
          busy={busyAs === "send" || send.state.kind === "lost"}
          onClick={() => start("send")}
        >
          {label}
        </Button>
      )}
    </>
  );
}

function goToFirstFault(): void {
  const button = document.querySelector<HTMLElement>("[data-cure]");
  button?.scrollIntoView({ block: "center" });
  button?.focus();
}

/** With something to fix, the button leads there instead of sending. */
function useStart({ send, slot, isPlanned, draftsOnly, uploads }: SendBarProps) {
  const { draft, faults, go } = useComposition();
  const { state } = send;
  const start = (as: "send" | "draft") => {
    const obstacle = obstacleOf(draft, { as, uploads, faults: faults.length, slot });
    if (obstacle === "faults") goToFirstFault();
    else if (obstacle === undefined) send.send(as);
    else go(obstacle);
  };
  const first = draftsOnly ? "draft" : "send";
  useKeys({
    "mod+enter": () => start(first),
    "mod+s": () => start(isPlanned ? first : "draft"),
  });
  return { start, busyAs: state.kind === "sending" ? state.as : undefined };
}

function whenWords(when: When, at: string | undefined, words: Record<When["kind"], string>) {
  return when.kind === "at" ? (at ?? words.at) : words[when.kind];
}

/** On a phone the time is chosen in a sheet. */
function WhenButton({ slot }: { readonly slot: string | undefined }) {
  const words = useWords(composeWords);
  const { language } = useSettings();
  const { draft } = useComposition();
  const timeWords = useTimeWords();
  const [isOpen, setOpen] = useState(false);
  const at = timeOfWhen(draft.when);
  const written = at && `${timeWords(at)} ${placeOf(at.timeZoneId, language)}`;
  return (
    <>
      <button
        type="button"
        className={classNames("only-s", css.select, css.whenButton)}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Calendar className="i" aria-hidden="true" />
        <span className="clip num">{whenWords(draft.when, written, words.whens)}</span>
        <ChevronUp className="i i-s push" aria-hidden="true" />
      </button>
      {isOpen && (
        <Drawer title={words.when} onClose={() => setOpen(false)}>
          <div className="stack">
            <WhenFields slot={slot} />
          </div>
        </Drawer>
      )}
    </>
  );
}
