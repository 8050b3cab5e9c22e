import { type ErrorDetail, PostriderError } from "@postrider/client";
import { CloudOff, CopyX } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Button, LinkButton } from "../../kit/button.tsx";
import { Note } from "../../kit/card.tsx";
import { ErrorNotice, RequestId } from "../../kit/error-notice.tsx";
import { Time } from "../../kit/time.tsx";
import { useWords } from "../../words/use-words.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { useComposition } from "./composition.ts";
import { asAnother, isOutdated, withoutAccounts } from "./draft.ts";
import { QuotaNote } from "./quota-note.tsx";
import { Refusal } from "./refusal.tsx";
import { useNames } from "./use-names.ts";
import type { Send } from "./use-send.ts";

interface RefusalProps {
  readonly send: Send;
}

/** Why the post was not taken, or that it is not known, with what can be done about it. */
export function RefusalNote({ send }: RefusalProps) {
  const { state } = send;
  if (state.kind === "lost")
    return <LostNote until={state.until} error={state.error} send={send} />;
  if (state.kind === "blocked")
    return (
      <BlockedNote error={state.error} onRetry={() => send.send(state.as, state)} send={send} />
    );
  if (state.kind === "taken") return <TakenNote postId={state.post.id} send={send} />;
  if (state.kind !== "refused") return <UnansweredNotes send={send} />;
  const { error } = state;
  if (!(error instanceof PostriderError)) return <ErrorNotice error={error} />;
  return <RefusedNote error={error} send={send} />;
}

type Refused = RefusalProps & { readonly error: PostriderError };

const NOTES: Readonly<Record<string, (props: Refused) => ReactNode>> = {
  validation_failed: InvalidNote,
  duplicate_content: DuplicateNote,
  no_queue_slot: NoSlotNote,
  quota_exceeded: QuotaNote,
  post_not_editable: NotEditableNote,
  post_publishing: NotEditableNote,
  verification_required: NotVerifiedNote,
};

function RefusedNote(props: Refused) {
  const words = useWords(composeWords);
  const KnownNote = NOTES[props.error.code];
  if (KnownNote !== undefined) return <KnownNote {...props} />;
  return <ErrorNotice error={props.error} title={words.refused} />;
}

/** Faults of the post stand in the list of things to fix; limits of the workspace stand here. */
function InvalidNote({ error }: Refused) {
  const words = useWords(composeWords);
  const isOfWorkspace = error.details.some(({ path, accountId }) => !path && !accountId);
  return isOfWorkspace ? <ErrorNotice error={error} title={words.refused} /> : null;
}

function NotVerifiedNote({ error }: Refused) {
  const words = useWords(composeWords);
  return <Refusal lead={words.notVerified} rest={words.notVerifiedHint} error={error} />;
}

function NoSlotNote({ error }: Refused) {
  const words = useWords(composeWords);
  const { change } = useComposition();
  const chooseTime = () => change((draft) => ({ ...draft, when: { ...draft.when, kind: "at" } }));
  return (
    <Refusal lead={words.noSlot} rest={words.noSlotHint} error={error}>
      <Button kind="primary" onClick={chooseTime}>
        {words.chooseTime}
      </Button>
      <LinkButton href="/queue">{words.toRules}</LinkButton>
    </Refusal>
  );
}

function DuplicateNote({ error, send }: Refused) {
  const words = useWords(composeWords);
  const { change, go } = useComposition();
  const { nameOf } = useNames();
  const [first] = error.details;
  const accountIds = error.details.flatMap(({ accountId }) => accountId ?? []);
  const names = accountIds.map(nameOf).join(", ");
  const leaveOut = () => change((draft) => withoutAccounts(draft, accountIds));
  const postId = first?.postId;
  return (
    <Refusal
      lead={words.duplicate(names)}
      rest={
        <>
          {words.duplicateHint} <PlannedAt detail={first} />
        </>
      }
      error={error}
      icon={CopyX}
    >
      <Button kind="primary" onClick={() => go("text")}>
        {words.changeText}
      </Button>
      <Button onClick={leaveOut}>{words.cures.leaveOut(names)}</Button>
      {postId !== undefined && <LinkButton href={`/posts/${postId}`}>{words.openPost}</LinkButton>}
      <Button kind="ghost" onClick={() => send.send("send", { force: true })}>
        {words.sendOnPurpose}
      </Button>
    </Refusal>
  );
}

