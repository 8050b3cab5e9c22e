import type { PostDetail } from "@postrider/client";
import { useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { useLocation } from "wouter";
import { useKeys } from "../../keys/use-keys.ts";
import { Page } from "../../kit/page.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { PostVersion } from "../../posts/posts-api.ts";
import { useSession } from "../../session/session-context.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { AccountPicker } from "./account-picker.tsx";
import { beginDraft } from "./begin-draft.ts";
import { composeWords } from "./compose-words.ts";
import css from "./compose.module.css";
import { ComposerActions } from "./composer-actions.tsx";
import { CompositionContext, type Writer } from "./composition.ts";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { draftName } from "./draft-store.ts";
import type { Draft, DraftMedia } from "./draft.ts";
import { FaultList } from "./fault-list.tsx";
import { gatherFaults } from "./faults.ts";
import { Preview } from "./preview.tsx";
import { type Seed, slotOf } from "./seed.ts";
import { SendBar } from "./send-bar.tsx";
import { Shelf } from "./shelf.tsx";
import { StateNotes } from "./state-notes.tsx";
import { TextCard } from "./text-card.tsx";
import { useCheck } from "./use-check.ts";
import { useDraft } from "./use-draft.ts";
import { useMedia } from "./use-media.tsx";
import { useNextSlot } from "./use-next-slot.ts";
import { useSend } from "./use-send.ts";
import { useTabs } from "./use-tabs.ts";

interface ComposerProps {
  readonly title: string;
  readonly writers: readonly Writer[];
  /** The post that is edited. */
  readonly base: PostVersion | undefined;
  readonly seed: Seed;
  readonly from: PostDetail | undefined;
  readonly handed: readonly DraftMedia[];
}

/** All that the composer holds; what lies in the draft is what is sent. */
function useComposer(props: ComposerProps) {
  const words = useWords(composeWords);
  const [, navigate] = useLocation();
  const [base, setBase] = useState(props.base);
  const { name, handle, restart } = useOwnDraft(props);
  const check = useCheck(handle.draft);
  const slot = useNextSlot();
  const send = useSend({
    handle,
    base,
    slot,
    onBase: setBase,
    onDone: (post, as) => {
      if (as === "draft") showToast(words.draftSaved);
      navigate(`/posts/${post.id}`);
    },
    onFaults: check.take,
  });
  /** What was refused is not what is written any more. */
  const change = (next: (before: Draft) => Draft) => {
    if (send.state.kind === "refused") send.reset();
    handle.change(next);
  };
  const { writers } = props;
  const faults = gatherFaults(check.faults, writers);
  const composition = useTabs({
    draft: handle.draft,
    change,
    writers,
    faults,
    isChecked: check.isCurrent,
  });
  const media = useMedia({ composition, name, post: base?.post });
  const leave = () => navigate(base === undefined ? "/posts" : `/posts/${base.post.id}`);
  useCleanAddress(props.seed);
  useKeys({ escape: (event) => leaveOnEscape(event, leave) });
  return { base, setBase, handle, restart, check, slot, send, composition, media, leave };
}

/** Writes one post. */
export function Composer(props: ComposerProps) {
  const words = useWords(composeWords);
  const composer = useComposer(props);
  const { base, handle, restart, check, slot, send, composition, media, leave } = composer;
  const { workspace } = useSession();
  return (
    <CompositionContext value={composition}>
      <Page
        title={props.title}
        className={css.page}
        actions={
          <ComposerActions handle={handle} onRestart={() => restart(base)} onClose={leave}>
            <Preview urlOf={media.urlOf} />
          </ComposerActions>
        }
      >
        <div className={css.compose} data-hides-tabbar="">
          <div className="stack">
            <StateNotes handle={handle} onRestart={() => restart(base)} />
            <AccountPicker />
            <TextCard onFiles={media.uploads.addFiles}>
              <Shelf uploads={media.uploads} urlOf={media.urlOf} onDescribe={media.describe} />
            </TextCard>
            <FaultList failed={check.failed} onDescribe={media.describe} />
          </div>
          <aside className={css.preview} aria-label={words.preview}>
            <Preview urlOf={media.urlOf} />
          </aside>
        </div>
        <SendBar
          send={send}
          slot={slot}
          isPlanned={base?.post.status === "scheduled"}
          draftsOnly={!workspace.verified}
          uploads={media.running}
        />
        {media.dialog}
        <Changed composer={composer} />
      </Page>
    </CompositionContext>
  );
}

/** Asks which version of the post is to be kept, when there are two. */
function Changed({ composer }: { readonly composer: ReturnType<typeof useComposer> }) {
  const { send, setBase, restart, handle } = composer;
  const { state } = send;
  if (state.kind !== "changed") return null;
  const { theirs, as } = state;
  const keepTheirs = () => {
    setBase(theirs);
    restart(theirs);
    send.reset();
  };
  const useMine = () => {
    flushSync(() => {
      setBase(theirs);
      handle.change((before) => ({ ...before, etag: theirs.etag }));
    });
    send.send(as);
  };
  return (
    <ConflictDialog
      theirs={theirs}
      onClose={send.reset}
      onKeepTheirs={keepTheirs}
      onUseMine={useMine}
    />
  );
}

/** The draft of this post in this browser, and how to begin it anew. */
function useOwnDraft({ base, seed, from, handed, writers }: ComposerProps) {
  const { workspace } = useSession();
  const { zone } = useSettings();
  const slot = base === undefined ? slotOf(seed) : base.post.id;
  const facts = { seed, from, handed, writers, zone };
  const name = draftName(workspace.id, slot);
  const handle = useDraft(name, (kept) => beginDraft(kept, { ...facts, base }));
  const restart = (version: PostVersion | undefined) =>
    handle.change(() => beginDraft(undefined, { ...facts, base: version }));
  return { name, handle, restart };
}

/**
 * What the address proposed lies in the draft now: a reload must not propose it again. The post
 * that the draft began from stays, as it names the draft.
 */
function useCleanAddress({ text, accountIds, at, from }: Seed): void {
  const [path, navigate] = useLocation();
  const isSeeded = text !== undefined || accountIds.length > 0 || at !== undefined;
  const isSpent = isSeeded && from === undefined;
  useEffect(() => {
    if (isSpent) navigate(path, { replace: true });
  }, [isSpent, path, navigate]);
}

/** The first press leaves a field, or closes what is open; the next one leaves the composer. */
function leaveOnEscape({ target }: KeyboardEvent, leave: () => void): void {
  if (document.querySelector("dialog[open], :popover-open") !== null) return;
  if (target instanceof HTMLElement && target.matches("input, textarea")) target.blur();
  else leave();
}
