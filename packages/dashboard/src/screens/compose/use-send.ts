import { type PostDetail, PostriderError } from "@postrider/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import type { PostVersion } from "../../posts/posts-api.ts";
import { type Draft, toContent, withAttempts } from "./draft.ts";
import { type Outcome, runSend } from "./run-send.ts";
import type { SendAs, SendOptions } from "./send-post.ts";
import type { DraftHandle } from "./use-draft.ts";

const AGAIN_AFTER_MS = 6_000;
const IDLE = { kind: "idle" } as const;

export type SendState =
  | { readonly kind: "idle" }
  | { readonly kind: "sending"; readonly as: SendAs }
  | (Exclude<Outcome, { kind: "done" }> & {
      readonly as: SendAs;
      readonly force: boolean;
      /** When a request without an answer is sent again. */
      readonly until: number;
      /** As it was sent. What was written since is not sent by itself. */
      readonly draft: Draft;
    });

interface SendTarget {
  readonly handle: DraftHandle;
  readonly base: PostVersion | undefined;
  readonly slot: string | undefined;
  readonly onBase: (version: PostVersion) => void;
  /** The server has it. */
  readonly onDone: (post: PostDetail, as: SendAs) => void;
  /** Faults of a refused request are shown where they are mended. */
  readonly onFaults: (draft: Draft, error: PostriderError) => void;
}

export interface Send {
  readonly state: SendState;
  /** With a draft, the same is sent again. */
  readonly send: (
    as: SendAs,
    options?: { readonly force?: boolean; readonly draft?: Draft },
  ) => void;
  readonly reset: () => void;
}

/** What was sent, with what is known of its requests by now. */
function withSent({ attempts, sentAt, etag }: Draft, sent: Draft): Draft {
  return { ...sent, attempts, sentAt, etag };
}

/** What was written after the press is not in the post that was sent, and must stay. */
function isSameText(one: Draft, other: Draft): boolean {
  return JSON.stringify(toContent(one)) === JSON.stringify(toContent(other));
}

/**
 * Sends the draft, once: a second press while one is under way does nothing, and one whose answer
 * was lost is sent again by itself.
 */
export function useSend({ handle, base, slot, onBase, onDone, onFaults }: SendTarget): Send {
  const client = useQueryClient();
  const [state, setState] = useState<SendState>(IDLE);
  const last = useRef<SendOptions>(undefined);
  const newest = useEffectEvent(() => handle.draft);
  const finish = async (outcome: Outcome, options: SendOptions, draft: Draft) => {
    const { as, force = false } = options;
    const rest = { as, force, draft, until: Date.now() + AGAIN_AFTER_MS };
    last.current = undefined;
    if (outcome.kind !== "done") {
      const { error } = outcome as { error?: unknown };
      if (error instanceof PostriderError && error.code === "validation_failed")
        onFaults(draft, error);
      setState({ ...outcome, ...rest });
      return;
    }
    // Not waited for: reads are repeated for as long as the server cannot answer them.
    void client.invalidateQueries({ queryKey: ["post"] });
    if (isSameText(draft, newest())) {
      handle.drop();
      onDone(outcome.post, as);
    } else setState(base === undefined ? { kind: "taken", post: outcome.post, ...rest } : IDLE);
  };
  const run = useEffectEvent(async (options: SendOptions, sent?: Draft) => {
    if (last.current !== undefined) return;
    last.current = options;
    setState({ kind: "sending", as: options.as });
    const draft = sent === undefined ? handle.draft : withSent(handle.draft, sent);
    const outcome = await runSend(draft, options, {
      base,
      slot,
      keepAttempts: (attempts) => handle.change((now) => withAttempts(now, attempts)),
      onVersion: (version) => {
        onBase(version);
        handle.change((now) => ({ ...now, etag: version.etag }));
      },
    });
    await finish(outcome, options, draft);
  });
  useEffect(() => {
    if (state.kind !== "lost") return undefined;
    const { as, force, until, draft } = state;
    const timer = setTimeout(() => void run({ as, force }, draft), until - Date.now());
    return () => clearTimeout(timer);
  }, [state]);
  return {
    state,
    send: (sendAs, { force = false, draft } = {}) => void run({ as: sendAs, force }, draft),
    reset: () => setState(IDLE),
  };
}