function PlannedAt({ detail }: { readonly detail: ErrorDetail | undefined }) {
  const at = detail?.["plannedAt"];
  return typeof at === "string" ? <Time at={at} /> : null;
}

function NotEditableNote({ error }: Refused) {
  const words = useWords(composeWords);
  const [path] = useLocation();
  const postId = /^\/posts\/([^/]+)\/edit/.exec(path)?.[1];
  return (
    <Refusal lead={words.notEditable} error={error} tone="info">
      {postId !== undefined && (
        <LinkButton kind="primary" href={`/posts/${postId}`}>
          {words.openPost}
        </LinkButton>
      )}
    </Refusal>
  );
}

function TakenNote({ postId, send }: RefusalProps & { readonly postId: string }) {
  const words = useWords(composeWords);
  return (
    <Refusal lead={words.taken} rest={words.takenHint} tone="info">
      <LinkButton kind="primary" href={`/posts/${postId}`}>
        {words.openPost}
      </LinkButton>
      <AsAnotherButton send={send} />
    </Refusal>
  );
}

/** Frees the draft of what was sent before; the button that sends it is pressed after that. */
function AsAnotherButton({ send }: RefusalProps) {
  const words = useWords(composeWords);
  const { change } = useComposition();
  const free = () => {
    change(asAnother);
    send.reset();
  };
  return <Button onClick={free}>{words.asAnother}</Button>;
}

/** The answer to a request of this draft never came: after a reload, or for a day. */
function UnansweredNotes({ send }: RefusalProps) {
  const words = useWords(composeWords);
  const { draft } = useComposition();
  const { kind } = send.state;
  if ((draft.attempts ?? []).length === 0 || kind === "sending") return null;
  if (kind === "idle" && !isOutdated(draft))
    return (
      <Refusal lead={words.unanswered} rest={words.unansweredHint} tone="info" icon={CloudOff} />
    );
  return (
    <Refusal lead={words.outdated} rest={words.outdatedHint} icon={CloudOff}>
      <LinkButton kind="primary" href="/posts">
        {words.lookInList}
      </LinkButton>
      <AsAnotherButton send={send} />
    </Refusal>
  );
}

interface BlockedNoteProps extends RefusalProps {
  readonly error: unknown;
  readonly onRetry: () => void;
}

function BlockedNote({ error, onRetry, send }: BlockedNoteProps) {
  const words = useWords(composeWords);
  const { draft } = useComposition();
  return (
    <div className={css.refusal}>
      <ErrorNotice error={error} title={words.blocked} onRetry={onRetry} />
      {(draft.attempts ?? []).length > 0 && (
        <div className="row wrap">
          <LinkButton href="/posts">{words.lookInList}</LinkButton>
          <AsAnotherButton send={send} />
        </div>
      )}
    </div>
  );
}

interface LostNoteProps extends RefusalProps {
  readonly until: number;
  readonly error: unknown;
}

function LostNote({ until, error, send }: LostNoteProps) {
  const words = useWords(composeWords);
  const { state } = send;
  const seconds = useSecondsUntil(until);
  return (
    <div className={css.refusal}>
      <Note
        tone="warn"
        icon={CloudOff}
        role="status"
        actions={
          <Button small onClick={() => state.kind === "lost" && send.send(state.as, state)}>
            {words.sendNow}
          </Button>
        }
      >
        <strong>{words.lost}</strong> {words.lostHint(seconds)}
        <RequestId error={error} />
      </Note>
    </div>
  );
}

function useSecondsUntil(until: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Math.ceil((until - now) / 1_000));
}
